import Testing

@testable import IngestDaemon

@Suite struct BoxProbeTests {
    private static let unit = ServiceUnit(
        loadState: "loaded", fileState: "enabled", activeState: "active", result: "success", exitStatus: 0,
        restarts: 0, user: "ingestd", group: "ingestd", supplementaryGroups: [], credentials: [:])

    private func findings(_ change: (inout BoxProbe.Facts) -> Void = { _ in }) -> [Finding] {
        var facts = BoxProbe.Facts(
            unit: .known(Self.unit), kernelDefect: nil,
            clock: ClockEvidence(wall: 2_000_000_000, isSynchronized: true, released: Version.released),
            freeBytes: 8 << 30, configuration: nil, files: [], user: nil, isRoot: true)
        change(&facts)
        return BoxProbe(facts: facts).findings
    }

    private func level(_ check: Finding.Check, in findings: [Finding]) -> Finding.Level? {
        findings.first { $0.check == check }?.level
    }

    @Test func aBoxThatIsWellHasNoFindingToAct() {
        let all = findings()
        #expect(all.allSatisfy { $0.level == .ok && $0.remedy == nil })
    }

    @Test(arguments: [
        ("not-found", "inactive", "", Finding.Level.error), ("masked", "inactive", "masked", .error),
        ("bad-setting", "inactive", "enabled", .error), ("loaded", "failed", "enabled", .error),
        ("loaded", "inactive", "enabled", .error), ("loaded", "activating", "enabled", .warning),
        ("loaded", "active", "disabled", .warning), ("loaded", "active", "enabled", .ok),
    ])
    func theUnitIsJudged(load: String, active: String, file: String, level expected: Finding.Level) {
        let found = findings { facts in
            var unit = Self.unit
            (unit.loadState, unit.activeState, unit.fileState) = (load, active, file)
            facts.unit = .known(unit)
        }
        #expect(level(.unit, in: found) == expected)
        #expect((found.first?.remedy == nil) == (expected == .ok))
    }

    @Test func withoutSystemdThatIsSaid() {
        #expect(level(.unit, in: findings { $0.unit = .noSystemd }) == .warning)
        let hidden = findings {
            $0.unit = .noAnswer
            $0.isRoot = false
        }
        #expect(hidden.first?.remedy == "sudo ingestd doctor")
    }

    @Test func kernelAndClockAreWarnedOf() {
        let found = findings { facts in
            facts.kernelDefect = KernelDefect(procVersion: "Debian 6.1.192-2")
            facts.clock.isSynchronized = false
        }
        #expect(level(.kernel, in: found) == .warning)
        #expect(level(.clock, in: found) == .warning)
        #expect(level(.clock, in: findings { $0.clock.isConfigured = true }) == .ok)
    }

    @Test func spaceIsComparedWithTheQueue() throws {
        let configuration = try sampleConfiguration("queue: {max_size: 1GiB}")
        func level(_ free: UInt64?) -> Finding.Level? {
            self.level(
                .space,
                in: findings {
                    $0.configuration = configuration
                    $0.freeBytes = free
                })
        }
        #expect(level(2 << 30) == .ok)
        #expect(level(1 << 30) == .warning)
        #expect(level(nil) == .warning)
    }

    @Test func whatTheServiceMayNotReadIsNamedWithTheWayOut() {
        let rights: [String: FileRights] = [
            "/": FileRights(owner: 0, group: 0, permissions: 0o755, isDirectory: true),
            "/etc": FileRights(owner: 0, group: 0, permissions: 0o755, isDirectory: true),
            "/etc/closed": FileRights(owner: 0, group: 0, permissions: 0o600, isDirectory: false),
            "/etc/open": FileRights(owner: 0, group: 7, permissions: 0o640, isDirectory: false),
        ]
        let user = ServiceUser(name: "ingestd", id: 5, groups: [7], rights: { rights[$0] })
        let found = findings {
            $0.user = user
            $0.files = ["/etc/open", "/etc/closed", "/etc/missing"]
        }.filter { $0.check == .files }
        #expect(found.map(\.level) == [.error])
        #expect(found.first?.remedy == "sudo chgrp ingestd /etc/closed && sudo chmod g+r /etc/closed")
    }

    @Test func withoutAConfigurationNothingIsSaidOfItsFiles() {
        let user = ServiceUser(name: "ingestd", id: 5, groups: [7], rights: { _ in nil })
        func levels(isRoot: Bool) -> [Finding.Level] {
            findings {
                $0.user = user
                $0.files = ["/etc/missing"]
                $0.isRoot = isRoot
            }.filter { $0.check == .files }.map(\.level)
        }
        #expect(levels(isRoot: true) == [])
        #expect(levels(isRoot: false) == [.warning])
    }

    @Test func credentialsAreComparedWithTheUnit() throws {
        let configuration = try sampleConfiguration(
            """
            destinations:
              - {name: a, type: webhook, url: "https://a.example", credential: first}
              - {name: b, type: webhook, url: "https://b.example", credential: second}
              - {name: c, type: webhook, url: "https://c.example", credential: first}
            """)
        let found = findings { facts in
            var unit = Self.unit
            unit.credentials = ["first": ServiceUnit.Source(path: "/nowhere/first", isEncrypted: false)]
            facts.unit = .known(unit)
            facts.configuration = configuration
        }.filter { $0.check == .loadCredential }
        #expect(found.map(\.level) == [.error, .error])
        #expect(found[0].message.contains("missing"))
        #expect(found[1].remedy?.contains("LoadCredential=second:FILE") == true)
    }

    @Test func aCredentialWithoutPathIsWhereSystemdLooks() {
        let source = ServiceUnit.Source(path: "token", isEncrypted: false)
        let encrypted = ServiceUnit.Source(path: "token", isEncrypted: true)
        let files: Set = ["/etc/credstore/token", "/etc/credstore.encrypted/token"]
        #expect(CredentialSources.path(of: source, exists: files.contains) == "/etc/credstore/token")
        #expect(
            CredentialSources.path(of: encrypted, exists: files.contains) == "/etc/credstore.encrypted/token")
        #expect(CredentialSources.path(of: source, exists: { _ in false }) == nil)
    }
}
