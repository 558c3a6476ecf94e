import FoundationEssentials
import TestSupport
import Testing

@testable import IngestBluetooth
@testable import IngestConfiguration
@testable import IngestOperator
@testable import IngestProfiles
@testable import IngestReading
@testable import IngestSupervision

@Suite struct CatalogueTests {
    @Test(
        arguments: [
            (1000, "glucose", [0x1808]), (1001, "blood-pressure", [0x1810]), (1002, "thermometer", [0x1809]),
            (1003, "weight-scale", [0x181D]), (1004, "body-composition", [0x181B]),
            (1005, "pulse-oximeter", [0x1822]), (1006, "heart-rate", [0x180D]),
            (1007, "continuous-glucose", [0x181F]), (1008, "bthome", [0xFCD2]),
            (1009, "mi-scale", [0x181D, 0x181B]), (1010, "mibeacon", [0xFE95]),
            (1011, "generic-health-sensor", [0x1840]),
        ] as [(Int, String, [UInt16])])
    func aGenericModelIsRecognisedByItsService(id: Int, profile: String, services: [UInt16]) throws {
        let model = try #require(Samples.catalogue()[id])
        #expect(model.profile == profile)
        #expect(model.recognised == services.map { [.service($0)] })
    }

    @Test(arguments: [32, 33])
    func aModelWithoutPublicProtocolIsNamedButNotReadable(id: Int) throws {
        let model = try #require(Samples.catalogue()[id])
        #expect(!model.isReadable(with: Profiles.names))
    }

