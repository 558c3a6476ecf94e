/// Decides, from an advert's raw bytes and without allocating, whether the gateway has any use for
/// it: the allow-list as the radio sees it.
public struct AdvertisementFilter: Sendable, Equatable {
    /// One way to recognise a model of peripheral by what it advertises.
    public enum Mark: Sendable, Hashable {
        /// Listed among the 16-bit service UUIDs (AD types 0x02, 0x03) or the owner of service
        /// data (0x16).
        case service(UInt16)
        /// Listed among the 128-bit service UUIDs (0x06, 0x07) or the owner of service data (0x21).
        case longService(BluetoothUUID)
        /// The company of manufacturer data (0xFF).
        case company(UInt16)
        /// The local name (0x08, 0x09) begins so; UTF-8.
        case namePrefix([UInt8])
    }

    /// Devices that are named by address.
    public let addresses: Set<BluetoothAddress>
    /// For models of which any device is read; each inner list must match whole.
    public let models: [[Mark]]

    public init(addresses: Set<BluetoothAddress> = [], models: [[Mark]] = []) {
        self.addresses = addresses
        self.models = models
    }

    /// True when nothing can match, so that there is nothing to listen for.
    public var isEmpty: Bool { addresses.isEmpty && models.isEmpty }
}
