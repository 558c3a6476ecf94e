import Synchronization
import TestSupport
import Testing

@testable import IngestBluetooth
@testable import IngestCore
@testable import IngestEvents
@testable import IngestProfiles
@testable import IngestReading
@testable import IngestRecords
@testable import IngestStorage

/// What a session keeps of a device that sends without end.
@Suite struct LinkBoundsTests {
    /// The longest value of the longest PDU that is taken, less its header.
    private static let longest = 508

    /// A meter that reports records that nobody can decode, each another, until it is told to stop.
    private actor EndlessMeter: PeripheralLink {
        nonisolated let device = DeviceAddress.device(1)
        let count: Int
        private(set) var sent = 0
        private(set) var writes: [[UInt8]] = []
        private var end: LinkEnd?
        private var look: @Sendable () async -> Void = {}

        /// - Parameter count: after so many values it says that this was all.
        init(_ count: Int) {
            self.count = count
        }

        /// Has `look` called before every 100th value.
        func onValues(_ look: @escaping @Sendable () async -> Void) {
            self.look = look
        }

        var layout: AttributeLayout { .unknown }
        var ended: MonotonicInstant? { end.map { _ in .at(0) } }
        var pduCount: Int { sent }

        func has(_ characteristic: BluetoothUUID, in service: BluetoothUUID) -> Bool {
            [0x2A18, 0x2A52].contains(characteristic)
        }

        func read(_ characteristic: BluetoothUUID, in service: BluetoothUUID) throws(LinkError) -> [UInt8] {
            throw .missing(characteristic)
        }

        func write(
            _ value: [UInt8], to characteristic: BluetoothUUID, in service: BluetoothUUID
        ) throws(LinkError) {
            if let end { throw .ended(end) }
            writes.append(value)
        }

        func writeWithoutResponse(
            _ value: [UInt8], to characteristic: BluetoothUUID, in service: BluetoothUUID
        ) throws(LinkError) {}
        func subscribe(to characteristic: BluetoothUUID, in service: BluetoothUUID) throws(LinkError) {}
        func ensureMTU(_ length: Int) throws(LinkError) {}
        func confirm(_ value: ReceivedValue) throws(LinkError) {}
        func checkDatabaseHash() throws(LinkError) {}
        func close() { end = .byGateway }

        func nextValue(within timeout: Duration) async throws(LinkError) -> ReceivedValue? {
            if let end { throw .ended(end) }
            guard !writes.isEmpty, sent <= count else { return nil }
            sent += 1
            if sent % 100 == 0 { await look() }
            if sent > count { return value(0x2A52, [0x06, 0x00, 0x01, 0x01], isIndication: true) }
            // The flags promise more than there is.
            var bytes = [UInt8](repeating: 0xFF, count: LinkBoundsTests.longest)
            for index in 0..<4 {
                bytes[bytes.count - 1 - index] = UInt8(truncatingIfNeeded: sent >> (8 * index))
            }
            return value(0x2A18, bytes, isIndication: false)
        }

        private func value(
            _ characteristic: BluetoothUUID, _ bytes: [UInt8], isIndication: Bool
        ) -> ReceivedValue {
            ReceivedValue(
                characteristic: characteristic, value: bytes, isIndication: isIndication, received: .at(0))
        }
    }

    /// A queue that counts.
    private final class CountingStore: RecordStore, DeviceStore {
        struct State {
            var committed = 0
            var frozen = 0
            var memory: DeviceMemory?
        }

        let isKnown: Bool
        let state = Mutex(State())

        /// - Parameter isKnown: whether it has all records already.
        init(isKnown: Bool) {
            self.isKnown = isKnown
        }

        func commit(_ transaction: QueueTransaction) -> [CommitOutcome] {
            state.withLock { $0.committed += isKnown ? 0 : transaction.submissions.count }
            return transaction.submissions.map {
                isKnown ? .duplicate($0.record.id) : .committed($0.record.id)
            }
        }

        func markConfirmed(_ id: RecordID) {}
        func freeze(_ records: [Record]) { state.withLock { $0.frozen += records.count } }
        func recall(_ device: DeviceAddress) -> DeviceMemory? { nil }
        func remember(_ memory: DeviceMemory, of device: DeviceAddress) {
            state.withLock { $0.memory = memory }
        }
        func pendingPackets(of device: DeviceAddress) -> [PendingPackets] { [] }
        func rememberedBonds() -> Set<DeviceAddress> { [] }
        func rememberedStrangers() -> [DeviceAddress] { [] }
        func spentPairings() -> Set<String> { [] }
        func setPairing(_ key: String, isSpent: Bool) {}
        func record(numbered: Int, kind: RecordKind, of device: BluetoothAddress) -> StoredPayload? { nil }
        func firstSeen(of entries: [AllowedPeripheral]) -> [FirstSeen] { [] }
        func noteFirstSeen(_ entries: [AllowedPeripheral]) {}
    }

