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
        try StandardOutput.write(answer.json + "\n")
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

    /// Answers each line as it comes: prompt to one who waits, and fast enough on a file.
    private func answerLines(_ characteristic: BluetoothUUID) throws {
        while let line = readLine() {
            try StandardOutput.write(DecodeAnswer(characteristic: characteristic, hex: line).json + "\n")
        }
    }

    /// One line on standard error, and the exit code that goes with it.
    private func usage(_ message: String) -> ExitCode {
        StandardError.print("ingestd decode: \(message)")
        return ExitCode(EX_USAGE)
    }
}
