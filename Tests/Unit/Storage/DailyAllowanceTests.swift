import FoundationEssentials
import TestSupport
import Testing

@testable import IngestBluetooth
@testable import IngestOperator
@testable import IngestReading
@testable import IngestStorage
@testable import IngestSupervision

@Suite struct DailyAllowanceTests {
    private static let start = MonotonicInstant.at(0)

    /// A day in which so many records came, of so many bytes in all.
    private static func day(_ records: Int, bytes: Int = 0) -> DailyAllowance {
        var day = DailyAllowance(bootID: "boot-1", at: start)
        for _ in 0..<records { day.committed(bytes: 0) }
        if bytes > 0 { day.committed(bytes: bytes) }
        return day
    }

    @Test(
        arguments: [
            // Records and bytes before; records and bytes that are about to come; whether they may.
            (0, 0, 50_000, 0, true), (0, 0, 50_001, 0, false), (49_900, 0, 100, 100, true),
            (49_901, 0, 100, 100, false), (0, 16 << 20, 1, 1, false), (0, (16 << 20) - 1, 1, 1, true),
            // What brings no record may always come.
            (50_000, 0, 0, 0, true),
        ])
    func moreThanADeviceMayGiveInADayIsTurnedAway(
        records: Int, bytes: Int, more: Int, moreBytes: Int, admits: Bool
    ) {
        var day = Self.day(records, bytes: bytes)
        let mayCome = day.admits(records: more, bytes: moreBytes)
        #expect(mayCome == admits)
        #expect(day.isSpent == !admits)
    }

    @Test func aDayIsTwentyFourHoursOfOneBoot() {
        var day = Self.day(3)
        let mayCome = day.admits(records: 60_000, bytes: 0)
        #expect(!mayCome)
        let last = Self.start + .seconds(86_399)
        #expect(DailyAllowance(day, bootID: "boot-1", at: last) == day)
        #expect(DailyAllowance(day, bootID: "boot-1", at: last + .seconds(1)).records == 0)
        // Of the time of another boot nothing is known.
        #expect(DailyAllowance(day, bootID: "boot-2", at: last).isSpent == false)
        #expect(DailyAllowance(nil, bootID: "boot-1", at: last).end == last + .seconds(86_400))
    }

    @Test func whatIsToldNamesTheBoundAndTheTime() {
        let end = Self.start + .seconds(86_400)
        #expect(
            DailyAllowance.message(until: end, at: Self.start + .seconds(5_000))
                == "it gave more than is taken of one device in a day (50000 records or 16 MiB): "
                + "what is left stays in it, and it is read again in 23 h")
        #expect(DailyAllowance.message(until: end, at: end).hasSuffix("in 1 h"))
    }

    @Test func itOutlivesTheProcessWithTheDevicesMemory() throws {
        var memory = DeviceMemory()
        memory.allowance = Self.day(7, bytes: 100)
        let text = try JSONEncoder().encode(memory)
        #expect(try JSONDecoder().decode(DeviceMemory.self, from: text) == memory)
    }

    @Test func aDeviceThatHasSpentItsDayIsToldOnceAndAdmittedAgainAfterIt() {
        var spent = SpentDevices()
        let end = Self.start + .seconds(60)
        #expect(spent.admits(.device(1), at: Self.start))
        let isNew = (0..<2).map { _ in spent.note(.device(1), until: end) }
        #expect(isNew == [true, false])
        #expect(!spent.admits(.device(1), at: Self.start))
        #expect(spent.admits(.device(1), at: end))
        // Of any number of invented addresses so many are kept.
        for number in 2..<5_000 { _ = spent.note(.device(number), until: end + .seconds(Int64(number))) }
        #expect(spent.ends.count == SpentDevices.most)
        #expect(!spent.admits(.device(4_999), at: end))
    }

    // MARK: Strangers

    @Test func ofInventedAddressesTheLastAreKnown() {
        var strangers = StrangerMemories()
        for number in 0..<1_000 {
            strangers.note(DeviceMemory(serial: "\(number)"), of: .device(number))
        }
        #expect(strangers.count == StrangerMemories.most)
        #expect(strangers.memory(of: .device(0), stored: nil) == DeviceMemory())
        #expect(strangers.memory(of: .device(999), stored: nil).serial == "999")
        // What the queue knows holds before it; of a bond alone it knows nothing else.
        #expect(strangers.memory(of: .device(999), stored: DeviceMemory(serial: "s")).serial == "s")
        var bonded = DeviceMemory()
        bonded.bondedAdapter = BluetoothAddress(value: 1)
        let known = strangers.memory(of: .device(999), stored: bonded)
        #expect(known.serial == "999")
        #expect(known.bondedAdapter == bonded.bondedAdapter)
        strangers.note(nil, of: .device(999))
        #expect(strangers.memory(of: .device(999), stored: nil) == DeviceMemory())
    }

    @Test func ofAStrangerThatShowsManyAttributesNoneIsRemembered() {
        let few = DeviceMemory(layout: .sample(characteristics: 32))
        #expect(few.shortened == few)
        #expect(DeviceMemory(layout: .sample(characteristics: 33)).shortened == DeviceMemory())
    }

    @Test(arguments: [(256, true), (257, false), (20_000, false)])
    func aStoredLayoutIsBounded(count: Int, isKept: Bool) throws {
        let layout = AttributeLayout.sample(characteristics: count)
        let read = try JSONDecoder().decode(AttributeLayout.self, from: JSONEncoder().encode(layout))
        #expect(read == (isKept ? layout : .unknown))
    }
}