    private struct Kept: Sendable {
        var records = 0
        var payloadBytes = 0
        var digests = 0
    }

    /// Reads a meter of so many values.
    private func read(
        _ count: Int, _ store: CountingStore, memory: DeviceMemory = DeviceMemory()
    ) async -> (outcome: ReadSession.Outcome, meter: EndlessMeter, most: Kept) {
        let sink = RecordingSink()
        let meter = EndlessMeter(count)
        let session = ReadSession(
            environment: .init(
                store: store, devices: store, events: EventLog(sink: sink), clock: DrivenClock(),
                factory: RecordFactory(gateway: "box", zone: .utc, bootID: "boot-1", isSimulated: false),
                log: .silent),
            target: .init(
                entry: SampleCuff.entry(address: nil), device: .device(1), profile: .glucose,
                memory: memory, isRemembered: false, firstSeen: FirstSeen(), timing: PassiveTiming()),
            link: meter)
        let most = Mutex(Kept())
        await meter.onValues {
            let kept = await session.kept
            most.withLock { most in
                most.records = max(most.records, kept.records)
                most.payloadBytes = max(most.payloadBytes, kept.octets)
                most.digests = max(most.digests, kept.payloads)
            }
        }
        let outcome = await session.run()
        return (outcome, meter, most.withLock { $0 })
    }

    @Test func aMeterWithoutEndIsAbortedWhenItsDayIsFull() async throws {
        let store = CountingStore(isKnown: false)
        let (outcome, meter, most) = await read(80_000, store)
        #expect(outcome == .dayIsFull(until: MonotonicInstant.at(86_400)))
        // Asked for all; aborted.
        #expect(await meter.writes == [[0x01, 0x01], [0x03, 0x00]])
        let (committed, frozen, memory) = store.state.withLock { ($0.committed, $0.frozen, $0.memory) }
        // A record takes its payload three times, once in bytes and twice as digits, and some hundred bytes.
        #expect(committed > 6_000)
        #expect(committed < (16 << 20) / (3 * Self.longest))
        #expect(frozen == committed)
        // What waited for its release, with the group that went over the bound.
        #expect(most.payloadBytes <= UnreleasedRecords.mostBytes + 100 * Self.longest)
        #expect(most.records <= UnreleasedRecords.most)
        #expect(memory?.allowance?.isSpent == true)
        #expect(memory?.allowance?.records == committed)
        #expect(memory?.lastCommit != nil)
        // The mark does not move before a transfer has ended.
        #expect(memory?.storedRecords == nil)
    }

    @Test func whatIsKnownOfEqualPayloadsTakesTheSameRoomForEach() async throws {
        // Of records that are known all come, because they take nothing in the queue.
        let store = CountingStore(isKnown: true)
        let (outcome, meter, most) = await read(6_000, store)
        #expect(outcome == .succeeded)
        #expect(await meter.sent == 6_001)
        #expect(most.digests >= 5_900)
        #expect(most.records == 0)
        #expect(MemoryLayout<PayloadDigest>.size == 16)
        #expect(store.state.withLock { $0.memory?.allowance } == nil)
    }

    @Test func aDayThatIsSpentGoesOnFromWhereItWas() async throws {
        let store = CountingStore(isKnown: false)
        var memory = DeviceMemory()
        var day = DailyAllowance(bootID: "boot-1", at: .at(-900))
        for _ in 0..<49_950 { day.committed(bytes: 0) }
        memory.allowance = day
        let (outcome, _, _) = await read(1_000, store, memory: memory)
        #expect(outcome == .dayIsFull(until: MonotonicInstant.at(86_400 - 900)))
        #expect(store.state.withLock { $0.committed } <= 50)
    }

    @Test(arguments: [true, false])
    func ofAStrangerThatGivesNoRecordTheBondAloneIsRemembered(isBonded: Bool) async {
        let store = CountingStore(isKnown: false)
        var memory = DeviceMemory(serial: "M-1")
        memory.bondedAdapter = isBonded ? BluetoothAddress(value: 1) : nil
        let (outcome, _, _) = await read(0, store, memory: memory)
        #expect(outcome == .succeeded)
        #expect(store.state.withLock { $0.memory } == (isBonded ? memory.bondAlone : nil))
    }
}
