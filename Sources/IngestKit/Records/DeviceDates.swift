/// What the dates of a device's live readings have shown of its clock. Decides whether such a date names its reading,
/// or says nothing (docs/records.md, "The name of a record").
package struct DeviceDates: Sendable, Equatable, Codable {
    /// The last date of one characteristic and user, and what was measured then.
    private struct Last: Sendable, Equatable, Codable {
        var characteristic: String
        var user: Int?
        var date: DeviceTime
        var fraction: Int?
        /// Digests of the numbers by type, code, how the value was averaged, and unit, so that a reading that comes again
        /// in another unit does not count as another value. All that came with this date.
        var values: [String: String]
    }

    /// Pairs of characteristic and user that are remembered; the longest unused give way.
    private static let mostLast = 16
    /// Types and units of one reading that are compared.
    private static let mostValues = 8

    /// Whether the device has sent one date with two different values. Stays, because nothing that it sends later
    /// tells a clock that runs again from one that was set and stands.
    private(set) var clockStands = false
    private var last: [Last] = []

    package init() {}

    /// Takes a live reading in.
    /// - Returns: whether its date names it; false where it has none.
    package mutating func name(_ reading: Reading, of characteristic: BluetoothUUID) -> Bool {
        guard reading.hasDate, let date = reading.deviceTime else { return false }
        let place = characteristic.description
        var values = Self.digests(of: reading)
        let index = last.firstIndex { $0.characteristic == place && $0.user == reading.user }
        if let index {
            let earlier = last.remove(at: index)
            // What one of two readings does not have is no contradiction: a scale completes what it has sent.
            let isSame = earlier.date == date && earlier.fraction == reading.secondFraction
            if isSame, values.contains(where: { earlier.values[$0] ?? $1 != $1 }) {
                clockStands = true
            }
            if isSame, earlier.values.count < 2 * Self.mostValues {
                values.merge(earlier.values) { new, _ in new }
            }
        }
        last.append(
            Last(
                characteristic: place, user: reading.user, date: date, fraction: reading.secondFraction,
                values: values))
        if last.count > Self.mostLast { last.removeFirst() }
        return !date.isOfNoSetClock && !clockStands
    }

    /// Of the numbers alone: a device that has none yet may send one later.
    private static func digests(of reading: Reading) -> [String: String] {
        var texts: [String: String] = [:]
        let averaging = reading.flags.filter { $0.hasPrefix("modality-") || $0.hasPrefix("supplemental-") }
        // How long a measurement took is of the reading, and not measured of anybody.
        for measurement in reading.measurements where measurement.type != "measurement-duration" {
            guard case .exact(let number) = measurement.value else { continue }
            let code = measurement.code.map { "\($0)" } ?? ""
            let key = ([measurement.type, code, measurement.unit] + averaging).joined(separator: " ")
            guard texts[key] != nil || texts.count < mostValues else { continue }
            texts[key, default: ""] += "\(number),"
        }
        return texts.mapValues { String(NameUUID.text(of: Array($0.utf8)).prefix(8)) }
    }
}
