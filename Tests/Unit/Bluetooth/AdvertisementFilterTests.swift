import TestSupport
import Testing

@testable import IngestBluetooth

extension AdvertisementFilter {
    // `#expect` takes no spans.
    fileprivate func admits(_ address: BluetoothAddress, bytes: [UInt8]) -> Bool {
        admits(address, data: bytes.span)
    }

    fileprivate static func matches(_ marks: [Mark], bytes: [UInt8]) -> Bool {
        matches(marks, data: bytes.span)
    }
}

@Suite struct AdvertisementFilterTests {
    typealias Mark = AdvertisementFilter.Mark

    /// 6E400001-B5A3-F393-E0A9-E50E24DCCA9E.
    static let long = BluetoothUUID(high: 0x6E40_0001_B5A3_F393, low: 0xE0A9_E50E_24DC_CA9E)
    static let longBytes: [UInt8] = [
        0x9E, 0xCA, 0xDC, 0x24, 0x0E, 0xE5, 0xA9, 0xE0, 0x93, 0xF3, 0xA3, 0xB5, 0x01, 0x00, 0x40, 0x6E,
    ]

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let mark: Mark
        let data: [UInt8]
        let matches: Bool

        init(_ name: String, _ mark: Mark, _ data: [UInt8], _ matches: Bool) {
            self.name = name
            self.mark = mark
            self.data = data
            self.matches = matches
        }

