/// What is asked of the device after the reading: its clock, information, features and battery.
struct DeviceDetails {
    private let link: any PeripheralLink
    private let values: LinkValues
    private let known: KnownDevice
    private let profile: Profile
    private let clock: ClockCheck
    private let wallClock: any GatewayClock

    init(
        of known: KnownDevice, _ profile: Profile, over link: any PeripheralLink, _ values: LinkValues,
        clock: ClockCheck, _ environment: ReadSession.Environment
    ) {
        self.link = link
        self.values = values
        self.known = known
        self.profile = profile
        self.clock = clock
        wallClock = environment.clock
    }

    /// Battery and Database Hash are looked at once in this time, in seconds.
    private static let dailyCheck: Int64 = 86_400

    /// The clock, device information and features once, battery and Database Hash once a day. A link that
    /// ends here is no failure: the values that came before its end still wait, and are taken by the
    /// caller.
    func read() async {
        let now = wallClock.wallNanoseconds / 1_000_000_000
        // A check in the future was made by a clock that has been set since.
        let isDue = known.memory.lastDailyCheck.map { now - $0 >= Self.dailyCheck || now < $0 } ?? true
        do throws(LinkError) {
            try await clock.afterMeasurement(isDue: isDue)
            if !known.memory.hasAllInformation {
                try await readInformation()
            }
            if known.memory.standingFlags == nil, !profile.standing.isEmpty {
                try await readStandingFlags()
            }
            if known.memory.features == nil, !profile.features.isEmpty {
                try await readFeatures()
            }
            guard isDue else { return }
            if let level = try await values.value(BatteryLevel.characteristic, in: BatteryLevel.service) {
                known.memory.battery = try? BatteryLevel.percent(level)
            }
            let hash = known.memory.layout.databaseHash
            try await link.checkDatabaseHash()
            await values.confirmationArrived()
            known.memory.lastDailyCheck = now
            // Another set of attributes is another firmware.
            if let hash, await link.layout.databaseHash != hash {
                try await readInformation()
                try await readStandingFlags()
                try await readFeatures()
            }
        } catch {
            return
        }
    }

    /// What the device says it can do.
    func readFeatures() async throws(LinkError) {
        guard !profile.features.isEmpty else { return }
        var features: [DeviceFeature] = []
        for source in profile.features {
            guard let bytes = try await values.value(source.characteristic, in: source.service),
                let reading = try? profile.decode(bytes, of: source.characteristic)
            else { continue }
            features.append(DeviceFeature(source.characteristic, reading))
        }
        known.memory.features = features
    }

    private func readStandingFlags() async throws(LinkError) {
        var flags: [String] = []
        for source in profile.standing {
            guard let bytes = try await values.value(source.characteristic, in: source.service)
            else { continue }
            flags += (try? profile.decode(bytes, of: source.characteristic).flags) ?? []
        }
        known.memory.standingFlags = flags
    }

    private func readInformation() async throws(LinkError) {
        known.memory.manufacturer = try await text(DeviceInformation.manufacturerName)
        known.memory.model = try await text(DeviceInformation.modelNumber)
        known.memory.serial = try await text(DeviceInformation.serialNumber)
        known.memory.firmware = try await text(DeviceInformation.firmwareRevision)
        known.memory.hardware = try await text(DeviceInformation.hardwareRevision)
        known.memory.software = try await text(DeviceInformation.softwareRevision)
        known.memory.systemID = try await information(DeviceInformation.systemID)
            .flatMap(DeviceInformation.systemID)
        known.memory.udi = try await information(DeviceInformation.udi).flatMap(DeviceInformation.udi)
        known.memory.informationWasRead()
    }

    private func text(
        _ characteristic: BluetoothUUID
    ) async throws(LinkError) -> String? {
        try await information(characteristic).flatMap(DeviceInformation.text)
    }

    private func information(_ characteristic: BluetoothUUID) async throws(LinkError) -> [UInt8]? {
        try await values.value(characteristic, in: DeviceInformation.service)
    }
}
