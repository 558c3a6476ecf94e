import FoundationEssentials
import TestSupport
import Testing

@testable import IngestProfiles
@testable import IngestRecords

/// One record at least of every kind, each member somewhere, by way of the decoders and the factory. They stand in
/// Tests/System/Webhook/records.ndjson, which is held against docs/record.schema.json there, and the first of each kind
/// that is delivered in docs/samples. `RECORDS=write` in the environment writes both anew.
@Suite struct RecordSamplesTests {
    private static let file = Repository.root + "/Tests/System/Webhook/records.ndjson"

    private static let folder = Repository.root + "/docs/samples"
    private static let isWriting = ProcessInfo.processInfo.environment["RECORDS"] == "write"

    private static let broadcasts = [
        "d2fc40000102ca0903bf13", "1d18229e43e507040b101301", "1b180226b20705040f0201ac018642",
        "95fe5020aa01a3bf2e3b342d580d1004b40095020a10013b",
    ]

    /// "HI", "LO" and a sample that was too small: 600, 20 and 97 mg/dL, capillary whole blood, finger; a strap on a
    /// table.
    private static let disowned: [(BluetoothUUID, [UInt8])] = [
        (0x2A18, [0x0A, 7, 0, 0xEA, 0x07, 11, 20, 9, 14, 57, 0x58, 0xB2, 0x11, 0x20, 0]),
        (0x2A18, [0x0A, 8, 0, 0xEA, 0x07, 11, 20, 9, 14, 57, 0x14, 0xB0, 0x11, 0x40, 0]),
        (0x2A18, [0x0A, 9, 0, 0xEA, 0x07, 11, 20, 9, 14, 57, 0x61, 0xB0, 0x11, 0x04, 0]),
        (0x2A37, [0x04, 0]),
    ]

    private func record(
        _ reading: Reading?, _ raw: RawPayload, simulated: Bool = false, offset: Int? = -3,
        way: RecordFactory.Circumstances.Way = .live, device: DeviceBlock = full
    ) -> Record {
        RecordFactory(
            gateway: "ward-3-box-1", zone: .utc, bootID: "3b0f7c1e-8f0e-4c0a-9d37-5b1a6f0c2d11",
            isSimulated: simulated
        ).make(
            reading, raw: raw,
            reception: .init(
                instant: MonotonicInstant(nanoseconds: 734_512_000_000),
                wallNanoseconds: 1_795_166_104_000_000_000),
            subjects: SampleCuff.entry(subject: "patient-17").subjects, device: device,
            circumstances: RecordFactory.Circumstances(
                way: way,
                clock: offset.map { ClockObservation(offsetSeconds: $0, zoneOffsetSeconds: 0) },
                named: Profiles.all.lazy.compactMap { $0.name(of: raw) }.first { $0 != raw })
        ).record
    }

    private static let full = DeviceBlock(
        peripheralID: 1001, address: SampleCuff.address, alias: "kitchen \"cuff\"", manufacturer: "ACME",
        model: "BP-1", serial: "0042", firmware: "1.0", hardware: "rev C", software: "3.4",
        systemID: "123456FFFE9ABCDE",
        udi: UniqueDeviceIdentifier(
            label: "(01)10614141777778(21)0042", deviceIdentifier: "10614141777778", issuer: "1.3.160",
            authority: "1.2.840.10004.1.1.1.0.0.1.0"), battery: 90)

    /// What a device gives when its memory is asked for: its clock is not read for that.
    private static let stored: Set<BluetoothUUID> = [
        0x2A18, 0x2A34, 0x2B36, 0x2BDD, OneTouchVerio.notification,
    ]

