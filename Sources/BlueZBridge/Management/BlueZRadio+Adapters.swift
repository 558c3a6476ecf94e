/// Brings adapters into shape, and keeps them so: powered, with the scan in place.
extension BlueZRadio {
    /// The first retry after a failure; it doubles.
    private static let firstRetry = Duration.seconds(2)
    private static let longestRetry = Duration.seconds(60)

    /// Works on one adapter until nothing has changed meanwhile, or it is gone. Another one that has
    /// come under its index is worked on by itself.
    func reconcile(_ index: UInt16) async throws {
        guard let adapter = inventory[index], adapter.work == .wanted else { return }
        defer {
            if isPresent(adapter) { inventory[index]?.work = .idle }
        }
        repeat {
            inventory[index]?.work = .underWay(again: false)
            if let retry = inventory[index]?.retry {
                loop.cancel(retry)
                inventory[index]?.retry = nil
            }
            do {
                let problem = try await bringUp(index)
                guard isPresent(adapter) else { return }
                // What was found has changed meanwhile: it is looked at again before it is told.
                if problem == nil, inventory[index]?.work == .underWay(again: true) { continue }
                setProblem(problem, of: index)
                if problem == nil {
                    inventory[index]?.attempt = 0
                    watchSilence(index)
                    hasWorked(index)
                }
            } catch .ended {
                throw ManagementError.ended
            } catch .status(ManagementProtocol.Status.permissionDenied, _) {
                throw ManagementError.noPermission
            } catch  where !isPresent(adapter) {
                return
            } catch .status(ManagementProtocol.Status.invalidIndex, _) {
                // Unplugged meanwhile; the event for it is on its way.
                setProblem(.unplugged, of: index)
            } catch {
                setProblem(.command(error), of: index)
                retryLater(index)
            }
        } while isPresent(adapter) && inventory[index]?.work == .underWay(again: true)
    }

    /// Whether this adapter, and not another one, has its index now.
    private func isPresent(_ adapter: Adapter) -> Bool {
        inventory[adapter.index]?.generation == adapter.generation
    }

    /// One pass over everything that must hold for an adapter to listen.
    /// - Returns: why it does not listen, or nil.
    private func bringUp(_ index: UInt16) async throws(ManagementError) -> AdapterProblem? {
        try await recover(index)
        let settings = try await readInformation(index)
        guard let adapter = inventory[index], let address = adapter.address else { return .unplugged }
        let isSelected = self.settings.selection.includes(index: index, address: address)
        inventory[index]?.isSelected = isSelected
        guard isSelected else { return .notSelected }

        if settings & ManagementProtocol.Setting.powered == 0 {
            let isBluetoothdRunning = await self.settings.isBluetoothdRunning()
            guard isPresent(adapter) else { return .unplugged }
            guard !isBluetoothdRunning else {
                // bluetoothd owns the switch. It may also be on its way out: look again.
                retryLater(index)
                return .poweredOff
            }
            try await command(ManagementProtocol.Opcode.setLowEnergy, index, [1])
            try await command(ManagementProtocol.Opcode.setPowered, index, [1])
        } else if settings & ManagementProtocol.Setting.lowEnergy == 0 {
            try await command(ManagementProtocol.Opcode.setLowEnergy, index, [1])
        }
        await endStaleLinks(index)
        try await setTiming(index)
        return try await scan(index)
    }

    /// Reads address and settings.
    private func readInformation(_ index: UInt16) async throws(ManagementError) -> UInt32 {
        let opcode = ManagementProtocol.Opcode.readInformation
        let answer = try await command(opcode, index)
        var reader = ManagementReader(answer.span)
        // Address, version, manufacturer, supported settings, current settings.
        guard let address = reader.address(), reader.byte() != nil, reader.number16() != nil,
            reader.number32() != nil, let current = reader.number32()
        else { throw .malformed(opcode: opcode) }
        inventory[index]?.address = address
        return current
    }

    /// Scan interval and window, where they are configured: for the monitor's scan, the background
    /// scan and the one before a connection.
    private func setTiming(_ index: UInt16) async throws(ManagementError) {
        guard let timing = settings.timing, inventory[index]?.isSetUp.contains(.scanTiming) == false
        else { return }
        var parameters: [UInt8] = []
        for (types, value) in [
            (ManagementProtocol.DefaultParameter.scanInterval, timing.interval),
            (ManagementProtocol.DefaultParameter.scanWindow, timing.window),
        ] {
            for type in types {
                // Type, length, value.
                parameters +=
                    AttributeProtocol.littleEndian(type) + [2] + AttributeProtocol.littleEndian(value)
            }
        }
        try await command(ManagementProtocol.Opcode.setDefaultConfiguration, index, parameters)
        inventory[index]?.isSetUp.insert(.scanTiming)
    }

