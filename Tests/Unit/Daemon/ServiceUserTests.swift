import Testing

@testable import IngestDaemon

@Suite struct ServiceUserTests {
    private static let passwd =
        "root:x:0:0:root:/root:/bin/sh\ningestd:x:990:991::/var/lib/ingestd:/usr/sbin/nologin\n"
    private static let groups = "root:x:0:\nadm:x:4:syslog,ingestd\ningestd:x:991:\nextra:x:995:\n"

    private func user(
        _ files: [String: FileRights] = [:], group: String = "ingestd", supplementary: [String] = []
    ) throws -> ServiceUser {
        let user = ServiceUser(
            named: "ingestd", group: group, supplementary: supplementary, passwd: Self.passwd,
            groupFile: Self.groups, rights: { files[$0] })
        return try #require(user)
    }

    private func directory(_ permissions: Int, owner: UInt32 = 0, group: UInt32 = 0) -> FileRights {
        FileRights(owner: owner, group: group, permissions: permissions, isDirectory: true)
    }

    private func file(_ permissions: Int, owner: UInt32 = 0, group: UInt32 = 0) -> FileRights {
        FileRights(owner: owner, group: group, permissions: permissions, isDirectory: false)
    }

    @Test func groupsAreThoseOfTheAccountAndOfTheUnit() throws {
        #expect(try user().id == 990)
        #expect(try user().groups == [991, 4])
        #expect(try user(group: "").groups == [991, 4])
        #expect(try user(group: "adm", supplementary: ["extra"]).groups == [4, 995])
        let absent = ServiceUser(
            named: "nobody-here", group: "", supplementary: [], passwd: Self.passwd, groupFile: Self.groups)
        #expect(absent.map(\.id) == nil)
    }

    @Test(
        arguments: [
            // Owner, group and mode of the file; whether it may be read.
            (0, 991, 0o640, true), (0, 0, 0o640, false), (0, 0, 0o604, true), (990, 0, 0o400, true),
            // One class alone counts: that of the owner, then that of the group.
            (990, 991, 0o044, false), (0, 991, 0o604, false), (0, 4, 0o640, true),
        ] as [(UInt32, UInt32, Int, Bool)])
    func aFileIsReadByOwnerGroupAndMode(owner: UInt32, group: UInt32, mode: Int, isRead: Bool) throws {
        let user = try user([
            "/": directory(0o755), "/etc": directory(0o755),
            "/etc/file": file(mode, owner: owner, group: group),
        ])
        #expect(user.may(.read, "/etc/file") == isRead)
    }

    @Test func directoriesAboveHaveToBeEntered() throws {
        let user = try user([
            "/": directory(0o755), "/root": directory(0o700), "/root/token": file(0o644),
        ])
        #expect(user.may(.read, "/root/token") == false)
        #expect(user.obstacle(above: "/root/token") == "/root")
        #expect(user.may(.read, "/nowhere") == nil)
    }
}
