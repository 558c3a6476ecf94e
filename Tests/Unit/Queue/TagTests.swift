import Crypto
import FoundationEssentials
import GRDB
import QueueTestSupport
import Testing

@testable import IngestEvents
@testable import IngestQueue
@testable import IngestRecords

/// What stands for a record in events, and for a device in the metrics.
@Suite struct TagTests {
    private static let id = "212439d9-1b6a-5d07-8092-9420fec8b57f"

    private final class Output: EntryOutput {
        let sink = RecordingSink()

        func write(_ entry: JournalEntry) -> Bool {
            sink.write(entry)
            return true
        }
    }

    private func key(_ bytes: [UInt8] = Array(0..<32)) throws -> TagKey { try #require(TagKey(bytes)) }

    private func written(_ entry: JournalEntry, _ key: TagKey) async -> JournalEntry {
        let output = Output()
        _ = await TaggingSink(output, key: key, clock: DrivenClock()).deliver([entry])
        return output.sink.entries[0]
    }

    /// By Python: hmac.new(bytes(range(32)), id, hashlib.sha256).hexdigest()
    @Test func aTagIsTheBeginningOfAKeyedHash() throws {
        let key = try key()
        #expect(key.tag(ofRecord: Self.id) == "f3a666602a585c57")
        #expect(key.tag(ofDevice: "F1:F1:F1:F1:F1:F1") == "ea8ca072")
        #expect(TagKey.random() != TagKey.random())
        #expect("\(key)" == "<redacted>" && String(reflecting: key) == "<redacted>")
        for count in [0, 31, 33] { #expect(TagKey([UInt8](repeating: 1, count: count)) == nil) }
    }

    @Test(arguments: [
        ("f3a666602a585c57", true), ("f3a666602a585c5", false), ("F3A666602A585C57", false),
        ("212439d9-1b6a-5d", false), ("f3a666602a585c577", false), ("g3a666602a585c57", false),
    ])
    func aTagIsToldFromTheBeginningOfAnId(text: String, isTag: Bool) {
        #expect(TagKey.isRecordTag(text) == isTag)
    }

    @Test func noEventCarriesTheIdOfARecord() async throws {
        let key = try key()
        for event in SampleEvents.all {
            let before = event.entry(sequence: 7)
            let after = await written(before, key)
            #expect(after[.recordID] == before[.recordID].map { key.tag(ofRecord: $0) })
            // Nothing else of it is another than before.
            let rest = JournalEntry(
                name: before.name, messageID: before.messageID, priority: before.priority,
                message: before.message,
                fields: before.fields.map { ($0.0, $0.0 == .recordID ? after[.recordID] ?? "" : $0.1) })
            #expect(after == rest)
        }
        #expect(SampleEvents.all.contains { $0.entry()[.recordID] != nil })
    }

    /// An outbox is read by the program that comes next.
    @Test func whatAnEarlierProgramLeftInTheOutboxIsTagged() async throws {
        try await withQueue { store in
            let error = "what decides the time of record \(Self.id) cannot be read"
            let old = Event.storeError(recordID: RecordID(text: Self.id), error: error).entry(sequence: 1)
            try await store.database.write {
                try $0.execute(
                    sql: "INSERT INTO outbox (sequence, entry) VALUES (1, ?)", arguments: [old.stored])
            }
            let output = Output()
            try await EventOutbox(
                store: store.outbox,
                sink: TaggingSink(output, key: try key(), clock: store.database.clock),
                clock: store.database.clock
            )
            .drain()
            let entry = try #require(output.sink.entries.first)
            #expect(entry[.recordID] == "f3a666602a585c57")
            #expect(entry[.error] == "what decides the time of record f3a666602a585c57 cannot be read")
            #expect(!entry.message.contains(Self.id))
        }
    }

    // MARK: - The attack

    /// What an attacker can make of a name without the key: the id, hashes of it, and tags under keys that can be
    /// guessed.
    private func guesses(_ id: String, _ keys: [SymmetricKey]) -> [String] {
        let bytes = Array(id.utf8)
        let hashes = keys.map {
            Hex.text(Array(HMAC<SHA256>.authenticationCode(for: bytes, using: $0).prefix(8)))
        }
        return [id, String(id.prefix(16)), String(id.filter { $0 != "-" }.prefix(16))]
            + [Hex.text(Array(SHA256.hash(data: bytes).prefix(8)))] + hashes
    }

    private func guessedKeys(_ secrets: String...) -> [SymmetricKey] {
        [SymmetricKey(data: [UInt8](repeating: 0, count: 32)), SymmetricKey(data: Array("ingestd".utf8))]
            + secrets.map { SymmetricKey(data: Array($0.utf8)) }
    }

    /// The address is on the cuff and in the air, the minute in the journal: what is left to try are the two numbers.
    @Test func theValuesOfACuffCannotBeFoundFromItsEvent() async throws {
        let address = try #require(BluetoothAddress("F1:F1:F1:F1:F1:F1"))
        func id(_ systolic: UInt8, _ diastolic: UInt8) -> RecordID {
            let bytes: [UInt8] = [0x02, systolic, 0, diastolic, 0, 0xFF, 0x07, 0xEA, 0x07, 11, 20, 9, 15, 0]
            return RecordIdentity.id(
                address: address, raw: RawPayload(characteristic: 0x2A35, bytes: bytes),
                distinction: .dateInPayload)
        }
        let key = TagKey.random()
        let cuff = PeripheralReference(peripheralID: 1001, alias: "kitchen cuff")
        let event = Event.read(recordID: id(222, 111), kind: .bloodPressure, cuff).entry(sequence: 4)
        let entry = await written(event, key)
        let told = Set(entry.fields.map(\.1) + [entry.message])
        let keys = guessedKeys("\(address)", "kitchen cuff", "1001")
        let stride = ProofSize.stride(7)
        var (isNamed, isTagged) = (false, false)
        for systolic in UInt8(60)...250 {
            for diastolic in Swift.stride(from: UInt8(111) % UInt8(stride), through: 180, by: stride) {
                let id = id(systolic, diastolic)
                #expect(told.isDisjoint(with: guesses(id.text, keys)), "\(systolic)/\(diastolic)")
                // The attack works where the id is told, and with the key: the right values are among those tried.
                isNamed = isNamed || event[.recordID] == id.text
                isTagged = isTagged || entry[.recordID] == key.tag(ofRecord: id.text)
            }
        }
        #expect(isNamed && isTagged)
    }

    @Test func theValueAndThePersonOfAnEntryCannotBeFoundFromItsEvent() async throws {
        let form = try #require(EntryForm.named("glucose"))
        func id(_ tenths: Int, _ subject: String) throws -> RecordID {
            let entry = RecordEntry.manual(
                form, try form.read("\(tenths / 10).\(tenths % 10)", unit: "mmol/L", pulse: nil),
                at: EntryTime(instant: 1_795_166_100, utcOffset: 0), isTimeWritten: true, subject: subject)
            return entry.id(gateway: "box")
        }
        let key = TagKey.random()
        let event = Event.read(recordID: try id(113, "patient-17"), kind: .glucose, .entry).entry(sequence: 4)
        let entry = await written(event, key)
        let told = Set(entry.fields.map(\.1) + [entry.message])
        let keys = guessedKeys("box", "glucose")
        var (isNamed, isTagged) = (false, false)
        for tenths in 10...330 {
            for subject in ["patient-16", "patient-17", "patient-18"] {
                let id = try id(tenths, subject)
                #expect(told.isDisjoint(with: guesses(id.text, keys)), "\(tenths) of \(subject)")
                isNamed = isNamed || event[.recordID] == id.text
                isTagged = isTagged || entry[.recordID] == key.tag(ofRecord: id.text)
            }
        }
        #expect(isNamed && isTagged)
    }
}
