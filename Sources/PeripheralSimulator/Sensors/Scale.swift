/// A scale that sends the weight and, where it measures it, the body's composition (Weight Scale
/// Service 1.0.1, Body Composition Service 1.0.1).
package struct Scale: SimulatedSensor {
    package struct Script: Sendable {
        package var isCompositionFirst = false
        /// Between weight and composition.
        package var pause = Duration.zero
        /// Between the two packets of a composition.
        package var packetPause = Duration.zero
        /// Whether it hangs up when all is confirmed.
        package var hangsUp = false
        /// Whether it hangs up after the first part; once.
        package var breaksBetween = false
        /// Whether a weighing that was not confirmed whole is given anew from its beginning, instead
        /// of what is left of it.
        package var repeatsWhole = false

        package init() {}
    }

    /// One time that somebody stood on it.
    package struct Weighing: Sendable, Equatable {
        package var weight: Weight?
        package var composition: Composition?

        package init(_ weight: Weight?, _ composition: Composition? = nil) {
            self.weight = weight
            self.composition = composition
        }
    }

    package static let weightService: BluetoothUUID = 0x181D
    package static let weightMeasurement: BluetoothUUID = 0x2A9D
    package static let weightFeature: BluetoothUUID = 0x2A9E
    package static let compositionService: BluetoothUUID = 0x181B
    package static let compositionMeasurement: BluetoothUUID = 0x2A9C
    package static let compositionFeature: BluetoothUUID = 0x2A9B
    /// How long it waits for a second subscription, once there is one.
    private static let patience = Duration.seconds(10)

    package var script: Script
    /// Not yet confirmed whole, the oldest first. Each link gives the first.
    package private(set) var weighings: [Weighing] = []
    /// Indications sent, repetitions included.
    package private(set) var partsSent = 0
    private let serial: String
    private let hasComposition: Bool
    /// Weights and body compositions.
    private var count = 0
    private var confirmed = 0
    /// Parts of the first weighing that are confirmed.
    private var given = 0
    /// Whether the next part waits for its confirmation.
    private var isUnderWay = false
    /// Of this link: whether it has given its weighing, has waited for a subscription, has paused
    /// before the next part, has sent a part.
    private var isDone = false
    private var hasWaited = false
    private var hasPaused = false
    private var hasSent = false

    /// - Parameter hasComposition: whether it has the Body Composition Service.
    package init(
        _ weighings: [Weighing] = [], hasComposition: Bool = true, script: Script = Script(),
        serial: String = "S-0001"
    ) {
        self.hasComposition = hasComposition
        self.script = script
        self.serial = serial
        for weighing in weighings { add(weighing) }
    }

    /// Somebody stands on it.
    package mutating func add(_ weighing: Weighing) {
        weighings.append(weighing)
        count += (weighing.weight == nil ? 0 : 1) + (weighing.composition == nil ? 0 : 1)
    }

    // MARK: The sensor

    package var services: [SimulatedService] {
        var services = [
            SimulatedService(
                Self.weightService,
                [
                    Characteristic(Self.weightMeasurement, .indicate),
                    // Time stamp, users, BMI; 5 g (7 in bits 3 to 6) and 1 mm (3 in bits 7 to 9).
                    Characteristic(Self.weightFeature, .read, value: [0xBF, 0x01, 0x00, 0x00]),
                ])
        ]
        if hasComposition {
            services.append(
                SimulatedService(
                    Self.compositionService,
                    [
                        Characteristic(Self.compositionMeasurement, .indicate),
                        // All fields; 5 g (7 in bits 11 to 14) and 1 mm (3 in bits 15 to 17).
                        Characteristic(Self.compositionFeature, .read, value: [0xFF, 0xBF, 0x01, 0x00]),
                    ]))
        }
        return services + [
            .deviceInformation(model: "Simulated Scale", serial: serial),
            SimulatedService(0x180F, [Characteristic(0x2A19, .read, value: [83])]),
        ]
    }

    package var advert: [UInt8] { .advert(services: hasComposition ? [0x181D, 0x181B] : [0x181D]) }

    package var tally: SensorTally {
        SensorTally(readings: count, offered: partsSent, confirmed: confirmed)
    }

    package mutating func linked() {
        isUnderWay = false
        isDone = false
        hasWaited = false
        hasPaused = false
        hasSent = false
        if script.repeatsWhole, given > 0, let weighing = weighings.first {
            confirmed -= parts(of: weighing).prefix(given).count { $0.isLast }
            given = 0
        }
    }

    package mutating func next(_ subscriptions: Set<BluetoothUUID>) -> SensorStep? {
        if let step = finishPart() { return step }
        while !isDone, let weighing = weighings.first {
            let parts = parts(of: weighing)
            guard given < parts.count else {
                finishWeighing()
                break
            }
            let part = parts[given]
            guard subscriptions.contains(part.characteristic) else {
                let isOtherWanted =
                    subscriptions.contains(Self.weightMeasurement)
                    || subscriptions.contains(Self.compositionMeasurement)
                guard isOtherWanted else { return nil }
                guard hasWaited || hasSent else {
                    hasWaited = true
                    return .waitForSubscription(atMost: Self.patience)
                }
                given += 1
                continue
            }
            guard !hasSent || hasPaused || part.pause == .zero else {
                hasPaused = true
                return .wait(part.pause)
            }
            hasPaused = false
            hasSent = true
            isUnderWay = true
            partsSent += 1
            return .send(part.characteristic, part.payload)
        }
        return nil
    }

    /// The part that was under way is confirmed.
    private mutating func finishPart() -> SensorStep? {
        guard isUnderWay, let weighing = weighings.first else { return nil }
        isUnderWay = false
        let parts = parts(of: weighing)
        if parts[given].isLast { confirmed += 1 }
        given += 1
        if given == parts.count {
            finishWeighing()
            return script.hangsUp ? .hangUp : nil
        }
        guard script.breaksBetween else { return nil }
        script.breaksBetween = false
        return .hangUp
    }

    private mutating func finishWeighing() {
        weighings.removeFirst()
        given = 0
        isDone = true
    }

    private struct Part {
        let characteristic: BluetoothUUID
        let payload: [UInt8]
        /// Before it, unless it is the first on its link.
        let pause: Duration
        /// Whether its value is whole with it.
        var isLast = true
    }

    private func parts(of weighing: Weighing) -> [Part] {
        let packets = weighing.composition?.packets ?? []
        let composition = packets.enumerated().map { index, packet in
            Part(
                characteristic: Self.compositionMeasurement, payload: packet,
                pause: index == 0 ? script.pause : script.packetPause, isLast: index == packets.count - 1)
        }
        let weight = weighing.weight.map {
            [Part(characteristic: Self.weightMeasurement, payload: $0.payload, pause: script.pause)]
        }
        return script.isCompositionFirst ? composition + (weight ?? []) : (weight ?? []) + composition
    }
}

