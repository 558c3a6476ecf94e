import Synchronization

/// What `setup` needs of the running service and of the box.
protocol SetupService: Sendable {
    /// Whether this process may start the service and write its configuration.
    var isRoot: Bool { get }
    /// Whether it is the installed service, which systemctl starts.
    var isInstalled: Bool { get }

    /// Nil where no service runs.
    func status() async throws -> GatewayStatus?
    /// - Returns: whether systemctl has started it, now and at each start of the box.
    func enable() async -> Bool
    /// - Returns: whether systemctl has restarted it.
    func restart() async -> Bool
    /// Has it read its configuration again.
    /// - Returns: false if no service runs.
    func reload() async throws -> Bool
    /// Listens for some seconds.
    func scan(seconds: Int) async throws -> [AirDevice]
    /// Pairs, and hands on each step with a way to answer it.
    func pair(
        _ target: PairingTarget,
        _ show: @escaping @Sendable (OperatorStep, @escaping ServiceOrder.Answer) throws -> Void
    ) async throws
    /// The number of the newest record of the queue; nil where it cannot be read.
    func newestNumber() async -> Int64?
    /// The newest record of a device that came after that one.
    func newestRecord(after number: Int64, of device: SetupDevice) async -> FoundRecord?
}

/// A device that was set up.
struct SetupDevice: Sendable, Equatable {
    var model: PeripheralModel
    /// Nil is any device of the model.
    var address: BluetoothAddress?
    var alias: String?

    var label: String { alias ?? address?.description ?? model.name }
    var target: PairingTarget { address.map { .device($0) } ?? .model(model.id) }
}

/// What was written, for whoever leaves before the end.
final class WrittenFiles: Sendable {
    private let state = Mutex<[String]>([])
    var paths: [String] { state.withLock { $0 } }

    func add(_ path: String) {
        state.withLock { if !$0.contains(path) { $0.append(path) } }
    }
}
