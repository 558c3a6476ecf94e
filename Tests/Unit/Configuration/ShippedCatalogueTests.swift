import TestSupport
import Testing

@testable import IngestBluetooth
@testable import IngestConfiguration
@testable import IngestCore
@testable import IngestOperator
@testable import IngestProfiles
@testable import IngestReading
@testable import IngestSupervision

/// The catalogue that comes with the program, entry by entry, and its documents.
@Suite struct ShippedCatalogueTests {
    static let models = (try? Samples.catalogue().models) ?? []
    static let ids = models.map(\.id)

    static func model(_ id: Int) throws -> PeripheralModel {
        try #require(models.first { $0.id == id })
    }

    @Test func theBuiltInCatalogueIsTheShippedFile() throws {
        let file = try YAMLDocument.contents(of: Repository.root + "/config/peripherals.yaml")
        #expect(ShippedCatalogue.text == file)
        #expect(
            try Catalogue.parse(text: file, path: "catalogue").catalogue.models == ShippedCatalogue.models)
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
        #expect(Profiles.named(model.profile) != nil)
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

    /// What devices were seen to advertise.
    @Test(
        arguments: [
            // The name SBM69, flags, 1810, manufacturer data.
            ("060953424D363902010603021018 04FF130601", 2030),
            // Flags, 1809, the name A&D_UT201BLE_76C9B8.
            ("02010503020918 1409 412644 5F5554323031424C455F373643394238", 2042),
            // Flags, 1810, manufacturer data of company 020E.
            ("020106 03031018 06FF0E02010000", 2000),
            // 1810, the name BLESmart_0000001F and an address.
            ("03031018 1A09 424C45536D6172745F 3030303030303146 4543323145353930", 2005),
            // The same of a model that has no number.
            ("03031018 1A09 424C45736D6172745F 3030303030343133 4543323145353930", 2000),
            // 1808, the names of two meters of one maker, then another's.
            ("03020818 1209 436F6E746F75723738303448363030383330", 2061),
            ("03020818 1209 436F6E746F75723738303148353231333134", 2060),
            ("03020818 0F09 6D657465722B3032323532393234", 2050),
            // OneTouch J7RG.
            ("020106 0E09 4F6E65546F756368204A375247", 2065),
            // 180D, Polar H10 1E416A33.
            ("03030D18 1309 506F6C617220483130203145343136413333", 2101),
            ("03030D18", 1006),
            ("03030F18", nil),
        ] as [(String, Int?)])
    func anAdvertIsRecognisedAsTheSpecialModelThatStandsFirst(data: String, id: Int?) throws {
        let special = [2030, 2005, 2042, 2061, 2060, 2050, 2065, 2101, 2000]
        let list = AllowList(
            try (special + Array(1000...1007)).map { AllowedPeripheral(model: try Self.model($0)) })
        let advert = Advertisement.sample(of: .device(1), data: try #require(Hex.bytes(data)))
        #expect(list.match(advert)?.model.id == id)
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
        try YAMLDocument.contents(of: Repository.root + "/docs/peripherals.md").split(separator: "\n")
            .filter { line in
                guard line.hasPrefix("| "), let cell = line.split(separator: "|").first else { return false }
                return isWanted(Substring(cell.filter { $0 != " " }))
            }
            .map(String.init)
    }
}