extension Scale {
    /// Weight Measurement (2A9D) in SI units.
    package struct Weight: Sendable, Equatable {
        /// In 5 g: 15,000 are 75 kg.
        package var weight: UInt16
        package var time: DeviceTime?
        package var user: UInt8?

        package init(_ weight: UInt16, at time: DeviceTime? = nil, user: UInt8? = nil) {
            self.weight = weight
            self.time = time
            self.user = user
        }

        package var payload: [UInt8] {
            [(time == nil ? 0 : 0x02) | (user == nil ? 0 : 0x04)] + Wire.bytes(weight)
                + (time.map(Wire.bytes) ?? []) + (user.map { [$0] } ?? [])
        }
    }

    /// Body Composition Measurement (2A9C) in SI units.
    package struct Composition: Sendable, Equatable {
        /// In 0.1 %.
        package var fat: UInt16
        package var time: DeviceTime?
        package var user: UInt8?
        /// In kilojoules.
        package var metabolism: UInt16?
        /// In 0.1 %.
        package var muscle: UInt16?
        /// In 5 g.
        package var bodyWater: UInt16?
        /// In 0.1 ohm.
        package var impedance: UInt16?
        /// In 5 g.
        package var weight: UInt16?
        /// Whether it is split in two, as when it does not fit into one indication: both packets have
        /// the flags and the fat, only the first the time stamp and the user.
        package var isSplit: Bool

        package init(
            fat: UInt16, at time: DeviceTime? = nil, user: UInt8? = nil, metabolism: UInt16? = nil,
            muscle: UInt16? = nil, bodyWater: UInt16? = nil, impedance: UInt16? = nil,
            weight: UInt16? = nil, isSplit: Bool = false
        ) {
            self.fat = fat
            self.time = time
            self.user = user
            self.metabolism = metabolism
            self.muscle = muscle
            self.bodyWater = bodyWater
            self.impedance = impedance
            self.weight = weight
            self.isSplit = isSplit
        }

        /// One payload, or two.
        package var packets: [[UInt8]] {
            let head: [(UInt16, [UInt8]?)] = [
                (0x0002, time.map(Wire.bytes)), (0x0004, user.map { [$0] }),
                (0x0008, metabolism.map(Wire.bytes)), (0x0010, muscle.map(Wire.bytes)),
            ]
            let tail: [(UInt16, [UInt8]?)] = [
                (0x0100, bodyWater.map(Wire.bytes)), (0x0200, impedance.map(Wire.bytes)),
                (0x0400, weight.map(Wire.bytes)),
            ]
            func packet(_ fields: [(UInt16, [UInt8]?)]) -> [UInt8] {
                let present = fields.filter { $0.1 != nil }
                let flags = present.reduce(isSplit ? 0x1000 : 0) { $0 | $1.0 }
                return Wire.bytes(flags) + Wire.bytes(fat) + present.flatMap { $0.1 ?? [] }
            }
            return isSplit ? [packet(head), packet(tail)] : [packet(head + tail)]
        }
    }
}