        var testDescription: String { name }
    }

    static let table: [Row] = [
        Row("incomplete list of services", .service(0x1809), [3, 0x02, 0x09, 0x18], true),
        Row("complete list of services", .service(0x1809), [3, 0x03, 0x09, 0x18], true),
        Row("third of a list", .service(0x1809), [7, 0x03, 0x0A, 0x18, 0x0F, 0x18, 0x09, 0x18], true),
        Row("second structure", .service(0x1809), [2, 0x01, 0x06, 3, 0x03, 0x09, 0x18], true),
        Row("second list", .service(0x1809), [3, 0x03, 0x0A, 0x18, 3, 0x02, 0x09, 0x18], true),
        Row("octets of two neighbours", .service(0x1809), [5, 0x03, 0xFF, 0x09, 0x18, 0xFF], false),
        Row("octets in big-endian order", .service(0x1809), [3, 0x03, 0x18, 0x09], false),
        Row("half a service at the end", .service(0x1809), [4, 0x03, 0x0A, 0x18, 0x09], false),
        Row("service data", .service(0x1809), [4, 0x16, 0x09, 0x18, 0x55], true),
        Row("service data without data", .service(0x1809), [3, 0x16, 0x09, 0x18], true),
        Row("UUID within service data", .service(0x1809), [5, 0x16, 0x0A, 0x18, 0x09, 0x18], false),
        Row("half a UUID of service data", .service(0x1809), [2, 0x16, 0x09], false),
        Row("the same octets in a name", .service(0x1809), [3, 0x09, 0x09, 0x18], false),
        Row("solicited service", .service(0x1809), [3, 0x14, 0x09, 0x18], false),
        Row("list that claims too much", .service(0x1809), [9, 0x03, 0x09, 0x18], false),
        Row("after the early end", .service(0x1809), [0, 3, 0x03, 0x09, 0x18], false),
        Row("no data", .service(0x1809), [], false),
        Row(
            "text in a name", .nameContains(Array("BC".utf8)), [6, 0x09, 0x78, 0x42, 0x43, 0x35, 0x34], true),
        Row(
            "text at a name's end", .nameContains(Array("54".utf8)), [5, 0x08, 0x42, 0x43, 0x35, 0x34], true),
        Row("text in small letters", .nameContains(Array("bc".utf8)), [3, 0x09, 0x42, 0x43], true),
        Row("name in small letters", .nameContains(Array("BC".utf8)), [3, 0x09, 0x62, 0x63], true),
        Row(
            "text after a false start", .nameContains(Array("aab".utf8)), [5, 0x09, 0x61, 0x61, 0x61, 0x62],
            true),
        Row("text longer than the name", .nameContains(Array("BC5".utf8)), [3, 0x09, 0x42, 0x43], false),
        Row(
            "text over two structures", .nameContains(Array("BC".utf8)), [2, 0x08, 0x42, 2, 0x09, 0x43], false
        ),
        Row("no text", .nameContains([]), [3, 0x09, 0x42, 0x43], false),
        Row("text in an empty name", .nameContains(Array("B".utf8)), [1, 0x09], false),
        Row("text in other data", .nameContains(Array("BC".utf8)), [3, 0xFF, 0x42, 0x43], false),
        // 0x5B and 0x7B are no letters, although they are as far apart as those are.
        Row("characters beside the letters", .nameContains([0x7B]), [2, 0x09, 0x5B], false),
        Row("letters beyond ASCII", .nameContains([0xC3, 0xA4]), [3, 0x09, 0xC3, 0x84], false),
        Row("a length alone", .service(0x1809), [3], false),
        Row("a type alone", .service(0x1809), [1, 0x03], false),

        Row("incomplete list of long services", .longService(long), [17, 0x06] + longBytes, true),
        Row("complete list of long services", .longService(long), [17, 0x07] + longBytes, true),
        Row(
            "second of long services", .longService(long),
            [33, 0x07] + [UInt8](repeating: 0, count: 16) + longBytes, true),
        Row("long service data", .longService(long), [18, 0x21] + longBytes + [0x55], true),
        Row("long service cut short", .longService(long), [16, 0x07] + longBytes.dropLast(), false),
        Row("another long service", .longService(long), [17, 0x07] + longBytes.reversed(), false),

        Row("company", .company(0x0499), [5, 0xFF, 0x99, 0x04, 0x05, 0x12], true),
        Row("company in big-endian order", .company(0x0499), [3, 0xFF, 0x04, 0x99], false),
        Row("half a company", .company(0x0099), [2, 0xFF, 0x99], false),

        Row("complete name", .namePrefix(Array("BP".utf8)), [4, 0x09] + Array("BPM".utf8), true),
        Row("shortened name", .namePrefix(Array("BP".utf8)), [3, 0x08] + Array("BP".utf8), true),
        Row("shorter name", .namePrefix(Array("BPM".utf8)), [3, 0x09] + Array("BP".utf8), false),
        Row("other name", .namePrefix(Array("BP".utf8)), [4, 0x09] + Array("BLM".utf8), false),
        Row("prefix in the middle", .namePrefix(Array("PM".utf8)), [4, 0x09] + Array("BPM".utf8), false),
        Row("empty prefix", .namePrefix([]), [4, 0x09] + Array("BPM".utf8), false),
    ]

    @Test(arguments: table) func aMarkIsFoundWhereItStandsAndNowhereElse(row: Row) {
        #expect(AdvertisementFilter.matches([row.mark], bytes: row.data) == row.matches)
    }

    /// A filter looks for signs of all its models first, and must overlook no mark by that.
    @Test(arguments: table) func aFilterAdmitsWhatBearsAMarkOfOneOfItsModels(row: Row) {
        let filter = AdvertisementFilter(models: [[.company(0xFFFE)], [row.mark], [.service(0xFFFE)]])
        #expect(filter.admits(BluetoothAddress(value: 1), bytes: row.data) == row.matches)
    }

    @Test(arguments: 0...9) func eachListedAddressIsFoundAndNoOther(count: Int) {
        let listed = (0..<count).map { BluetoothAddress(value: UInt64($0) * 2 + 1) }
        let filter = AdvertisementFilter(addresses: Set(listed))
        for value in 0...UInt64(count * 2 + 1) {
            let address = BluetoothAddress(value: value)
            #expect(filter.admits(address, bytes: []) == listed.contains(address))
        }
    }

    @Test func allMarksOfAModelAreNeeded() {
        let filter = AdvertisementFilter(models: [[.service(0x1810), .namePrefix(Array("BP".utf8))]])
        let address = BluetoothAddress(value: 1)
        let service: [UInt8] = [3, 0x03, 0x10, 0x18]
        let name: [UInt8] = [4, 0x09] + Array("BPM".utf8)
        #expect(!filter.admits(address, bytes: service))
        #expect(!filter.admits(address, bytes: name))
        let both = name + service
        #expect(filter.admits(address, bytes: both))
    }

    @Test func anyModelSuffices() {
        let filter = AdvertisementFilter(models: [[.service(0x1810)], [.service(0x1809)]])
        let data: [UInt8] = [3, 0x03, 0x09, 0x18]
        #expect(filter.admits(BluetoothAddress(value: 1), bytes: data))
    }

    @Test func aListedAddressIsAdmittedWhateverItSends() {
        let listed = BluetoothAddress(value: 0xF1F1_F1F1_F1F1)
        let filter = AdvertisementFilter(addresses: [listed])
        let data: [UInt8] = [0xFF, 0x00, 0x13]
        #expect(filter.admits(listed, bytes: data))
        #expect(!filter.admits(BluetoothAddress(value: 0xF1F1_F1F1_F1F2), bytes: data))
    }

    @Test func whatListsNothingAdmitsNothing() {
        let data: [UInt8] = [3, 0x03, 0x09, 0x18]
        for filter in [AdvertisementFilter(), AdvertisementFilter(models: [[]])] {
            #expect(!filter.admits(BluetoothAddress(value: 1), bytes: data))
        }
    }

    @Test func randomBytesNeitherTrapNorPassForAnotherLength() {
        let marks: [Mark] = [
            .service(0x1809), .longService(Self.long), .company(0x0499), .namePrefix([0x42]),
            .nameContains([0x01, 0x02]),
        ]
        var random = SeededGenerator(seed: 7)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...64, using: &random)
            var data = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            // Mostly well-formed lengths and known types, so that the marks are looked at.
            for index in data.indices where index % 5 == 0 {
                data[index] = UInt8.random(in: 0...6, using: &random)
            }
            for index in data.indices where index % 5 == 1 {
                data[index] =
                    [0x02, 0x03, 0x06, 0x07, 0x08, 0x09, 0x16, 0x21, 0xFF].randomElement(using: &random) ?? 0
            }
            for mark in marks where AdvertisementFilter.matches([mark], bytes: data) {
                // What matched is there, in the mark's own octets.
                let octets: [UInt8] =
                    switch mark {
                    case .service: [0x09, 0x18]
                    case .longService: Self.longBytes
                    case .company: [0x99, 0x04]
                    case .namePrefix(let text), .nameContains(let text): text
                    }
                #expect(data.indices.contains { data[$0...].starts(with: octets) })
            }
        }
    }
}
