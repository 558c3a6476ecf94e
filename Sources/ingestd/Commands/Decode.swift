import ArgumentParser
import Glibc
import IngestKit

/// `ingestd decode`: says what a payload says, without radio, configuration or queue.
struct Decode: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Decode a peripheral's payload and print it as JSON.",
        discussion: """
            Prints one JSON object a payload. With - as the payload, reads one payload a line from \
            standard input, answers one line each, and exits 0. A single payload that cannot be \
            decoded exits 65.
            """)

    @Option(help: "The characteristic that the payload belongs to, such as 2A35.")
    var characteristic: String?

    @Flag(help: "The payload is the data of an advertisement.")
    var advertisement = false

    @Argument(help: "The payload in hexadecimal digits, blanks allowed; or -.")
    var payload: [String] = []

    func run() throws {
        let characteristic = try decodableCharacteristic()
        guard !payload.isEmpty else { throw usage("give the payload in hexadecimal digits, or -") }
        if payload == ["-"] {
            try answerLines(characteristic)
            return
        }
        let answer = DecodeAnswer(characteristic: characteristic, hex: payload.joined(separator: " "))
        try StandardStreams.write(Array((answer.json + "\n").utf8), to: STDOUT_FILENO)
        guard answer.isDecoded else { throw ExitCode(EX_DATAERR) }
    }

    private func decodableCharacteristic() throws -> BluetoothUUID {
        if advertisement { throw usage("--advertisement is not supported by this version") }
        guard let characteristic else { throw usage("give --characteristic, such as 2A35") }
        let known = Profiles.characteristics
        guard let uuid = BluetoothUUID(characteristic), known.contains(uuid) else {
            let names = known.map(\.description).joined(separator: ", ")
            throw usage("--characteristic: expected one of \(names)")
        }
        return uuid
    }

    /// Answers all lines of one read at once: fast on a file, and prompt to one who waits.
    private func answerLines(_ characteristic: BluetoothUUID) throws {
        /// No payload comes near it; a longer line is answered as what it is, not decodable.
        let longestLine = 64 * 1024
        var pending: [UInt8] = []
        while true {
            let chunk = try StandardStreams.readInput(atMost: longestLine)
            var answers: [UInt8] = []
            var rest = chunk[...]
            while let end = rest.firstIndex(of: 0x0A) {
                pending += rest[..<end]
                answer(pending, characteristic, into: &answers)
                pending.removeAll(keepingCapacity: true)
                rest = rest[(end + 1)...]
            }
            // What is beyond the bound cannot make the line decodable.
            pending += rest.prefix(max(0, 2 * longestLine - pending.count))
            if chunk.isEmpty, !pending.isEmpty { answer(pending, characteristic, into: &answers) }
            if !answers.isEmpty { try StandardStreams.write(answers, to: STDOUT_FILENO) }
            if chunk.isEmpty { return }
        }
    }

    private func answer(_ line: [UInt8], _ characteristic: BluetoothUUID, into answers: inout [UInt8]) {
        let hex = String(decoding: line, as: UTF8.self)
        answers += DecodeAnswer(characteristic: characteristic, hex: hex).json.utf8
        answers.append(0x0A)
    }

    /// One line on standard error, and the exit code that goes with it.
    private func usage(_ message: String) -> ExitCode {
        // That standard error is closed cannot be told to anyone; the exit code still is.
        try? StandardStreams.write(Array("ingestd decode: \(message)\n".utf8), to: STDERR_FILENO)
        return ExitCode(EX_USAGE)
    }
}

/// Unbuffered reads and writes, because buffered ones keep an answer back from a waiting pipe.
enum StandardStreams {
    /// The next bytes of standard input; none at its end. read(2)
    static func readInput(atMost count: Int) throws -> [UInt8] {
        while true {
            var received = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                received = unsafe read(STDIN_FILENO, buffer.baseAddress, count)
                initialized = max(0, received)
            }
            if received >= 0 { return bytes }
            guard errno == EINTR else { throw ExitCode(EX_IOERR) }
        }
    }

    /// Writes all bytes. write(2)
    static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        var done = 0
        while done < bytes.count {
            let written = unsafe bytes[done...].withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
            }
            if written >= 0 {
                done += written
            } else if errno != EINTR {
                throw ExitCode(EX_IOERR)
            }
        }
    }
}
