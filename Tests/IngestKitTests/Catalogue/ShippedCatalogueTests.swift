import Testing

@testable import IngestKit

/// The catalogue that comes with the program, entry by entry, and its documents.
@Suite struct ShippedCatalogueTests {
    static let models = (try? Samples.catalogue().models) ?? []
    static let ids = models.map(\.id)

    static func model(_ id: Int) throws -> PeripheralModel {
        try #require(models.first { $0.id == id })
    }

    @Test func theBuiltInCatalogueIsTheShippedFile() throws {
        let file = try YAMLDocument.contents(of: Samples.repository + "/config/peripherals.yaml")
        #expect(ShippedCatalogue.text == file)
    }

    /// A number is never taken away, nor given to another model.
    @Test func identifiersAreStable() throws {
        #expect(
            try Samples.catalogue().models.map(\.id) == [
                1, 32, 33, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008,
                1009, 1010, 1011, 2000, 2001, 2002, 2003, 2004, 2005, 2020, 2021, 2022,
                2023, 2024, 2025, 2026, 2027, 2028, 2029, 2030, 2031, 2032, 2033, 2040,
                2041, 2042, 2045, 2046, 2050, 2051, 2052, 2053, 2060, 2061, 2065, 2066,
                2067, 2068, 2070, 2075, 2076, 2080, 2085, 2087, 2088, 2090, 2091, 2092,
                2093, 2094, 2100, 2101, 2102, 2103, 2104, 2105,
            ])
    }

    @Test(arguments: ids)
    func anEntryIsWhole(_ id: Int) throws {
        let model = try Self.model(id)
        #expect([1, 32, 33].contains(id) || (1_000...1_011).contains(id) || (2_000..<10_000).contains(id))
        #expect(ProfileName(rawValue: model.profile) != nil)
        #expect(!model.type.isEmpty)
        if model.id >= 2_000 { #expect(model.manufacturer != nil && model.model != nil) }
        let texts = model.instructions
        for text in [texts.pairing, texts.beforeMeasurement, texts.duringMeasurement] {
            #expect((10..<400).contains(text.count), "\(text)")
            #expect(text.hasSuffix("."), "\(text)")
        }
        #expect(Set(model.quirks).count == model.quirks.count)
        #expect(model.bondingMethod == nil || model.bonding == .required)
        #expect(model.recognised.isEmpty == [32, 33].contains(model.id))
    }

    @Test(arguments: ids)
    func whatRecognisesAnEntryCanBeFoundByAController(_ id: Int) throws {
        for marks in try Self.model(id).recognised {
            #expect(!AdvertisementFilter(models: [marks]).kernelPatterns.isEmpty)
        }
    }

    @Test func aHeartRateSensorIsReadAgainAlthoughItIsNeverSilent() {
        let sensors = Self.models.filter { $0.profile == "heart-rate" }
        #expect(sensors.count > 1)
        #expect(sensors.allSatisfy { $0.rearm == .seconds(60) })
    }

    @Test func namesAreUnlike() {
        #expect(Set(Self.models.map(\.name)).count == Self.models.count)
    }

    // MARK: Documents

    @Test func theDocumentListsTheModels() throws {
        let rows = Self.models.map { model in
            "| \(model.id) | \(model.name) | \(model.profile) | \(model.recognition) | \(model.bondingWords) |"
        }
        #expect(try Self.rows { $0.first?.isNumber == true } == rows)
    }

    @Test func theDocumentExplainsTheQuirks() throws {
        let quirks = PeripheralModel.Quirk.allCases
        let rows = quirks.map { "| `\($0.rawValue)` | \($0.meaning) | \($0.effect.rawValue) |" }
        let names = Set(quirks.map { "`\($0.rawValue)`" })
        #expect(try Self.rows { names.contains(String($0)) } == rows)
    }

    @Test func theDocumentExplainsTheWaysToBond() throws {
        for method in PeripheralModel.BondingMethod.allCases {
            #expect(try Self.rows { $0 == "`\(method.rawValue)`" }.count == 1)
        }
    }

    /// The rows of docs/peripherals.md whose first cell is one of these.
    private static func rows(_ isWanted: (Substring) -> Bool) throws -> [String] {
        try YAMLDocument.contents(of: Samples.repository + "/docs/peripherals.md").split(separator: "\n")
            .filter { line in
                guard line.hasPrefix("| "), let cell = line.split(separator: "|").first else { return false }
                return isWanted(Substring(cell.filter { $0 != " " }))
            }
            .map(String.init)
    }
}
