import ExportBridge
import FoundationEssentials
import Testing

@Suite struct ZipStreamTests {
    /// A zip with one member, as APPNOTE.TXT lays it out: local header, content, list of members, end of the list.
    private func zip(
        _ name: String, _ content: String, method: UInt16 = 0, flags: UInt16 = 0, listed: Int = 1
    ) -> Data {
        var bytes: [UInt8] = []
        func put(_ values: (UInt64, Int)...) {
            for (value, width) in values {
                for index in 0..<width {
                    bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(index))))
                }
            }
        }
        let (size, length) = (UInt64(content.utf8.count), UInt64(name.utf8.count))
        let common: [(UInt64, Int)] = [
            (20, 2), (UInt64(flags), 2), (UInt64(method), 2), (0, 4), (UInt64(crc(Array(content.utf8))), 4),
            (size, 4),
            (size, 4), (length, 2), (0, 2),
        ]
        put((0x0403_4B50, 4))
        for field in common { put(field) }
        bytes += Array(name.utf8) + Array(content.utf8)
        let list = UInt64(bytes.count)
        for _ in 0..<listed {
            put((0x0201_4B50, 4), (20, 2))
            for field in common { put(field) }
            put((0, 2), (0, 2), (0, 2), (0, 4), (0, 4))
            bytes += Array(name.utf8)
        }
        let end = UInt64(bytes.count)
        put((0x0605_4B50, 4), (0, 4), (1, 2), (1, 2), (end - list, 4), (list, 4), (0, 2))
        return Data(bytes)
    }

    /// Of ISO 3309, as zip has it.
    private func crc(_ bytes: [UInt8]) -> UInt32 {
        var sum = ~UInt32(0)
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 {
                let isOdd = sum & 1 == 1
                sum >>= 1
                if isOdd { sum ^= 0xEDB8_8320 }
            }
        }
        return ~sum
    }

    private func read(_ data: Data, most: Int64 = ZipStream.largestMember) throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "/zip-\(UUID())"
        try data.write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let stream = try ZipStream(path: path, most: most) { $0.hasSuffix(".xml") }
        var (text, block) = ([UInt8](), [UInt8](repeating: 0, count: 4))
        while true {
            let count = try stream.read(into: &block)
            if count == 0 { return String(decoding: text, as: UTF8.self) }
            text += block[..<count]
        }
    }

    @Test func aMemberIsGivenUpToABound() throws {
        #expect(try read(zip("a.xml", "0123456789")) == "0123456789")
        #expect(try read(zip("a.xml", "0123456789"), most: 10) == "0123456789")
        #expect(throws: ZipError.tooLarge) { try read(zip("a.xml", "0123456789"), most: 9) }
        #expect(throws: ZipError.tooLarge) { try read(Data("<a>0123456789</a>".utf8), most: 9) }
        #expect(throws: ZipError.noMember) { try read(zip("a.txt", "0123456789")) }
    }

    /// 9 is deflate64, 12 bzip2, 14 LZMA, 93 Zstandard, 95 XZ, 98 PPMd.
    @Test(arguments: [9, 12, 14, 93, 95, 98] as [UInt16])
    func methodsThatNoPhoneUsesAreRefused(method: UInt16) {
        #expect(throws: ZipError.unknownMethod) { try read(zip("a.xml", "0123456789", method: method)) }
    }

    @Test func anEncryptedMemberIsRefused() {
        #expect(throws: ZipError.unknownMethod) { try read(zip("a.xml", "0123456789", flags: 1)) }
    }

    @Test func theListOfMembersHasABound() {
        let name = String(repeating: "m", count: 1000)
        #expect(throws: ZipError.noMember) { try read(zip(name, "", listed: 5000)) }
        #expect(throws: ZipError.tooManyMembers) {
            try read(zip(name, "", listed: ZipStream.longestList / 1000))
        }
    }
}