    // MARK: The scan

    /// The kernel takes no monitor without a pattern (net/bluetooth/mgmt.c,
    /// add_adv_patterns_monitor), and without a monitor it does not scan. For an allow-list of
    /// addresses alone: manufacturer data of company 0xFFFF, which no product may use (Assigned
    /// Numbers 7.1), so that a controller that matches lets nothing through for it.
    private static let patternsForAddressesAlone = [
        AdvertisementPattern(type: 0xFF, offset: 0, bytes: [0xFF, 0xFF])
    ].compactMap(\.self)

    /// Has the kernel scan passively, by a monitor of its own or one that is there.
    private func scan(_ index: UInt16) async throws(ManagementError) -> AdapterProblem? {
        guard !receiver.filter.isEmpty else {
            try await removeMonitor(index)
            return .emptyAllowList
        }
        let (matchesInController, handles) = try await monitorFeatures(index)
        var patterns = Array(receiver.filter.kernelPatterns.prefix(ManagementProtocol.patternsPerMonitor))
        if patterns.isEmpty { patterns = Self.patternsForAddressesAlone }
        if inventory[index]?.restartsScan == true {
            try await askController(index)
            inventory[index]?.restartsScan = false
            try await removeMonitor(index)
            try await addMonitor(patterns, index)
            return nil
        }
        switch inventory[index]?.monitor {
        case .own(let handle, let current) where handles.contains(handle):
            if current == patterns || !matchesInController { break }
            try await removeMonitor(index)
            try await addMonitor(patterns, index)
        case .adopted(let handle) where handles.contains(handle):
            break
        default:
            if !matchesInController, let handle = handles.first {
                inventory[index]?.monitor = .adopted(handle: handle)
            } else {
                try await addMonitor(patterns, index)
            }
        }
        if matchesInController { try await reportPinnedDevices(index) }
        return nil
    }

    /// Whether the controller matches patterns itself (Microsoft's extension), and the monitors in
    /// place, whoever's.
    private func monitorFeatures(
        _ index: UInt16
    ) async throws(ManagementError) -> (matchesInController: Bool, handles: [UInt16]) {
        let opcode = ManagementProtocol.Opcode.readMonitorFeatures
        let answer = try await command(opcode, index)
        var reader = ManagementReader(answer.span)
        // Supported and enabled features, most handles, most patterns, number of handles.
        guard let supported = reader.number32(), reader.number32() != nil, reader.number16() != nil,
            reader.byte() != nil, let count = reader.number16()
        else { throw .malformed(opcode: opcode) }
        var handles: [UInt16] = []
        for _ in 0..<count {
            guard let handle = reader.number16() else { throw .malformed(opcode: opcode) }
            handles.append(handle)
        }
        return (supported & 1 != 0, handles)
    }

    private func addMonitor(_ patterns: [AdvertisementPattern], _ index: UInt16) async throws(ManagementError)
    {
        let opcode = ManagementProtocol.Opcode.addPatternsMonitor
        var parameters: [UInt8] = [UInt8(clamping: patterns.count)]
        for pattern in patterns {
            parameters += [pattern.type, pattern.offset, UInt8(clamping: pattern.bytes.count)]
            parameters += pattern.bytes
            // The kernel's field has room for 31 bytes.
            parameters += [UInt8](repeating: 0, count: max(0, 31 - pattern.bytes.count))
        }
        let answer = try await command(opcode, index, parameters)
        var reader = ManagementReader(answer.span)
        guard let handle = reader.number16() else { throw .malformed(opcode: opcode) }
        inventory[index]?.monitor = .own(handle: handle, patterns: patterns)
    }

    /// Removes the monitor that this process added; another's stays.
    private func removeMonitor(_ index: UInt16) async throws(ManagementError) {
        guard case .own(let handle, _) = inventory[index]?.monitor else { return }
        inventory[index]?.monitor = .none
        try await command(
            ManagementProtocol.Opcode.removeMonitor, index, AttributeProtocol.littleEndian(handle))
    }

