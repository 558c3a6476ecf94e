import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import IngestQueue

/// The file that sets room aside, where something else has its name.
@Suite struct DiskSpaceTests {
    @Test func aLinkInItsPlaceIsNotFollowed() async throws {
        try await withTemporaryDirectory { directory in
            let precious = directory + "/precious"
            try Data("kept".utf8).write(to: URL(filePath: precious))
            try FileManager.default.createSymbolicLink(
                atPath: directory + "/reserve", withDestinationPath: precious)
            try DirectorySpace(directory: directory).makeReserve(bytes: 100_000)
            #expect(try Data(contentsOf: URL(filePath: precious)) == Data("kept".utf8))
            #expect(try Data(contentsOf: URL(filePath: directory + "/reserve")).count == 100_000)
        }
    }

    @Test func aPipeInItsPlaceIsNotWaitedFor() async throws {
        try await withTemporaryDirectory { directory in
            let made = unsafe mkfifo(directory + "/reserve", 0o600)
            #expect(made == 0)
            let space = DirectorySpace(directory: directory)
            try space.makeReserve(bytes: 100_000)
            #expect(try Data(contentsOf: URL(filePath: directory + "/reserve")).count == 100_000)
            try space.releaseReserve()
            #expect(!FileManager.default.fileExists(atPath: directory + "/reserve"))
        }
    }
}
