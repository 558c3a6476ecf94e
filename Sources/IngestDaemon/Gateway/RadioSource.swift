/// What the gateway listens with.
package enum RadioSource: ~Copyable {
    /// The kernel's Bluetooth, by its management channel.
    case kernel(ManagementDescriptor)
    /// Peripherals that are simulated.
    case simulated(@Sendable (RadioParts) throws(CommandFailure) -> OpenedRadio)
}

/// What a radio is made of.
package struct RadioParts: Sendable {
    package let loop: RadioLoop
    package let clock: any GatewayClock
    package let zone: TimeZoneRules
    let selection: AdapterSelection
    let timing: ScanTiming?
    let log: SubsystemLog

    /// - Parameter isBluetoothdRunning: whether bluetoothd owns its name on the bus.
    package func settings(
        isBluetoothdRunning: @escaping @Sendable () async -> Bool
    ) -> BlueZRadio.Settings {
        BlueZRadio.Settings(
            selection: selection, timing: timing, log: log, isBluetoothdRunning: isBluetoothdRunning)
    }
}

/// The radio, and who keeps the bonds.
package struct OpenedRadio: Sendable {
    let radio: any Radio & ActiveScanner
    /// Whether no reading is anybody's.
    let isSimulated: Bool
    let bondKeeper: (any BondKeeper)?
    /// What is told when the gateway has stopped.
    let summary: (@Sendable () async -> String)?

    package init(
        radio: any Radio & ActiveScanner, isSimulated: Bool = false, bondKeeper: (any BondKeeper)? = nil,
        summary: (@Sendable () async -> String)? = nil
    ) {
        self.radio = radio
        self.isSimulated = isSimulated
        self.bondKeeper = bondKeeper
        self.summary = summary
    }
}
