import FoundationEssentials
import Testing

@testable import IngestKit

@Suite struct EntryImageTests {
    @Test(
        arguments: [
            ([0xFF, 0xD8, 0xFF, 0xE1, 0x00], .jpeg),
            ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00], .png),
            ([0xFF, 0xD8], nil), ([0x89, 0x50, 0x4E, 0x47, 0x0A], nil), (Array("GIF89a".utf8), nil),
            ([], nil),
        ] as [([UInt8], EntryImage?)])
    func anImageIsKnownByItsFirstBytes(bytes: [UInt8], expected: EntryImage?) {
        #expect(EntryImage(bytes) == expected)
    }

    @Test func aFileThatIsNoneHasItsReason() async throws {
        try await withTemporaryDirectory { directory in
            #expect(throws: EntryImage.Failure.unreadable) { try EntryImage(path: directory + "/nothing") }
            #expect(throws: EntryImage.Failure.unreadable) { try EntryImage(path: directory) }
            let path = directory + "/display.jpg"
            func write(_ count: Int) throws {
                try Data([0xFF, 0xD8, 0xFF] + [UInt8](repeating: 0, count: count - 3))
                    .write(to: URL(filePath: path))
            }
            try write(EntryImage.largest)
            #expect(try EntryImage(path: path) == .jpeg)
            try write(EntryImage.largest + 1)
            #expect(throws: EntryImage.Failure.tooLarge) { try EntryImage(path: path) }
            try Data("text".utf8).write(to: URL(filePath: path))
            #expect(throws: EntryImage.Failure.notAnImage) { try EntryImage(path: path) }
        }
    }
}