    /// A controller that matches adverts itself lets only those through that a pattern fits. What is
    /// pinned by address goes on the kernel's device list too, with either type of address, so that
    /// it is reported whatever it advertises.
    private func reportPinnedDevices(_ index: UInt16) async throws(ManagementError) {
        for address in receiver.filter.addresses {
            for type in [AddressType.public, .random] {
                let device = DeviceAddress(address, type)
                // The kernel takes identity addresses only.
                guard !device.isPrivate, inventory[index]?.reported.contains(device) == false else {
                    continue
                }
                try await command(
                    ManagementProtocol.Opcode.addDevice, index,
                    ManagementProtocol.bytes(of: device) + [ManagementProtocol.DeviceAction.report])
                inventory[index]?.reported.insert(device)
            }
        }
    }

    /// Takes back what this process asked of the kernel, at an orderly end.
    func withdraw() async {
        for index in inventory.keys {
            try? await removeMonitor(index)
            for device in inventory[index]?.reported ?? [] {
                _ = try? await command(
                    ManagementProtocol.Opcode.removeDevice, index, ManagementProtocol.bytes(of: device))
            }
        }
        management.close()
    }

    // MARK: Links that nobody uses

    /// Ends a link whose socket is closed, and returns when it is down.
    ///
    /// The kernel would do so by itself 2 s later (HCI_DISCONN_TIMEOUT). Until then the device does
    /// not advertise; and that late Disconnect can fall between another connection's Create
    /// Connection and its completion, which Linux 6.1 then no longer recognises: it cancels after
    /// 4 s, and keeps the link of a socket that is closed (hci_le_create_conn_sync awaits the event
    /// for `sent_cmd`, which the Disconnect has replaced).
    /// - Returns: whether there was anything to end.
    @discardableResult
    package func hangUp(_ device: DeviceAddress, on adapter: AdapterID) async -> Bool {
        do {
            try await command(
                ManagementProtocol.Opcode.disconnect, adapter.index, ManagementProtocol.bytes(of: device))
            return true
        } catch {
            // Refused where the device has hung up already: that is what is wanted.
            return false
        }
    }

    /// Once for each adapter: ends links to listed devices that an earlier process left behind. Such
    /// a device does not advertise, and would never be read again.
    private func endStaleLinks(_ index: UInt16) async {
        guard inventory[index]?.isSetUp.insert(.staleLinks).inserted == true else { return }
        guard let answer = try? await command(ManagementProtocol.Opcode.getConnections, index) else { return }
        var devices: [DeviceAddress] = []
        var reader = ManagementReader(answer.span)
        for _ in 0..<(reader.number16() ?? 0) {
            guard let address = reader.address(), let type = reader.byte() else { break }
            // 1 LE public, 2 LE random; 0 is BR/EDR.
            guard type == 1 || type == 2, receiver.filter.addresses.contains(address) else { continue }
            devices.append(DeviceAddress(address, type == 1 ? .public : .random))
        }
        for device in devices { await hangUp(device, on: AdapterID(index: index)) }
    }

    // MARK: Time

    private func retryLater(_ index: UInt16) {
        guard let adapter = inventory[index], adapter.retry == nil else { return }
        let delay = min(Self.longestRetry, Self.firstRetry * (1 << min(adapter.attempt, 5)))
        inventory[index]?.attempt += 1
        inventory[index]?.retry = loop.after(delay) { [weak self] in
            self?.assumeIsolated { radio in
                radio.inventory[index]?.retry = nil
                radio.wantReconciled(index)
            }
        }
    }

    // MARK: Commands

    /// - Throws: "invalid index" also when the adapter has gone meanwhile, so that an answer for it
    ///   is never taken for one of its successor.
    @discardableResult
    func command(
        _ opcode: UInt16, _ index: UInt16, _ parameters: [UInt8] = [],
        within limit: Duration = ManagementSocket.answerTimeout
    ) async throws(ManagementError) -> [UInt8] {
        let generation = inventory[index]?.generation
        let answer: [UInt8]
        do {
            answer = try await management.send(
                opcode, index: index, parameters, within: limit, isolation: self)
        } catch {
            if inventory[index]?.generation == generation { note(error, of: index) }
            throw error
        }
        guard inventory[index]?.generation == generation else {
            throw .status(ManagementProtocol.Status.invalidIndex, opcode: opcode)
        }
        return answer
    }
}
