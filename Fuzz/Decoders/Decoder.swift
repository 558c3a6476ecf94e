import FuzzChecks
import IngestCore
import IngestProfiles

/// One decoder under test.
struct Decoder: Sendable {
    let name: String
    /// The answer that is checked.
    let answer: @Sendable (_ hex: String) -> DecodeAnswer

    /// Every characteristic, and adverts without and with a bind key.
    static let all: [Decoder] =
        Profiles.characteristics.map { characteristic in
            Decoder(
                name: characteristic.description,
                answer: { DecodeAnswer(characteristic: characteristic, hex: $0) })
        } + [
            Decoder(
                name: "advertisement",
                answer: { DecodeAnswer(advertisement: $0) }),
            Decoder(
                name: "advertisement-encrypted",
                answer: {
                    DecodeAnswer(advertisement: $0, key: BindKey(key), address: BluetoothAddress(address))
                }),
        ]

    /// Those of the encrypted adverts in the corpus.
    private static let key = "231d39c1d7cc1ab1aee224cd096db932"
    private static let address = "A4:C1:38:8D:18:B2"

    /// Traps unless the answer to `bytes` is one well-formed JSON object of bounded length, the same
    /// each time, that says why when it is not a reading.
    func check(_ bytes: [UInt8]) {
        let hex = hexadecimal(bytes)
        let answer = answer(hex)
        precondition(JSONCheck.isObject(answer.json), "not a JSON object: \(answer.json)")
        let length = answer.json.utf8.count
        precondition(length <= 1_000 + bytes.count * 200, "\(length) bytes of answer to \(bytes.count) bytes")
        let start = answer.isDecoded ? #"{"ok":true,"kind":""# : #"{"ok":false,"error":""#
        precondition(answer.json.hasPrefix(start) && length > start.utf8.count + 2, answer.json)
        // Of one input in sixteen or so: to ask twice takes almost twice as long.
        if bytes.reduce(0, ^) & 0xF == 0 {
            precondition(self.answer(hex) == answer, "another answer to the same bytes")
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { text in
            for (index, byte) in bytes.enumerated() {
                text[index * 2] = Self.digits[Int(byte >> 4)]
                text[index * 2 + 1] = Self.digits[Int(byte & 15)]
            }
            return bytes.count * 2
        }
    }
}
