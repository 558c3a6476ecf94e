import IngestKit

/// One decoder under test.
struct Decoder: Sendable {
    let name: String
    let guided: Guide
    /// The answer that is checked.
    let answer: @Sendable (_ hex: String) -> DecodeAnswer

    static let all: [Decoder] = Profiles.characteristics.map { characteristic in
        Decoder(
            name: characteristic.description,
            guided: guide(characteristic: characteristic.description),
            answer: { DecodeAnswer(characteristic: characteristic, hex: $0) })
    }

    /// Traps unless the answer to `bytes` is one well-formed JSON object of bounded length, the same each time, that
    /// says why when it is not a reading.
    func check(_ bytes: [UInt8]) {
        let isReading = guided(bytes)
        let hex = hexadecimal(bytes)
        let answer = answer(hex)
        precondition(answer.isDecoded == isReading, "a reading or not: \(answer.json)")
        precondition(JSONCheck.isObject(answer.json), "not a JSON object: \(answer.json)")
        let length = answer.json.utf8.count
        precondition(length <= 1_000 + bytes.count * 200, "\(length) bytes of answer to \(bytes.count) bytes")
        let start = isReading ? #"{"ok":true,"kind":""# : #"{"ok":false,"error":""#
        precondition(answer.json.hasPrefix(start) && length > start.utf8.count + 2, answer.json)
        precondition(self.answer(hex) == answer, "another answer to the same bytes")
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
