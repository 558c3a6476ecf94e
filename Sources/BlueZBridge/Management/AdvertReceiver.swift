/// Picks the wanted adverts out of the stream of management events, in place and without
/// allocating for the others. Belongs to the radio's loop.
package final class AdvertReceiver {
    /// Adverts that wait for their reader; a device goes on advertising, so that the oldest may go.
    static let longestQueue = 256

    let advertisements: AsyncStream<Advertisement>
    private let continuation: AsyncStream<Advertisement>.Continuation
    private let clock: any GatewayClock
    package var filter = AdvertisementFilter()
    /// Gets every advert, whatever the filter says, while an operator scans.
    var onEvery: ((Advertisement) -> Void)?

    package init(clock: any GatewayClock) {
        self.clock = clock
        (advertisements, continuation) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingNewest(Self.longestQueue))
    }

    /// Takes a Device Found event (0x0012: address, RSSI, flags, data) or an Adv Monitor Device
    /// Found (0x002F: the same after the monitor's handle).
    /// - Returns: whether it is an advert of an LE device with content.
    package func receive(_ parameters: Span<UInt8>, hasHandle: Bool, index: UInt16) -> Bool {
        var reader = ManagementReader(parameters)
        if hasHandle { _ = reader.number16() }
        guard let address = reader.address(), let type = reader.byte(), let rssi = reader.byte(),
            let flags = reader.number32(), let length = reader.number16(),
            let range = reader.range(Int(length)), length <= Advertisement.maximumDataLength
        else { return false }
        // 1 LE public, 2 LE random; 0 is BR/EDR.
        guard type == 1 || type == 2 else { return false }
        let data = parameters.extracting(range)
        let isAdmitted = !data.isEmpty && filter.admits(address, data: data)
        if isAdmitted || onEvery != nil {
            let signal = Int8(bitPattern: rssi)
            let advertisement = Advertisement(
                device: DeviceAddress(address, type == 1 ? .public : .random),
                adapter: AdapterID(index: index),
                rssi: signal == ManagementProtocol.noRSSI ? nil : Int(signal),
                isConnectable: flags & ManagementProtocol.notConnectableFlag == 0,
                data: data.indices.map { data[$0] }, received: clock.now)
            if isAdmitted { continuation.yield(advertisement) }
            onEvery?(advertisement)
        }
        return !data.isEmpty
    }

    func finish() {
        continuation.finish()
    }
}
