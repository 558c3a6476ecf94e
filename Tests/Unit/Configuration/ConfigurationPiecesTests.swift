import FoundationEssentials
import IngestCore
import IngestPeripherals
import TestSupport
import Testing

@testable import IngestConfiguration

/// A configuration in several files: `conf.d/*.yaml` beside it.
@Suite struct ConfigurationPiecesTests {
    private static let cuff = "peripherals:\n  - {id: 1001, address: F1:F1:F1:F1:F1:F1, alias: cuff}\n"
    private static let clinic =
        "destinations:\n  - {name: clinic, type: webhook, url: \"https://a.example/\", peripherals: [cuff]}\n"

    private func parse(_ main: String, _ pieces: String...) throws -> Configuration.Checked {
        try Configuration.parse(
            text: main, path: "c.yaml",
            pieces: pieces.enumerated().map { ($1, "conf.d/\($0 + 1).yaml") },
            catalogue: Samples.catalogue(), readableProfiles: ["thermometer", "blood-pressure"],
            host: Samples.host)
    }

    private func findings(_ body: () throws -> Configuration.Checked) throws -> [String] {
        do {
            return try body().warnings.map(\.description)
        } catch let error as ConfigurationError {
            return error.diagnostics.map(\.description)
        }
    }

    @Test func theListsOfAllFilesAreOne() throws {
        let checked = try parse("peripherals:\n  - {id: 1002}\ndestinations:\n", Self.clinic, Self.cuff)
        #expect(checked.configuration.peripherals.map(\.model.id) == [1002, 1001])
        #expect(checked.configuration.destinations.map(\.name) == ["clinic"])
        #expect(checked.warnings == [])
        #expect(checked.pieces == 2)
    }

    @Test func sectionsOfSeveralFilesComplementEachOther() throws {
        let checked = try parse(
            "gateway: {id: box}\nlogging: {level: debug}\n", "gateway: {trust_clock: true}\nlogging:\n",
            "logging: {subsystems: {queue: trace}}\n", "logging: {subsystems: {delivery: error}}\n")
        let configuration = checked.configuration
        #expect(configuration.gateway.id == "box" && configuration.gateway.trustsClock)
        #expect(configuration.logging.level == .debug)
        #expect(configuration.logging.subsystems == [.queue: .trace, .delivery: .error])
    }

