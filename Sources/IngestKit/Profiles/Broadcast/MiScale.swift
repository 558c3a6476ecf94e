extension BroadcastFormat {
    /// Xiaomi's Mi Scale (service data of 181D) and Mi Body Composition Scale (181B), which both
    /// take from the services of the Bluetooth specification the number alone.
    static let miScale = BroadcastFormat(
        name: "mi-scale", kinds: [.miScale], services: [MiScale.weightService, MiScale.compositionService],
        hasKeys: false, decoder: MiScale.decode)
}

/// Xiaomi's first two scales (openScale's wiki, "Xiaomi Bluetooth Mi Scale"; xiaomi-ble). They go on
/// sending the last weighing after it is over, with its date.
enum MiScale {
    static let weightService: UInt16 = 0x181D
    static let compositionService: UInt16 = 0x181B

    /// Bytes of each scale's data. Nothing else in them shows that they are a Mi Scale's.
    private static let weightLength = 10
    private static let compositionLength = 13

    /// What the impedance field holds when none was measured (seen beside 0).
    private static let noImpedance: Set<UInt16> = [0, 0xFFFD, 0xFFFE, 0xFFFF]

    /// The weight has not settled yet: there is none.
    private static let unstableFlag = "not-stabilised"

    private enum Unit {
        case kilogram
        case pound
        /// The Chinese pound, 500 g.
        case jin
    }

    private struct Weighing {
        var unit: Unit
        var isStable: Bool
        var isRemoved: Bool
        var date: ArraySlice<UInt8>
        var weight: UInt16
        /// Of the scale for body composition.
        var impedance: Impedance?

        enum Impedance {
            case measured(UInt16)
            case notYet
        }
    }

    @Sendable
    static func decode(
        _ cursor: inout ByteCursor, _ context: BroadcastFormat.Context
    ) throws(DecodeError) -> Broadcast {
        let isComposition = context.service == compositionService
        let length = isComposition ? compositionLength : weightLength
        guard cursor.remaining <= length else { throw .tooLong(count: cursor.remaining, limit: length) }
        let weighing = isComposition ? try composition(&cursor) : try weight(&cursor)
        var broadcast = Broadcast(reading: Reading(kind: .miScale), contents: [], isTriggered: true)
        // A weight of nothing is an empty scale's.
        guard weighing.weight != 0 else { return broadcast }
        guard weighing.isStable else {
            broadcast.reading.flags = [unstableFlag]
            return broadcast
        }
        try describe(weighing, in: &broadcast)
        return broadcast
    }

    /// Status, weight, date.
    private static func weight(_ cursor: inout ByteCursor) throws(DecodeError) -> Weighing {
        let status = try cursor.uint8("status")
        let weight = try cursor.uint16("weight")
        let date = try cursor.bytes(7, "date")
        return Weighing(
            unit: status & 1 << 0 != 0 ? .pound : status & 1 << 4 != 0 ? .jin : .kilogram,
            isStable: status & 1 << 5 != 0, isRemoved: status & 1 << 7 != 0, date: date, weight: weight)
    }

    /// Two bytes of status, date, impedance, weight.
    private static func composition(_ cursor: inout ByteCursor) throws(DecodeError) -> Weighing {
        let units = try cursor.uint8("status")
        let status = try cursor.uint8("status")
        let date = try cursor.bytes(7, "date")
        let impedance = try cursor.uint16("impedance")
        let weight = try cursor.uint16("weight")
        let isMeasured = status & 1 << 1 != 0 && !noImpedance.contains(impedance)
        return Weighing(
            unit: units & 1 << 0 != 0 ? .pound : status & 1 << 6 != 0 ? .jin : .kilogram,
            isStable: status & 1 << 5 != 0, isRemoved: status & 1 << 7 != 0, date: date, weight: weight,
            impedance: isMeasured ? .measured(impedance) : .notYet)
    }

    private static func describe(
        _ weighing: Weighing, in broadcast: inout Broadcast
    ) throws(DecodeError) {
        let number = Int64(weighing.weight)
        switch weighing.unit {
        case .kilogram:
            // In 5 g.
            broadcast.reading.measurements.append(.bodyWeight(number * 5, -3, "kg"))
        case .pound:
            broadcast.reading.measurements.append(.bodyWeight(number, -2, "[lb_av]"))
        case .jin:
            // In 0.01 jin. UCUM has no jin, and 0.01 of it are exactly 5 g.
            broadcast.reading.measurements.append(.bodyWeight(number * 5, -3, "kg"))
            broadcast.reading.flags.append("unit-jin")
        }
        var date = ByteCursor(Array(weighing.date))
        broadcast.reading.apply(try date.dateTime("date"))
        // The weighing itself, whatever else the scale says of it meanwhile.
        let unit: UInt8 =
            switch weighing.unit {
            case .kilogram: 0
            case .pound: 1
            case .jin: 2
            }
        let weighed =
            Array(weighing.date)
            + [unit, UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
        let weight = Broadcast.Content(sort: [0], bytes: weighed)
        if case .measured(let impedance) = weighing.impedance {
            broadcast.reading.measurements.append(Measurement("impedance", Int64(impedance), 0, "Ohm"))
            let octets = [UInt8(truncatingIfNeeded: impedance), UInt8(truncatingIfNeeded: impedance >> 8)]
            broadcast.contents = [Broadcast.Content(sort: [1], bytes: weighed + octets), weight]
        } else {
            broadcast.contents = [weight]
            // It is measured after the weight, unless the person has stepped off.
            if case .notYet = weighing.impedance, !weighing.isRemoved { broadcast.awaitsMore = true }
        }
    }
}
