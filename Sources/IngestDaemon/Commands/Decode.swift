import ArgumentParser
import Glibc

/// `ingestd decode`: says what a payload says, without radio, configuration or queue.
struct Decode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode",
        abstract: "Decode a peripheral's payload and print it as JSON.",
        discussion: """
            Prints one JSON object a payload. With - as the payload, reads one payload a line from \
            standard input, answers one line each, and exits 0. A single payload that cannot be \
            decoded exits 65. For example:

              ingestd decode --characteristic 2A1C 00 4C 0E 00 FE
              ingestd decode --advertisement d2fc40000102ca0903bf13
            """)

    @Option(help: "The characteristic that the payload belongs to, such as 2A35.")
    var characteristic: String?

    @Flag(help: "The payload is the data of an advertisement, or one service data structure of it.")
    var advertisement = false

    @Option(help: "The bind key of encrypted advertisements, 32 hexadecimal digits.")
    var key: String?

    @Option(help: "The device's address, which encrypted advertisements may need.")
    var address: String?

    @Argument(help: "The payload in hexadecimal digits, blanks allowed; or -.")
    var payload: [String] = []

    func run() throws {
        let answer = try answerer()
        guard !payload.isEmpty else { throw usage("give the payload in hexadecimal digits, or -") }
        if payload == ["-"] {
            // Each line as it comes: prompt to one who waits, and fast enough on a file.
            while let line = readLine() { try StandardOutput.write(answer(line).json + "\n") }
            return
        }
        let only = answer(payload.joined(separator: " "))
        try StandardOutput.write(only.json + "\n")
        guard only.isDecoded else { throw ExitCode(EX_DATAERR) }
    }

    /// What answers a payload.
    private func answerer() throws -> (String) -> DecodeAnswer {
        guard advertisement else {
            guard key == nil, address == nil else {
                throw usage("--key and --address are for --advertisement")
            }
            let uuid = try decodableCharacteristic()
            return { DecodeAnswer(characteristic: uuid, hex: $0) }
        }
        guard characteristic == nil else {
            throw usage("give either --characteristic or --advertisement")
        }
        let key = try key.map { text in
            guard let key = BindKey(text) else { throw usage("--key: expected 32 hexadecimal digits") }
            return key
        }
        let address = try address.map { text in
            guard let address = BluetoothAddress(text) else {
                throw usage("--address: expected an address such as F1:F1:F1:F1:F1:F1")
            }
            return address
        }
        return { DecodeAnswer(advertisement: $0, key: key, address: address) }
    }

    private func decodableCharacteristic() throws -> BluetoothUUID {
        guard let characteristic else {
            throw usage("give --characteristic, such as 2A35, or --advertisement")
        }
        let known = Profiles.characteristics
        guard let uuid = BluetoothUUID(characteristic), known.contains(uuid) else {
            let names = known.map(\.description).joined(separator: ", ")
            throw usage("--characteristic: expected one of \(names)")
        }
        return uuid
    }

    /// One line on standard error, and the exit code that goes with it.
    private func usage(_ message: String) -> ExitCode {
        StandardError.print("ingestd decode: \(message)")
        return ExitCode(EX_USAGE)
    }
}