    private func samples() throws -> [Record] {
        var records: [Record] = []
        for (characteristic, bytes) in ValidPayloads.all {
            for part in try Profiles.records(in: bytes, of: characteristic) {
                let reading = try Profiles.decode(characteristic: characteristic, bytes: part)
                // A charge is no record: it stands in `device` of others.
                guard reading.kind.isDelivered, reading.kind != .battery else { continue }
                let raw = RawPayload(characteristic: characteristic, bytes: part)
                let isStored = Self.stored.contains(characteristic)
                records.append(
                    isStored
                        ? record(reading, raw, offset: nil, way: .stored(isFirstTransfer: false))
                        : record(reading, raw))
            }
        }
        for hex in Self.broadcasts {
            let bytes = try #require(Hex.bytes(hex))
            let address = try #require(BluetoothAddress("58:2D:34:3B:2E:BF"))
            let reading = try BroadcastFormats.decode(bytes, key: nil, address: address)
            let device = DeviceBlock(
                peripheralID: [.bthome: 1008, .miScale: 1009][reading.kind] ?? 1010, address: address,
                alias: nil,
                battery: reading.kind == .mibeacon ? 59 : nil)
            records.append(
                record(reading, RawPayload(characteristic: nil, bytes: bytes), offset: nil, device: device))
        }
        // kPa; 18.4, 11.3, not a number; nothing is known of the device
        let sparse: [UInt8] = [0x01, 0xB8, 0xF0, 0x71, 0xF0, 0xFF, 0x07]
        let raw = RawPayload(characteristic: 0x2A35, bytes: sparse)
        let reading = try Profiles.decode(characteristic: 0x2A35, bytes: sparse)
        let bare = DeviceBlock(peripheralID: 1001, address: SampleCuff.address, alias: nil)
        records.append(record(reading, raw, simulated: true, offset: nil, device: bare))
        records.append(record(reading, raw, offset: nil, way: .stored(isFirstTransfer: true)))
        records[records.count - 1].related = records[0].id
        let broken: [UInt8] = [0x1E, 0x8A, 0x00]
        records.append(record(nil, RawPayload(characteristic: 0x2A35, bytes: broken)))
        // class numeric, 12 bytes; flags: type; a code that stands for no kind; /min; 72
        let observation: [UInt8] = [1, 12, 0, 1, 0, 0x00, 0x80, 2, 0, 0xA0, 0x0A, 72, 0, 0, 0]
        let observed = try Profiles.decode(characteristic: 0x2B8B, bytes: observation)
        let payload = RawPayload(characteristic: 0x2B8B, bytes: observation)
        records.append(record(observed, payload, offset: nil, device: bare))
        // 36.60, without a date; docs/destinations/webhook.md shows this record
        let fever: [UInt8] = [0, 0x4C, 0x0E, 0, 0xFE]
        let thermometer = DeviceBlock(peripheralID: 1002, address: SampleCuff.address, alias: nil)
        records.append(
            record(
                try Profiles.decode(characteristic: 0x2A1C, bytes: fever),
                RawPayload(characteristic: 0x2A1C, bytes: fever), offset: nil, device: thermometer))
        for (characteristic, bytes) in Self.disowned {
            let reading = try Profiles.decode(characteristic: characteristic, bytes: bytes)
            let raw = RawPayload(characteristic: characteristic, bytes: bytes)
            records.append(
                Self.stored.contains(characteristic)
                    ? record(reading, raw, offset: nil, way: .stored(isFirstTransfer: false))
                    : record(reading, raw))
        }
        return records
    }

    /// What no peripheral sent: two by hand, one of each kind that only imports have.
    private func entries() throws -> [EnteredRecord] {
        try ([SampleEntries.glucose] + SampleEntries.imported + [SampleEntries.cholesterol]).map {
            try #require(EnteredRecord($0, gateway: "ward-3-box-1", received: 1_795_166_104))
        }
    }

    private func all() throws -> [(kind: RecordKind, json: String)] {
        try samples().map { ($0.kind, $0.json) } + entries().map { ($0.kind, $0.body) }
    }

    @Test func theFileHasTheRecordsAsTheyAreWritten() throws {
        let lines = try all().map { $0.json + "\n" }.joined()
        if Self.isWriting {
            try lines.write(toFile: Self.file, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOfFile: Self.file, encoding: .utf8) == lines)
    }

    @Test func eachKindThatIsDeliveredHasASampleOfItsOwn() throws {
        let first = Dictionary(
            try all().filter(\.kind.isDelivered).map { ("\($0.kind.rawValue).json", $0.json + "\n") },
            uniquingKeysWith: { first, _ in first })
        if Self.isWriting {
            try FileManager.default.createDirectory(
                atPath: Self.folder, withIntermediateDirectories: true)
            for (name, json) in first {
                try json.write(toFile: "\(Self.folder)/\(name)", atomically: true, encoding: .utf8)
            }
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder)
        let found = try names.map {
            ($0, try String(contentsOfFile: "\(Self.folder)/\($0)", encoding: .utf8))
        }
        #expect(Dictionary(uniqueKeysWithValues: found) == first)
    }

    @Test func everyKindThatIsARecordIsInTheFile() throws {
        let kinds = Set(try all().map(\.kind))
        #expect(
            kinds == Set(RecordKind.allCases.filter { $0.isDelivered && $0 != .battery || $0 == .undecoded }))
    }
}
