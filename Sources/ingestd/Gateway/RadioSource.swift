import BlueZBridge

/// What the gateway listens with.
enum RadioSource: ~Copyable {
    /// The kernel's Bluetooth, by its management channel.
    case kernel(ManagementDescriptor)
    /// The built-in peripherals.
    case simulated
    /// Simulated peripherals of another process, which listens at this path.
    case hosted(String)
}
