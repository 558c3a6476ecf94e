import FoundationEssentials
import Testing

@testable import IngestDaemon

/// Which files of a folder are taken, where they go, and how many are kept.
@Suite final class DropFolderTests {
    private let folder: DropFolder

    init() throws {
        let path = FileManager.default.temporaryDirectory.path + "/drop-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path + "/incoming", withIntermediateDirectories: true)
        folder = DropFolder(path: path)
        try folder.prepare()
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder.path)
    }

    private func write(_ name: String, _ text: String = "{}", in place: DropFolder.Place = .incoming) {
        _ = FileManager.default.createFile(atPath: folder.path(place, name), contents: Data(text.utf8))
    }

    private func names(_ place: DropFolder.Place) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path(place, "")).sorted()
    }

    @Test func whatIsNotThereWholeHasAnotherName() {
        for name in ["b.json", "a.zip", "c.xml", ".c.json", "d.json.part", "e.tmp", ".stfolder", "f.JSON~"] {
            write(name)
        }
        #expect(folder.names() == ["a.zip", "b.json", "c.xml"])
    }

    @Test func aFileRestsBeforeItIsTaken() {
        let second: Int64 = 1_000_000_000
        var state = DropFolder.State(
            isRegular: true, device: 1, number: 2, size: 3, modified: 100 * second, changed: 200 * second)
        #expect(!state.isWhole(at: 200 * second))
        #expect(!state.isWhole(at: 210 * second - 1))
        #expect(state.isWhole(at: 210 * second))
        // It was renamed long ago, and is written still.
        state.modified = 300 * second
        #expect(!state.isWhole(at: 305 * second))
        // The clock was put back.
        #expect(state.isWhole(at: 50 * second))
    }

    @Test func aFileTakesThePlaceOfOneOfItsName() throws {
        write("a.json", "old", in: .done)
        write("a.json", "new")
        let state = try #require(folder.state(.incoming, "a.json"))
        #expect(try folder.move("a.json", state, to: .done))
        #expect(try names(.incoming) == [])
        #expect(FileManager.default.contents(atPath: folder.path(.done, "a.json")) == Data("new".utf8))
    }

    @Test func aFileThatHasChangedStays() throws {
        write("a.json", "one")
        let state = try #require(folder.state(.incoming, "a.json"))
        write("a.json", "one and more")
        #expect(try !folder.move("a.json", state, to: .done))
        #expect(try names(.incoming) == ["a.json"])
        #expect(try names(.done) == [])
        #expect(try !folder.move("gone.json", state, to: .done))
    }

    @Test func aLinkIsNoFile() throws {
        write("secret", in: .done)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path(.incoming, "a.json"), withDestinationPath: folder.path(.done, "secret"))
        let state = try #require(folder.state(.incoming, "a.json"))
        #expect(!state.isRegular)
        #expect(try folder.move("a.json", state, to: .bad))
        #expect(try names(.done) == ["secret"])
    }

    @Test func whatIsDoneIsBounded() throws {
        for number in 0..<(DropFolder.mostKept + 5) {
            write("\(number).json", in: .done)
            write("\(number).json", in: .bad)
        }
        folder.prune()
        #expect(try names(.done).count == DropFolder.mostKept)
        #expect(try names(.bad).count == DropFolder.mostKept)
    }

    @Test func aFolderWithoutIncomingIsTold() throws {
        try FileManager.default.removeItem(atPath: folder.path(.incoming, ""))
        #expect(throws: DropFolder.Failure.self) { try folder.prepare() }
    }
}
