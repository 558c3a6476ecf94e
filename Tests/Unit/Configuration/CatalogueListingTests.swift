import FoundationEssentials
import Testing

@testable import IngestConfiguration

@Suite struct CatalogueListingTests {
    private static func listing(type: String? = nil, ids: Set<Int> = []) throws -> CatalogueListing {
        try CatalogueListing(
            Samples.catalogue(), type: type, ids: ids, readableProfiles: ["thermometer", "blood-pressure"])
    }

    @Test func everyLineFitsIntoATerminal() throws {
        let listing = try Self.listing()
        for line in listing.lines + listing.details {
            #expect(line.count <= CatalogueListing.columns, "\(line)")
        }
        #expect(listing.lines.count == listing.models.count + 1)
    }

    @Test func theListTellsWhatThisProgramReads() throws {
        let lines = try Self.listing(ids: [32, 1001, 1006]).lines
        #expect(
            lines == [
                "ID   READ TYPE                   NAME",
                "32   no   glucose-meter          AgaMatrix Jazz Wireless 2",
                "1001 yes  blood-pressure-monitor Generic blood pressure monitor",
                "1006 no   heart-rate-sensor      Generic heart rate sensor",
            ])
    }

    @Test func aTypeAndIDsSelect() throws {
        #expect(try Self.listing(type: "thermometer").models.allSatisfy { $0.type == "thermometer" })
        #expect(try Self.listing(ids: [1002, 1001]).models.map(\.id) == [1001, 1002])
        #expect(try Self.listing(type: "thermometer", ids: [1002, 1001]).models.map(\.id) == [1002])
        #expect(try Self.listing(type: "kettle").isEmpty)
    }

    @Test func wordsAndMakersSelect() throws {
        func names(brand: String? = nil, _ words: String...) throws -> [String] {
            try CatalogueListing(
                Samples.catalogue(), brand: brand, words: words, readableProfiles: []
            ).models.map(\.name)
        }
        #expect(try names("sanitas") == names(brand: "SANITAS") && !names("sanitas").isEmpty)
        #expect(try names("agamatrix", "jazz") == ["AgaMatrix Jazz Wireless 2"])
        #expect(try names("generic", "BLOOD pressure") == ["Generic blood pressure monitor"])
        #expect(try names(brand: "AgaMatrix", "thermometer").isEmpty)
    }

    @Test func aModelIsToldWithItsInstructionsAndQuirks() throws {
        #expect(
            try Self.listing(ids: [2030]).details == [
                "2030 Sanitas SBM 69",
                "  type:          blood-pressure-monitor",
                "  manufacturer:  Sanitas",
                "  model:         SBM 69",
                "  profile:       blood-pressure",
                "  recognised by: service 1810 and name \"SBM69…\"",
                "  bonding:       required, passkey-on-device",
                "  pairing:       Switch Bluetooth on in the monitor's menu and set it to pairing",
                "                 as its manual says. If it shows a code, type it when you are",
                "                 asked for it.",
                "  before:        Sit and rest for five minutes. Choose your user on the monitor.",
                "                 Put the cuff on as its manual says, at the height of the heart.",
                "  during:        Keep still and do not talk. The monitor sends when the",
                "                 measurement is over, or when its memory is called up.",
                "  quirk:         subscribe-only-to-read (by design): It sends what it has as",
                "                 soon as it is subscribed to, and once only: the gateway",
                "                 subscribes to nothing before it is ready to keep what comes.",
            ])
    }

    @Test func aMarkIsToldUnderItsKey() throws {
        let marks: [AdvertisementFilter.Mark] = [
            .service(0x1810), .longService(BluetoothUUID(high: 1, low: 2)), .company(0x020E),
            .namePrefix(Array("BM".utf8)), .nameContains(Array("bc".utf8)),
        ]
        #expect(marks.map(\.entry.key) == ["service", "service", "company", "name", "name_contains"])
        #expect(marks.map(\.entry.value) == ["1810", "00000000000000010000000000000002", "020E", "BM", "bc"])
    }

    @Test func oneModelIsAnObjectAndSeveralAreAList() throws {
        let one = try Self.listing(ids: [2004]).jsonOfOneOrAll
        #expect(one.hasPrefix("{\"bonding\":\"required\",\"bonding_method\":\"just-works\",\"id\":2004,"))
        #expect(
            one.contains("\"recognised\":[{\"name_contains\":\"blesmart_00000116\",\"service\":\"1810\"}]"))
        #expect(try Self.listing(ids: [2004, 1]).jsonOfOneOrAll.hasPrefix("[{"))
    }
}
