/// What comes after the reading.
extension ReadSession {
    /// Battery and Database Hash are looked at once in this time, in seconds.
    private static let dailyCheck: Int64 = 86_400

    /// The clock, device information and features once, battery and Database Hash once a day. A link that
    /// ends here is no failure: the values that came before its end still wait, and are taken by the
    /// caller.
    func readDetails(over link: any PeripheralLink) async throws(SessionError) {
        let now = environment.clock.wallNanoseconds / 1_000_000_000
        // A check in the future was made by a clock that has been set since.
        let isDue = memory.lastDailyCheck.map { now - $0 >= Self.dailyCheck || now < $0 } ?? true
        do throws(LinkError) {
            try await observeClockLast(isDue: isDue, over: link)
            if !memory.hasDeviceInformation {
                try await readDeviceInformation(over: link)
            }
            if memory.standingFlags == nil, !profile.standing.isEmpty {
                try await readStandingFlags(over: link)
            }
            if memory.features == nil, !profile.features.isEmpty {
                try await readFeatures(over: link)
            }
            guard isDue else { return }
            if let level = try await value(BatteryLevel.characteristic, in: BatteryLevel.service, over: link)
            {
                memory.battery = try? BatteryLevel.percent(level)
            }
            let hash = memory.layout.databaseHash
            try await link.checkDatabaseHash()
            await confirmationArrived()
            memory.lastDailyCheck = now
            // Another set of attributes is another firmware.
            if let hash, await link.layout.databaseHash != hash {
                try await readDeviceInformation(over: link)
                try await readStandingFlags(over: link)
                try await readFeatures(over: link)
            }
        } catch {
            return
        }
    }

    /// What the device says it can do.
    func readFeatures(over link: any PeripheralLink) async throws(LinkError) {
        guard !profile.features.isEmpty else { return }
        var features: [DeviceFeature] = []
        for source in profile.features {
            guard let bytes = try await value(source.characteristic, in: source.service, over: link),
                let reading = try? profile.decode(bytes, of: source.characteristic)
            else { continue }
            features.append(DeviceFeature(source.characteristic, reading))
        }
        memory.features = features
    }

    private func readStandingFlags(over link: any PeripheralLink) async throws(LinkError) {
        var flags: [String] = []
        for source in profile.standing {
            guard let bytes = try await value(source.characteristic, in: source.service, over: link)
            else { continue }
            flags += (try? profile.decode(bytes, of: source.characteristic).flags) ?? []
        }
        memory.standingFlags = flags
    }

    /// A record's flags, with what holds for each of the device's measurements where the record says
    /// nothing of it.
    func withStandingFlags(_ record: Record) -> [String] {
        guard record.kind != .undecoded, let standing = memory.standingFlags else { return record.flags }
        return record.flags
            + standing.filter { flag in
                let subject = flag.prefix { $0 != "-" } + "-"
                return !record.flags.contains { $0.hasPrefix(subject) }
            }
    }

    private func readDeviceInformation(over link: any PeripheralLink) async throws(LinkError) {
        memory.manufacturer = try await text(DeviceInformation.manufacturerName, over: link)
        memory.model = try await text(DeviceInformation.modelNumber, over: link)
        memory.serial = try await text(DeviceInformation.serialNumber, over: link)
        memory.firmware = try await text(DeviceInformation.firmwareRevision, over: link)
        memory.hasDeviceInformation = true
    }

    private func text(
        _ characteristic: BluetoothUUID, over link: any PeripheralLink
    ) async throws(LinkError) -> String? {
        try await value(characteristic, in: DeviceInformation.service, over: link)
            .flatMap(DeviceInformation.text)
    }

    /// A characteristic's value, nil where the peripheral has none or does not let us read it.
    func value(
        _ characteristic: BluetoothUUID, in service: BluetoothUUID, over link: any PeripheralLink
    ) async throws(LinkError) -> [UInt8]? {
        do {
            let value = try await link.read(characteristic, in: service)
            await confirmationArrived()
            return value
        } catch {
            switch error {
            case .missing, .attribute, .notEncrypted, .bondRefused, .malformed:
                await confirmationArrived()
                return nil
            default: throw error
            }
        }
    }
}
