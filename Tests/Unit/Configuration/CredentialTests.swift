import FoundationEssentials
import TestSupport
import Testing

@testable import IngestConfiguration
@testable import IngestCore
@testable import IngestProfiles

@Suite struct CredentialTests {
    @Test func aSecretIsReadFromTheDirectoryOfCredentials() async throws {
        try await withTemporaryDirectory { directory in
            try Data("s3cret\n".utf8).write(to: URL(filePath: directory + "/token"))
            let credentials = Credentials(environment: ["CREDENTIALS_DIRECTORY": directory])
            let secret = try credentials.read(.named("token"))
            #expect(secret.text == "s3cret")
            #expect(try Credentials(environment: [:]).read(.path(directory + "/token")) == secret)
        }
    }

    @Test func aSecretIsNeverPrinted() {
        let secret = Credential(bytes: Array("s3cret".utf8))
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), "\([secret])", dumped] {
            #expect(!text.contains("s3cret") && !text.contains("115"))
        }
    }

    @Test func aBindKeyIs32HexadecimalDigits() async throws {
        try await withTemporaryDirectory { directory in
            let credentials = Credentials(environment: ["CREDENTIALS_DIRECTORY": directory])
            let digits = "231d39c1d7cc1ab1aee224cd096db932"
            try Data((digits + "\n").utf8).write(to: URL(filePath: directory + "/key"))
            try Data("secret".utf8).write(to: URL(filePath: directory + "/token"))
            #expect(try credentials.bindKey("key") == BindKey(digits))
            #expect(throws: BindKeyError.notAKey("token")) { try credentials.bindKey("token") }
            #expect(throws: BindKeyError.notAKey("../key")) { try credentials.bindKey("../key") }
            #expect(throws: BindKeyError.credential(.missing(.named("none")))) {
                try credentials.bindKey("none")
            }
            #expect(!"\(BindKeyError.notAKey("token"))".contains("secret"))
        }
    }

    @Test(arguments: [0o600, 0o640, 0o644])
    func aFilesSizeAndPermissionsAreSeen(mode: Int) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/file"
            try Data(count: 17).write(to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            let status = try #require(FileStatus(path))
            #expect(status.permissions == mode && status.size == 17 && status.isRegular)
            #expect(ConfigurationHost.current(environment: [:]).permissions(path) == mode)
        }
    }

    @Test func aFailureSaysWhatToDo() async throws {
        try await withTemporaryDirectory { directory in
            let credentials = Credentials(environment: ["CREDENTIALS_DIRECTORY": directory])
            try Data("\n".utf8).write(to: URL(filePath: directory + "/empty"))
            try Data(count: Credentials.maximumSize + 1).write(to: URL(filePath: directory + "/large"))
            #expect(throws: CredentialError.missing(.named("x"))) { try credentials.read(.named("x")) }
            #expect(throws: CredentialError.empty(.named("empty"))) { try credentials.read(.named("empty")) }
            #expect(throws: CredentialError.notACredential(.named("large"))) {
                try credentials.read(.named("large"))
            }
            #expect(throws: CredentialError.notACredential(.path(directory))) {
                try credentials.read(.path(directory))
            }
        }
        #expect(throws: CredentialError.noDirectory(.named("x"))) {
            try Credentials(environment: [:]).read(.named("x"))
        }
        #expect(
            CredentialError.noDirectory(.named("x")).description
                == "credential x: there is no $CREDENTIALS_DIRECTORY; add LoadCredential=x:PATH to the unit, or "
                + "give the path of the file in the configuration")
    }

    @Test(
        arguments: [
            ("token", .named("token")), ("/run/t", .path("/run/t")), ("../t", nil), ("a/b", nil), ("..", nil),
            ("a b", nil), ("", nil), ("/run/", nil),
        ] as [(String, CredentialName?)])
    func aNameIsPlainOrAnAbsolutePath(text: String, name: CredentialName?) {
        #expect(CredentialName(text) == name)
    }
}
