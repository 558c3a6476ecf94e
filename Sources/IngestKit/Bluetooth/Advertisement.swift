/// One advert of one device, as the controller heard it.
package struct Advertisement: Sendable, Equatable {
    /// The longest advert data that is kept: what an extended advert can carry in the
    /// management events of Linux (Core Specification Vol 4 Part E 7.7.65.13).
    package static let maximumDataLength = 1_650

    package let device: DeviceAddress
    /// The adapter that heard it.
    package let adapter: AdapterID
    /// Received signal strength in dBm, -127 to 20; nil where the controller does not know.
    package let rssi: Int?
    /// False for broadcasts that take no connection.
    package let isConnectable: Bool
    /// The AD structures, raw (Core Specification Vol 3 Part C 11).
    package let data: [UInt8]
    package let received: MonotonicInstant

    package init(
        device: DeviceAddress, adapter: AdapterID, rssi: Int?, isConnectable: Bool,
        data: [UInt8], received: MonotonicInstant
    ) {
        self.device = device
        self.adapter = adapter
        self.rssi = rssi
        self.isConnectable = isConnectable
        self.data = data
        self.received = received
    }
}

/// Walks the AD structures of an advert: length, type, value (Core Specification Vol 3 Part C 11).
/// A structure that claims more bytes than there are ends the walk.
package struct AdvertisementStructures: ~Escapable {
    private let data: Span<UInt8>
    private var position = 0

    @_lifetime(copy data)
    package init(_ data: Span<UInt8>) {
        self.data = data
    }

    /// The next structure's type and where its value lies in the data.
    package mutating func next() -> (type: UInt8, value: Range<Int>)? {
        guard position < data.count else { return nil }
        let length = Int(data[position])
        // A length of zero ends the significant part early (11.1).
        guard length > 0, position + 1 + length <= data.count else {
            position = data.count
            return nil
        }
        defer { position += 1 + length }
        return (data[position + 1], position + 2..<position + 1 + length)
    }
}