    @Test func anItemNeedsAllItsMarks() throws {
        let text = """
            models:
              - id: 10000
                name: X
                type: cuff
                profile: blood-pressure
                recognised: [{service: "1810", name: BPM}, {company: "0157"}, {service: "0000fe95-0000-1000-8000-00805f9b34fb"}]
                instructions: {pairing: a, before: b, during: c}
                rearm: 15m
            """
        let model = try #require(Catalogue.parse(text: text, path: "m.yaml").catalogue[10_000])
        #expect(
            model.recognised == [
                [.service(0x1810), .namePrefix(Array("BPM".utf8))], [.company(0x0157)], [.service(0xFE95)],
            ])
        #expect(model.rearm == .seconds(900))
    }

    @Test func aNameMayHaveATextAnywhere() throws {
        let text = """
            models:
              - id: 10000
                name: X
                type: cuff
                profile: blood-pressure
                recognised: [{service: "1810", name_contains: BPM}]
                bonding: required
                bonding_method: passkey-on-label
                instructions: {pairing: a, before: b, during: c}
                quirks: [expects-clock]
            """
        let model = try #require(Catalogue.parse(text: text, path: "m.yaml").catalogue[10_000])
        #expect(model.recognised == [[.service(0x1810), .nameContains(Array("BPM".utf8))]])
        #expect(model.bondingMethod == .passkeyOnLabel)
        #expect(model.quirks == [.expectsClock])
    }

    @Test func whatCannotHoldTogetherIsAnError() throws {
        let text = """
            models:
              - id: 10000
                name: X
                type: cuff
                profile: blood-pressure
                recognised: [{name_contains: BPM}]
                bonding_method: just-works
                instructions: {pairing: a, before: b, during: c}
                quirks: [expect-clock, haunted]
            """
        #expect(
            Self.told { try Catalogue.parse(text: text, path: "m.yaml") } == [
                "m.yaml:6:34: models[0].recognised[0].name_contains: expected service, company or name beside it",
                "m.yaml:7:21: models[0].bonding_method: expected bonding: required beside it",
                "m.yaml:9:14: models[0].quirks[0]: there is no quirk \"expect-clock\"; did you mean expects-clock?",
                "m.yaml:9:28: models[0].quirks[1]: there is no quirk \"haunted\"",
            ])
    }

    /// The diagnostics with which a catalogue is refused.
    private static func told(_ read: () throws -> Catalogue.Checked) -> [String]? {
        let error = #expect(throws: ConfigurationError.self) { try read() }
        return error?.diagnostics.map(\.description)
    }

    @Test func aModelOfAKnownProfileIsAFileAndNoCode() async throws {
        try await withTemporaryDirectory { directory in
            let model = """
                models:
                  - id: 10000
                    name: Ward 3 cuff
                    type: blood-pressure-monitor
                    profile: blood-pressure
                    recognised: [{service: "1810", name_contains: ward3}]
                    instructions: {pairing: a, before: b, during: c}
                """
            try FileManager.default.createDirectory(
                atPath: directory + "/peripherals.d", withIntermediateDirectories: true)
            try Data(model.utf8).write(to: URL(filePath: directory + "/peripherals.d/ward.yaml"))
            let additions = Catalogue.additions(besideConfiguration: directory + "/ingestd.yaml")
            let catalogue = try Catalogue.load(path: directory + "/none.yaml", additions: additions).catalogue
            let configuration = try Configuration.parse(
                text: "peripherals: [{id: 10000}, {id: 1001}]", path: "c.yaml", catalogue: catalogue,
                readableProfiles: Profiles.names, host: Samples.host
            ).configuration
            let list = AllowList(configuration.peripherals)
            func heard(_ name: String) -> Int? {
                let data: [UInt8] =
                    [3, 0x03, 0x10, 0x18, UInt8(name.utf8.count + 1), 0x09] + Array(name.utf8)
                return list.match(.sample(of: .device(1), data: data))?.model.id
            }
            #expect(heard("BP Ward3-07") == 10_000)
            #expect(heard("Cuff") == 1001)
        }
    }

    @Test func everyErrorOfAFileIsTold() throws {
        let text = """
            models:
              - id: 0
                name: X
                typ: cuff
                profile: blood
                recognised: [{}]
                instructions: {pairing: a, before: b}
            """
        #expect(
            Self.told { try Catalogue.parse(text: text, path: "m.yaml") } == [
                "m.yaml:2:5: models[0].type: expected a type, but the key is missing",
                "m.yaml:2:9: models[0].id: expected an ID from 1 to 999999, found \"0\"",
                "m.yaml:4:5: models[0].typ: unknown key; did you mean type?",
                "m.yaml:5:14: models[0].profile: expected blood-pressure, body-composition, bthome, "
                    + "continuous-glucose, generic-health-sensor, glucose, heart-rate, mi-scale, mibeacon, "
                    + "onetouch-verio, pulse-oximeter, thermometer or weight-scale, found \"blood\"",
                "m.yaml:6:18: models[0].recognised[0]: expected service, company or name, found a mapping",
                "m.yaml:7:19: models[0].instructions.during: expected a text, but the key is missing",
            ])
    }

    @Test func filesOfTheOperatorAddModels() async throws {
        try await withTemporaryDirectory { directory in
            func model(_ id: Int) -> Data {
                Data(
                    "models: [{id: \(id), name: X, type: t, profile: thermometer, instructions: {pairing: a, before: b, during: c}}]"
                        .utf8)
            }
            try model(10_001).write(to: URL(filePath: directory + "/a.yaml"))
            try model(9_001).write(to: URL(filePath: directory + "/b.yaml"))
            try model(7).write(to: URL(filePath: directory + "/ignored.txt"))
            let checked = try Catalogue.load(path: directory + "/none.yaml", additions: directory)
            #expect(checked.catalogue[10_001] != nil)
            #expect(checked.catalogue[7] == nil)
            #expect(
                checked.warnings.map(\.description) == [
                    "\(directory)/b.yaml:1:15: models[0].id: warning: IDs below 10000 belong to the shipped catalogue, "
                        + "which may take 9001 in a later version"
                ])
            try model(1002).write(to: URL(filePath: directory + "/c.yaml"))
            #expect(
                Self.told { try Catalogue.load(path: directory + "/none.yaml", additions: directory) }?.last
                    == "\(directory)/c.yaml:1:15: models[0].id: ID 1002 already stands in built-in catalogue")
        }
    }
}
