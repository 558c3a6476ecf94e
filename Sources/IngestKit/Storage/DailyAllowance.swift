/// How much of one device is committed in a day, so that no device can fill the queue, whether the allow-list
/// names it by address or not.
///
/// A day is 24 h from the first record that counts in it, by the monotonic clock of one boot of the gateway: a
/// wall clock that is wrong changes nothing, and a new boot begins a new day.
package struct DailyAllowance: Sendable, Equatable, Codable {
    /// Records of one day; a continuous glucose sensor that measures each minute for 14 days has 20,160.
    static let mostRecords = 50_000
    /// What they take in the queue in a day, in bytes of payload and record.
    static let mostBytes = 16 << 20
    static let day = Duration.seconds(86_400)

    /// The kernel's name of the boot that `start` belongs to.
    private let bootID: String
    private let start: MonotonicInstant
    package private(set) var records = 0
    package private(set) var bytes = 0
    /// Whether something was turned away, so that the device waits for the end of its day.
    package private(set) var isSpent = false

    /// A day that begins now.
    init(bootID: String, at now: MonotonicInstant) {
        self.bootID = bootID
        start = now
    }

    /// The day that goes on from `known`, or a new one if that is over or of another boot.
    package init(_ known: Self?, bootID: String, at now: MonotonicInstant) {
        if let known, known.bootID == bootID, now < known.end, now >= known.start {
            self = known
        } else {
            self.init(bootID: bootID, at: now)
        }
    }

    /// When a device that has spent it may be read again.
    package var end: MonotonicInstant { start + Self.day }

    /// Counts records that are about to be committed as spent, if they are more than is left.
    /// - Parameter bytes: what all of them take.
    /// - Returns: whether they may be committed.
    package mutating func admits(records: Int, bytes: Int) -> Bool {
        guard records > 0 else { return true }
        guard self.records + records <= Self.mostRecords, self.bytes + bytes <= Self.mostBytes else {
            isSpent = true
            return false
        }
        return true
    }

    /// A record was new. One that the queue held already takes nothing.
    package mutating func committed(bytes: Int) {
        records += 1
        self.bytes += bytes
    }

    /// Why no more is taken of a device; names none.
    package static let reason =
        "it gave more than is taken of one device in a day (\(mostRecords) records or \(mostBytes >> 20) MiB)"
    package static let message = reason + ": what is left stays in it"

    /// The same, and when it is read again.
    /// - Parameter end: of its day.
    package static func message(until end: MonotonicInstant, at now: MonotonicInstant) -> String {
        let hours = max(1, Int((end.since(now) / .seconds(3_600)).rounded(.up)))
        return message + ", and it is read again in \(hours) h"
    }
}

extension Record {
    /// About what it takes in the queue, in bytes: its payload as bytes and as hexadecimal digits, and the rest.
    package var queuedSize: Int { 3 * raw.bytes.count + 600 }
}

/// Devices that have spent their day, so that adverts of theirs lead to nothing.
package struct SpentDevices: Sendable {
    /// Of more, the one whose day ends first is forgotten; what is remembered of it in the queue still holds.
    static let most = 1_024

    private(set) var ends: [DeviceAddress: MonotonicInstant] = [:]

    package init() {}

    /// Whether its adverts may lead to a read.
    package func admits(_ device: DeviceAddress, at now: MonotonicInstant) -> Bool {
        ends[device].map { now >= $0 } ?? true
    }

    /// The device waits until its day ends.
    /// - Returns: whether that is new, and so to be told.
    package mutating func note(_ device: DeviceAddress, until end: MonotonicInstant) -> Bool {
        if ends[device] == nil, ends.count >= Self.most, let first = ends.min(by: { $0.value < $1.value }) {
            ends[first.key] = nil
        }
        return ends.updateValue(end, forKey: device) != end
    }
}
