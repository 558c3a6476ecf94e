import FoundationEssentials
import Glibc
import Synchronization

/// The service of a configuration, by its control socket, systemctl and its queue.
struct RunningService: SetupService {
    let options: ServiceOptions

    var isRoot: Bool { geteuid() == 0 }
    var isInstalled: Bool { !options.isNamed }

    func status() async throws -> GatewayStatus? {
        do throws(ControlClient.Failure) {
            return try await ask { client throws(ControlClient.Failure) in try await client.status() }
        } catch {
            if case .noService = error { return nil }
            throw CommandFailure(error, path: try options.socket())
        }
    }

    func enable() async -> Bool { await Systemctl.enable() }
    func restart() async -> Bool { await Systemctl.restart() }

    func reload() async throws -> Bool {
        do throws(ControlClient.Failure) {
            try await ask { client throws(ControlClient.Failure) in try await client.reload() }
            return true
        } catch {
            if case .noService = error { return false }
            throw CommandFailure(error, path: try options.socket())
        }
    }

    func scan(seconds: Int) async throws -> [AirDevice] {
        let heard = Mutex<[AirDevice]>([])
        try await ServiceOrder.attend(at: try options.socket()) { client throws(ControlClient.Failure) in
            try await client.beginScan(ControlMessage.Scan(seconds: seconds))
        } _: { step, _ in
            if step.step == .done { heard.withLock { $0 = step.devices ?? [] } }
        }
        return heard.withLock { $0 }
    }

    func pair(
        _ target: PairingTarget,
        _ show: @escaping @Sendable (OperatorStep, @escaping ServiceOrder.Answer) throws -> Void
    ) async throws {
        try await ServiceOrder.attend(
            at: try options.socket(),
            begin: { client throws(ControlClient.Failure) in try await client.beginPairing(target) }, show)
    }

    func newestNumber() async -> Int64? {
        try? read { reader, _ in try reader.newestNumber() }
    }

    func newestRecord(after number: Int64, of device: SetupDevice) async -> FoundRecord? {
        try? read { reader, routings in
            try reader.newest(
                after: number, peripheralID: device.model.id, address: device.address, routings: routings)
        }
    }

    private func ask<Answer: Sendable>(
        _ question: (ControlClient) async throws(ControlClient.Failure) -> Answer
    ) async throws(ControlClient.Failure) -> Answer {
        guard let path = try? options.socket() else { throw .noService }
        let client = ControlClient(path: path)
        let result: Result<Answer, ControlClient.Failure>
        do throws(ControlClient.Failure) {
            result = .success(try await question(client))
        } catch {
            result = .failure(error)
        }
        await client.close()
        return try result.get()
    }

    /// Reads the queue as its owner, so that no file there becomes root's, and goes on as root.
    private func read<Value>(_ body: (QueueReader, [DestinationRouting]) throws -> Value) throws -> Value {
        defer {
            if getuid() == 0, geteuid() != 0 {
                seteuid(0)
                setegid(0)
                CoreDumps.forbid()
            }
        }
        let access = try QueueAccess(options)
        return try access.read { try body($0, access.configuration.routings) }
    }
}
