import TestSupport
import Testing

@testable import IngestCore
@testable import IngestProfiles
@testable import IngestRecords

/// An id for each kind of reading and each way in which it comes. They are frozen: a backend knows a record by its id,
/// and a record that comes again under another id would be there twice. Whoever changes a rule has to look for the id under
/// the previous one before each commit.
///
/// The ids come from Python, by the rules of docs/records.md: `uuid.uuid5` of the text that the document gives for each.
@Suite struct GoldenIDTests {
    private enum Way: Sendable {
        case live, stored, broadcast

        var circumstance: RecordFactory.Circumstances.Way {
            self == .stored ? .stored(isFirstTransfer: false) : .live
        }
    }

    private struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let profile: Profile
        let characteristic: String
        let packets: [String]
        let way: Way
        let base: DeviceTime?
        let clockStands: Bool
        let id: String

        init(
            _ name: String, _ profile: Profile, _ characteristic: String, _ hex: String, _ way: Way,
            base: DeviceTime?,
            clockStands: Bool, _ id: String
        ) {
            testDescription = name
            self.profile = profile
            self.characteristic = characteristic
            packets = hex.split(separator: "+").map(String.init)
            self.way = way
            self.base = base
            self.clockStands = clockStands
            self.id = id
        }
    }

    private static let date = DeviceTime(year: 2026, month: 11, day: 20, hours: 9, minutes: 14, seconds: 57)

    private static let rows = [
        Row(
            "blood pressure, dated", .bloodPressure, "2A35", "1e8a0055006600e807060f11111b4800010400", .live,
            base: nil, clockStands: false, "212439d9-1b6a-5d07-8092-9420fec8b57f"),
        Row(
            "blood pressure, undated", .bloodPressure, "2A35", "00780050006000", .live, base: nil,
            clockStands: false, "0b281b05-4456-5b64-bf8f-ac054f6bbf41"),
        Row(
            "blood pressure, of 2000", .bloodPressure, "2A35", "02780050006000d0070101000000", .live,
            base: nil, clockStands: false, "8f59e330-de8d-5e44-9a7c-b4552c4352b1"),
        Row(
            "blood pressure, of a clock that stands", .bloodPressure, "2A35", "02780050006000e3070101000000",
            .live, base: nil, clockStands: true, "91917b57-67c7-59e0-9ee9-3baa32f11a9f"),
        Row(
            "blood pressure, of a date that does not exist", .bloodPressure, "2A35",
            "02780050006000ea07021e090e39", .live, base: nil, clockStands: false,
            "3a613c36-8a38-5030-b231-58c434bd7c36"),
        Row(
            "blood pressure, undecodable", .bloodPressure, "2A35", "1e", .live, base: nil, clockStands: false,
            "ca9e2e4a-8303-5a33-b2d7-64ad3012876b"),
        Row(
            "enhanced blood pressure, dated", .bloodPressure, "2B34", "428a005500660011cc9232", .live,
            base: nil,
            clockStands: false, "284d9daa-5feb-58a7-8662-1612f67e0352"),
        Row(
            "enhanced blood pressure, stored, in two segments", .bloodPressure, "2B36",
            "010700342b428a0055+0600660011cc9232", .stored, base: nil, clockStands: false,
            "284d9daa-5feb-58a7-8662-1612f67e0352"),
        Row(
            "enhanced blood pressure, undated", .bloodPressure, "2B34", "008a0055006600", .live, base: nil,
            clockStands: false, "1215de53-2260-5738-9713-461f7bad74ff"),
        Row(
            "enhanced blood pressure, stored, undated", .bloodPressure, "2B36", "030700342b008a0055006600",
            .stored, base: nil, clockStands: false, "ce83534a-2de1-5f33-8369-0520cf28b2cd"),
        Row(
            "temperature, dated", .thermometer, "2A1C", "02842600feea070b14090e39", .live, base: nil,
            clockStands: false, "aa4d577d-feb9-59a6-a2c3-d352d6dcaf9c"),
        Row(
            "temperature, undated", .thermometer, "2A1C", "006e0100ff", .live, base: nil, clockStands: false,
            "b3759b5d-1cc6-54d5-b9a4-864064583618"),
        Row(
            "glucose, stored", .glucose, "2A18", "1b0700ea070b14090e39fbff69b0120100", .stored, base: nil,
            clockStands: false, "479a0846-f679-5f41-9318-6575a19634c2"),
        Row(
            "glucose, live", .glucose, "2A18", "1b0700ea070b14090e39fbff69b0120100", .live, base: nil,
            clockStands: false, "479a0846-f679-5f41-9318-6575a19634c2"),
        Row(
            "glucose, whose meal is not marked yet", .glucose, "2A18", "0b0700ea070b14090e39fbff69b0120100",
            .stored, base: nil, clockStands: false, "479a0846-f679-5f41-9318-6575a19634c2"),
        Row(
            "glucose, stored, of 2000", .glucose, "2A18", "030700d0070101000000000069b012", .stored,
            base: nil, clockStands: false, "e2bf070f-2297-5c86-a323-93781f5c3ba9"),
        Row(
            "glucose, live, of 2000", .glucose, "2A18", "030700d0070101000000000069b012", .live, base: nil,
            clockStands: false, "e2bf070f-2297-5c86-a323-93781f5c3ba9"),
        Row(
            "glucose, stored, undated", .glucose, "2A18", "03070000000000000000000069b012", .stored,
            base: nil, clockStands: false, "f09ec162-3824-589c-8c43-d2337f08e63e"),
        Row(
            "glucose context, of a dated glucose", .glucose, "2A34", "02070001", .stored, base: date,
            clockStands: false, "ba26773a-8120-5229-95a2-2e56e35f1c91"),
        Row(
            "glucose context, alone", .glucose, "2A34", "02070001", .stored, base: nil, clockStands: false,
            "9466a889-777b-5fd2-b5dc-7094d79b7dbc"),
        Row(
            "continuous glucose", .continuousGlucose, "2AA7", "060078000500", .stored, base: date,
            clockStands: false, "e98daf54-1c93-5afb-a5ce-96645ca2320d"),
        Row(
            "continuous glucose, live", .continuousGlucose, "2AA7", "060078000500", .live, base: date,
            clockStands: false, "e98daf54-1c93-5afb-a5ce-96645ca2320d"),
        Row(
            "continuous glucose, of a session without a start", .continuousGlucose, "2AA7", "060078000500",
            .stored, base: nil, clockStands: false, "cad71428-860a-5377-af4b-26ed1dd8b8f1"),
        Row(
            "weight, dated", .weightScale, "2A9D", "02b036ea070b14090e39", .live, base: nil,
            clockStands: false, "b65f1da1-5cf1-5345-9a8e-3d44311dc610"),
        Row(
            "weight, undated", .weightScale, "2A9D", "00b036", .live, base: nil, clockStands: false,
            "a499c905-6fe9-56dd-ad98-7117158d3d9c"),
        Row(
            "body composition, dated", .bodyComposition, "2A9C", "0200c800ea070b14090e39", .live, base: nil,
            clockStands: false, "0f907999-a783-5bb1-be6c-559c25b96756"),
        Row(
            "body composition in two packets", .bodyComposition, "2A9C",
            "0210c800ea070b14090e39+0014c800b036", .live, base: nil, clockStands: false,
            "d6d5d985-26ec-5d57-90df-9966234073ee"),
        Row(
            "spot check, live", .pulseOximeter, "2A5E", "0361004800ea070b14090e398001", .live, base: nil,
            clockStands: false, "d3accbd8-0b6b-5224-a4e1-6446f27b8543"),
        Row(
            "spot check, stored", .pulseOximeter, "2A5E", "0361004800ea070b14090e398003", .stored, base: nil,
            clockStands: false, "d3accbd8-0b6b-5224-a4e1-6446f27b8543"),
        Row(
            "spot check, stored, undated", .pulseOximeter, "2A5E", "02610048008003", .stored, base: nil,
            clockStands: false, "c344f775-5713-55bd-94a8-2b9fe535bef2"),
        Row(
            "oximeter, continuous", .pulseOximeter, "2A5F", "0061004800", .live, base: nil,
            clockStands: false, "259a345a-7ffd-591a-a186-ac677cc54ef7"),
        Row(
            "heart rate", .heartRate, "2A37", "0048", .live, base: nil, clockStands: false,
            "7bc47c52-d499-5055-b86d-e46ad16fe046"),
        Row(
            "health observation, live", .genericHealthSensor, "2B8B",
            "011b006300b84b020022729d2b290000060001013c4c0200200262000000", .live, base: nil,
            clockStands: false, "b5c9605d-528d-57fe-b875-b7765a8dd954"),
        Row(
            "health observation, stored", .genericHealthSensor, "2BDD",
            "07000000011b006300b84b020022729d2b290000060001013c4c0200200262000000", .stored, base: nil,
            clockStands: false, "b5c9605d-528d-57fe-b875-b7765a8dd954"),
        Row(
            "health observation, live, undated", .genericHealthSensor, "2B8B",
            "010c00010082410200a00a48000000", .live, base: nil, clockStands: false,
            "b0001b86-2a76-5725-9fa8-17594b6b2db1"),
        Row(
            "health observation, stored, undated", .genericHealthSensor, "2BDD",
            "07000000010c00010082410200a00a48000000", .stored, base: nil, clockStands: false,
            "b93ccc08-c137-5922-a085-928a25e875ee"),
        Row(
            "OneTouch", .oneTouchVerio, "AF9DF7A3E59511E396B40002A5D5C51B", "006cf02d69000000000000", .stored,
            base: nil, clockStands: false, "e85acf26-767b-53f8-8a9c-3da21ac5033b"),
        Row(
            "BTHome", .bthome, "ADV", "d2fc4000010161025409", .broadcast, base: nil, clockStands: false,
            "5ece9561-9742-5911-8240-d8d946ea6f75"),
        Row(
            "Mi scale", .miScale, "ADV", "1d1822b036ea070b14090e39", .broadcast, base: nil,
            clockStands: false, "dfa243fc-cc08-5fd7-bea7-366784487ce2"),
        Row(
            "MiBeacon", .mibeacon, "ADV", "95fe5020aa01a3f1f1f1f1f1f10d1004b4009502", .broadcast, base: nil,
            clockStands: false, "1daad620-9729-5b33-ab7a-54799b7c762e"),
    ]

    @Test(arguments: rows)
    private func aReadingHasTheIDThatItAlwaysHad(row: Row) throws {
        let address = try #require(BluetoothAddress("F1:F1:F1:F1:F1:F1"))
        let packets = try row.packets.map { try #require(Hex.bytes($0)) }
        let characteristic = row.way == .broadcast ? nil : BluetoothUUID(row.characteristic)
        var bytes = packets[0]
        var reading: Reading?
        if let characteristic {
            if case .complete(let whole)? = try? row.profile.assemble(packets, of: characteristic) {
                reading = whole
            }
            bytes = row.profile.join(packets, of: characteristic)
        } else {
            reading = try BroadcastFormats.decode(bytes, key: nil, address: address)
        }
        if row.base != nil { reading?.deviceTime = row.base }
        let raw = RawPayload(characteristic: characteristic, bytes: bytes)
        var dateNames = true
        // The rule of dates is for live readings that nothing numbers.
        if row.way == .live, let characteristic, let reading, reading.hasDate, reading.sequence == nil,
            row.base == nil
        {
            var dates = DeviceDates()
            if row.clockStands {
                var earlier = reading
                earlier.measurements[0].value = .exact(ExactDecimal(coefficient: 1, exponent: 0))
                _ = dates.name(earlier, of: characteristic)
            }
            dateNames = dates.name(reading, of: characteristic)
        }
        let factory = RecordFactory(
            gateway: "box", zone: .utc, bootID: "3b0f7c1e-8f0e-4c0a-9d37-5b1a6f0c2d11", isSimulated: false)
        let product = factory.make(
            reading, raw: raw,
            reception: .init(
                instant: MonotonicInstant(nanoseconds: 734_512_000_000),
                wallNanoseconds: 1_795_166_104_000_000_000),
            subjects: SampleCuff.entry().subjects,
            device: DeviceBlock(peripheralID: 1001, address: address, alias: nil),
            circumstances: .init(
                way: row.way.circumstance, base: row.base, dateNames: dateNames,
                named: row.profile.name(of: raw)))
        #expect(product.record.id.text == row.id)
    }

    /// Each kind of reading that a device gives is among them.
    @Test func eachKindIsThere() throws {
        let profiles = Set(Self.rows.map(\.profile.name))
        #expect(profiles == Profiles.names)
    }
}
