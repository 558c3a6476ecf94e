import FoundationEssentials
import TestSupport
import Testing

@testable import IngestDaemon

/// What the status says of files of credentials that the service cannot use.
@Suite struct CredentialStandingTests {
    private func destinations(_ keys: String) throws -> [DestinationSettings] {
        try sampleConfiguration(
            "destinations:\n  - {name: clinic, type: webhook, url: \"https://clinic.example/\", \(keys)}"
        ).destinations
    }

    @Test func aFileIsToldOfUntilItCanBeRead() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/token"
            let standing = CredentialStanding(
                try destinations("credential: \(path)"), credentials: Credentials(environment: [:]))
            let clock = DrivenClock()
            #expect(
                await standing.problems(by: clock)
                    == ["clinic: credential \(path): there is no such file"])
            try Data().write(to: URL(filePath: path))
            #expect(await standing.problems(by: clock) == ["clinic: credential \(path): the file is empty"])
            try Data("secret".utf8).write(to: URL(filePath: path))
            #expect(await standing.problems(by: clock) == [])
        }
    }

    @Test func aNameThatTheServiceWasNotGivenIsTold() async throws {
        let standing = CredentialStanding(
            try destinations("credential: token"), credentials: Credentials(environment: [:]))
        let found = await standing.problems(by: DrivenClock())
        #expect(found.count == 1 && found.first?.contains("add LoadCredential=token:PATH") == true)
    }

    @Test func afterAReloadTheNewFilesCount() async throws {
        let standing = CredentialStanding(
            try destinations("ca_file: /nowhere/ca.pem"), credentials: Credentials(environment: [:]))
        let clock = DrivenClock()
        #expect(
            await standing.problems(by: clock)
                == ["clinic: ca_file: /nowhere/ca.pem: there is no such file"])
        standing.note([])
        #expect(await standing.problems(by: clock) == [])
    }
}
