import FoundationEssentials
import Testing

@testable import IngestKit

@Suite struct CatalogueTests {
    @Test func theBuiltInCatalogueIsTheShippedFile() throws {
        let file = try YAMLDocument.contents(of: Samples.repository + "/config/peripherals.yaml")
        #expect(ShippedCatalogue.text == file)
    }

    @Test func identifiersAreStable() throws {
        #expect(
            try Samples.catalogue().models.map(\.id) == [
                1, 32, 33, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011,
            ])
    }

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
        #expect(!model.isReadable(with: Set(ProfileName.allCases.map(\.rawValue))))
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
        let error = #expect(throws: ConfigurationError.self) {
            try Catalogue.parse(text: text, path: "m.yaml")
        }
        #expect(
            error?.diagnostics.map(\.description) == [
                "m.yaml:2:5: models[0].type: expected a type, but the key is missing",
                "m.yaml:2:9: models[0].id: expected an ID from 1 to 999999, found \"0\"",
                "m.yaml:4:5: models[0].typ: unknown key; did you mean type?",
                "m.yaml:5:14: models[0].profile: expected blood-pressure, thermometer, glucose, weight-scale, "
                    + "body-composition, pulse-oximeter, heart-rate, continuous-glucose, bthome, mi-scale, mibeacon or "
                    + "generic-health-sensor, found \"blood\"",
                "m.yaml:6:18: models[0].recognised[0]: expected service, company or name, found a mapping",
                "m.yaml:7:19: models[0].instructions.during: expected a text, but the key is missing",
            ])
    }

    @Test func filesOfTheOperatorAddModels() throws {
        let directory = FileManager.default.temporaryDirectory.path + "/catalogue-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        func model(_ id: Int) -> Data {
            Data(
                "models: [{id: \(id), name: X, type: t, profile: thermometer, instructions: {pairing: a, before: b, during: c}}]"
                    .utf8)
        }
        try model(10_001).write(to: URL(filePath: directory + "/a.yaml"))
        try model(2_001).write(to: URL(filePath: directory + "/b.yaml"))
        try model(7).write(to: URL(filePath: directory + "/ignored.txt"))
        let checked = try Catalogue.load(path: directory + "/none.yaml", additions: directory)
        #expect(checked.catalogue[10_001] != nil)
        #expect(checked.catalogue[7] == nil)
        #expect(
            checked.warnings.map(\.description) == [
                "\(directory)/b.yaml:1:15: models[0].id: warning: IDs below 10000 belong to the shipped catalogue, "
                    + "which may take 2001 in a later version"
            ])
        try model(1002).write(to: URL(filePath: directory + "/c.yaml"))
        let error = #expect(throws: ConfigurationError.self) {
            try Catalogue.load(path: directory + "/none.yaml", additions: directory)
        }
        #expect(
            error?.diagnostics.last?.description
                == "\(directory)/c.yaml:1:15: models[0].id: ID 1002 already stands in built-in catalogue")
    }
}
