/// What is known of one adapter now.
package struct AdapterState: Sendable, Equatable {
    package let id: AdapterID
    package let address: BluetoothAddress
    /// Whether it listens: powered, and with our scan in place.
    package let isListening: Bool
    /// Our words for why it does not listen; nil when it does.
    package let reason: String?
    /// How often it was switched off and on because it did not work any more, and our words for why it was last.
    package let resets: Int
    package let resetReason: String?
    /// Whether that has not helped.
    package let isBeyondHelp: Bool

    package init(
        id: AdapterID, address: BluetoothAddress, isListening: Bool, reason: String?, resets: Int = 0,
        resetReason: String? = nil, isBeyondHelp: Bool = false
    ) {
        self.resets = resets
        self.resetReason = resetReason
        self.isBeyondHelp = isBeyondHelp
        self.id = id
        self.address = address
        self.isListening = isListening
        self.reason = reason
    }
}

/// An advert that shows that an adapter receives, whoever sent it.
package struct ReceptionSign: Sendable, Equatable {
    package let adapter: AdapterID
    package let received: MonotonicInstant

    package init(adapter: AdapterID, received: MonotonicInstant) {
        self.adapter = adapter
        self.received = received
    }
}

/// The port to Bluetooth LE: passive listening, and links to peripherals.
///
/// The streams are bounded: when the reader falls behind, the oldest adverts and signs are dropped (a
/// device goes on advertising), and of adapter states only the newest counts.
package protocol Radio: Sendable {
    /// Adverts that the filter admitted, in the order heard. One reader.
    var advertisements: AsyncStream<Advertisement> { get }
    /// All adapters in use, anew after every change. One reader.
    var adapters: AsyncStream<[AdapterState]> { get }
    /// What was watched for. One reader.
    var signs: AsyncStream<ReceptionSign> { get }
    /// Tells the next advert that each of these adapters receives as a sign, also of a device that the
    /// filter does not admit. Takes the place of what was watched for before.
    func watch(for adapters: Set<AdapterID>) async
    /// Listens passively for what `filter` admits until the task is cancelled, across adapters
    /// that come and go. Throws only what the daemon cannot live with.
    func listen(for filter: AdvertisementFilter) async throws
    /// Replaces the filter of a running `listen`.
    func update(_ filter: AdvertisementFilter) async
    /// Connects to a device that has just advertised.
    /// - Parameter remembered: what an earlier link learned of the device, so that nothing is
    ///   discovered twice.
    /// - Parameter requiresEncryption: refuse a link that cannot be encrypted with a bond's keys.
    func connect(
        to device: DeviceAddress, on adapter: AdapterID, remembered: AttributeLayout?,
        requiresEncryption: Bool
    ) async throws(LinkError) -> any PeripheralLink
}