    @Test func aKeyThatIsSetTwiceIsAnErrorThatNamesBothPlaces() throws {
        let found = try findings {
            try parse("gateway:\n  id: box\n", "gateway: {id: crate}\n", "hooks: {read: /a}\n", "hooks: []\n")
        }
        #expect(
            found.filter { !$0.contains("warning") } == [
                "conf.d/1.yaml:1:11: gateway.id: expected it once: c.yaml:2 sets it already",
                "conf.d/3.yaml:1:1: hooks: expected it once: conf.d/2.yaml:1 sets it already",
            ])
    }

    @Test func errorsOfAllFilesAreToldAtOnceWithTheirPlaces() throws {
        let found = try findings {
            try parse("pasive: {}\n", "peripherals:\n  - {id: 4711}\n", "peripherals: {id: 1002}\n")
        }
        #expect(
            found.filter { !$0.contains("warning") } == [
                "c.yaml:1:1: pasive: unknown key; did you mean passive?",
                "conf.d/1.yaml:2:10: peripherals[0].id: no model of the catalogue has ID 4711; "
                    + "`ingestd peripherals` lists them",
                "conf.d/2.yaml:1:14: peripherals: expected a list, found a mapping",
            ])
    }

    @Test func whatStandsTwiceIsToldWithTheOtherFile() throws {
        let other = "peripherals:\n  - {id: 1001, address: F1:F1:F1:F1:F1:F1, alias: cuff}\n  - {id: 1002}\n"
        let found = try findings {
            try parse(Self.cuff + "  - {id: 1002}\n", other + Self.clinic, Self.clinic)
        }
        #expect(
            found == [
                "conf.d/1.yaml:2:25: peripherals[0].address: F1:F1:F1:F1:F1:F1 is already the address of "
                    + "peripherals[0] in c.yaml",
                "conf.d/1.yaml:2:51: peripherals[0].alias: \"cuff\" is already the alias of peripherals[0] in c.yaml",
                "conf.d/1.yaml:3:5: peripherals[1]: warning: has no effect: peripherals[1] in c.yaml already allows any "
                    + "device of model 1002",
                "conf.d/2.yaml:2:12: destinations[0].name: clinic is already the name of destinations[0] in "
                    + "conf.d/1.yaml",
            ])
    }

    @Test func emptyListsAreToldOnlyWhereAllAreEmpty() throws {
        let found = try findings { try parse("peripherals:\ndestinations: []\n", "peripherals: []\n") }
        #expect(found.count == 2 && found.allSatisfy { $0.hasPrefix("c.yaml:") && $0.contains("warning") })
        #expect(try findings { try parse("peripherals: []\ndestinations:\n", Self.cuff, Self.clinic) } == [])
    }

    @Test func theFilesOfADirectoryAreReadByName() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/ingestd.yaml"
            func write(_ text: String, _ name: String) throws {
                try text.write(toFile: "\(directory)/\(name)", atomically: true, encoding: .utf8)
            }
            func check() -> ConfigurationCheck {
                ConfigurationCheck(
                    path: path, installedCatalogue: "/nowhere/p.yaml",
                    readableProfiles: ["thermometer", "blood-pressure"], host: Samples.host)
            }
            try write("peripherals:\ndestinations:\n", "ingestd.yaml")
            #expect(check().diagnostics.count == 2)
            try FileManager.default.createDirectory(
                atPath: "\(directory)/conf.d", withIntermediateDirectories: false)
            try write(Self.clinic, "conf.d/20-clinic.yaml")
            try write("peripherals:\n  - {id: 1002}\n", "conf.d/10-any.yaml")
            try write(Self.cuff, "conf.d/05-cuff.yaml")
            try write("nonsense: [", "conf.d/.hidden.yaml")
            try write("nonsense: [", "conf.d/old.yaml~")
            #expect(check().diagnostics == [])
            #expect(check().configuration?.peripherals.map(\.model.id) == [1001, 1002])
            #expect(
                check().summary
                    == "\(path) and 3 files of conf.d: good: 2 peripherals, 1 destination, 0 warnings")
            try write("peripherals:\n", "conf.d/meter.yml")
            #expect(
                check().diagnostics.map(\.description) == [
                    "\(directory)/conf.d/meter.yml: warning: is not read, because its name does not end in .yaml"
                ])
            try write("peripherals:\n\t- {id: 1002}\n", "conf.d/30-tab.yaml")
            let broken = check()
            #expect(broken.configuration == nil)
            #expect(broken.summary == "\(path): 1 error, 1 warning")
            #expect(broken.rejection?.hasPrefix("\(directory)/conf.d/30-tab.yaml:2:1") == true)
        }
    }

    @Test(arguments: [
        (
            "peripherals: []\n  - id: 1002\n",
            "delete the [] behind `peripherals:`, so that its entries can stand below it"
        ),
        (
            "destinations: []   # none\n\n# one\n- name: a\n",
            "delete the [] behind `destinations:`, so that its entries can stand below it"
        ),
        ("peripherals:\n\t- id: 1002\n", "indent with spaces, because YAML takes no tabs there"),
        ("gateway:\n  id: a\n \tx: 1\n", "indent with spaces, because YAML takes no tabs there"),
    ])
    func commonMistakesAreToldWithTheWayOut(_ text: String, _ hint: String) throws {
        let found = try findings { try parse(text) }
        #expect(found.count == 1 && found[0].contains("not valid YAML") && found[0].hasSuffix("; \(hint)"))
    }

    @Test(arguments: [cuff, "- {id: 1001, alias: cuff}\n"])
    func devicesAmongTheModelsAreToldWhereTheyBelong(_ text: String) throws {
        var collector = CatalogueCollector()
        collector.add(text: text, path: "peripherals.d/cuff.yaml", isOwn: true)
        #expect(
            collector.diagnostics.map(\.description) == [
                "peripherals.d/cuff.yaml:1:1: expected models here: devices to read stand in a file of conf.d, below "
                    + "`peripherals:`"
            ])
    }
}
