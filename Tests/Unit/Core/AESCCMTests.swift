import Testing

@testable import IngestCore

@Suite struct AESCCMTests {
    /// RFC 3610 section 8: C0 to CF.
    private static let key = [UInt8](0xC0...0xCF)

    private static func nonce(_ bytes: UInt8...) -> [UInt8] {
        [0, 0, 0] + bytes + [0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5]
    }

    struct Vector: Sendable, CustomTestStringConvertible {
        var name: String
        var nonce: [UInt8]
        var data: [UInt8]
        var message: [UInt8]
        /// With the check value.
        var sealed: String
        var tagLength: Int

        var testDescription: String { name }
    }

    static let vectors = [
        Vector(
            name: "RFC 3610, packet vector 1", nonce: nonce(3, 2, 1, 0), data: [UInt8](0...7),
            message: [UInt8](8...0x1E),
            sealed: "588c979a61c663d2f066d0c2c0f989806d5f6b61dac38417e8d12cfdf926e0", tagLength: 8),
        Vector(
            name: "RFC 3610, packet vector 2", nonce: nonce(4, 3, 2, 1), data: [UInt8](0...7),
            message: [UInt8](8...0x1F),
            sealed: "72c91a36e135f8cf291ca894085c87e3cc15c439c9e43a3ba091d56e10400916", tagLength: 8),
        Vector(
            name: "RFC 3610, packet vector 5", nonce: nonce(7, 6, 5, 4), data: [UInt8](0...0xB),
            message: [UInt8](0xC...0x1F),
            sealed: "dcf1fb7b5d9e23fb9d4e131253658ad86ebdca3e51e83f077d9c2d93", tagLength: 8),
        Vector(
            name: "RFC 3610, packet vector 7", nonce: nonce(9, 8, 7, 6), data: [UInt8](0...7),
            message: [UInt8](8...0x1E),
            sealed: "0135d1b2c95f41d5d1d4fec185d166b8094e999dfed96c048c56602c97acbb7490", tagLength: 10),
        // The next two come from the AESCCM of Python's cryptography.
        Vector(
            name: "a nonce of 12 bytes, additional data of more than a block",
            nonce: [UInt8](nonce(7, 6, 5, 4).prefix(12)), data: [UInt8](repeating: 0x11, count: 20),
            message: [UInt8](repeating: 0, count: 100),
            sealed:
                "163406274ce505b534219436d30beb3222b88847611a3c009f9edc123b2b2dfda55b42a907a69f28a3bb85cbb1b"
                + "f09ba865ac04490f15a90cd2cb5dec5d2ff6871ab9d0be746d5fca5fde6ca9717b7239f835d129af5e514613ebbd"
                + "401f4a98ac7258421082537fc",
            tagLength: 4),
        Vector(
            name: "nothing but a check value", nonce: nonce(7, 6, 5, 4), data: [], message: [],
            sealed: "8361c7a2", tagLength: 4),
    ]

    @Test(arguments: vectors)
    func aMessageIsSealedAndOpened(_ vector: Vector) throws {
        let sealed = try #require(
            AESCCM.seal(
                vector.message, tagLength: vector.tagLength, key: Self.key, nonce: vector.nonce,
                authenticating: vector.data))
        #expect(Hex.text(sealed.ciphertext + sealed.tag) == vector.sealed)
        #expect(
            AESCCM.open(
                sealed.ciphertext, tag: sealed.tag, key: Self.key, nonce: vector.nonce,
                authenticating: vector.data) == vector.message)
    }

    @Test func aChangeOfAnyBitIsNoticed() throws {
        let vector = Self.vectors[0]
        let sealed = try #require(Hex.bytes(vector.sealed))
        for bit in 0..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            let message = AESCCM.open(
                Array(changed.dropLast(8)), tag: Array(changed.suffix(8)), key: Self.key,
                nonce: vector.nonce, authenticating: vector.data)
            #expect(message == nil, "bit \(bit)")
        }
        let open = { (key: [UInt8], nonce: [UInt8], data: [UInt8]) in
            AESCCM.open(
                Array(sealed.dropLast(8)), tag: Array(sealed.suffix(8)), key: key, nonce: nonce,
                authenticating: data)
        }
        #expect(open(Self.key, vector.nonce, vector.data) != nil)
        #expect(open(Array(Self.key.reversed()), vector.nonce, vector.data) == nil)
        #expect(open(Self.key, Self.nonce(3, 2, 1, 1), vector.data) == nil)
        #expect(open(Self.key, vector.nonce, []) == nil)
    }

    @Test(arguments: [
        (15, 13, 4), (32, 13, 4), (16, 6, 4), (16, 14, 4), (16, 13, 3), (16, 13, 5), (16, 13, 0),
    ])
    func partsOfAWrongLengthAreRefused(key: Int, nonce: Int, tag: Int) {
        let parts = (
            [UInt8](repeating: 1, count: key), [UInt8](repeating: 2, count: nonce),
            [UInt8](repeating: 3, count: tag)
        )
        #expect(AESCCM.open([1], tag: parts.2, key: parts.0, nonce: parts.1) == nil)
        #expect(AESCCM.seal([1], tagLength: tag, key: parts.0, nonce: parts.1) == nil)
    }

    @Test func aMessageOfMoreThan4096BytesIsRefused() {
        let long = [UInt8](repeating: 0, count: 4_097)
        let nonce = Self.nonce(3, 2, 1, 0)
        #expect(AESCCM.seal(long, tagLength: 4, key: Self.key, nonce: nonce) == nil)
        #expect(AESCCM.seal([], tagLength: 4, key: Self.key, nonce: nonce, authenticating: long) == nil)
    }
}
