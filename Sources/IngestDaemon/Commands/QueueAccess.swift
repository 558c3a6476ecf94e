import ArgumentParser
import FoundationEssentials
import Glibc

/// The queue, for commands: read beside the service, changed by the service, or, where none runs, under the state
/// directory's lock.
struct QueueAccess {
    private static let name = "queue.db"

    let configuration: Configuration
    private let socket: String
    private let directory: String
    private var path: String { directory + "/" + Self.name }

    init(_ service: ServiceOptions) throws(CommandFailure) {
        let environment = ProcessInfo.processInfo.environment
        configuration = try service.configuration(environment: environment)
        socket = ControlSocket.find(
            configuration: configuration, isNamed: service.isNamed, environment: environment)
        directory = configuration.gateway.stateDirectory
    }

    func read<Value>(_ body: (QueueReader) throws -> Value) throws -> Value {
        try becomeOwner()
        do {
            return try body(try QueueReader(path: path))
        } catch let error as StoreError {
            throw CommandFailure(error)
        } catch let refusal as DeadLetterRefusal {
            throw CommandFailure(.badData, refusal.message.error)
        } catch let refusal as RecordRefusal {
            throw CommandFailure(.badData, refusal.message)
        }
    }

    /// The key of the tags by which the journal names records. Within `read`, whose user may read it.
    /// - Returns: nil where no service has made one.
    func tagKey() throws(CommandFailure) -> TagKey? { try TagKeyFile(directory: directory).read() }

    /// Has something done that changes the queue.
    /// - Parameters:
    ///   - remote: by the service.
    ///   - local: by this process, where no service runs.
    func change<Value>(
        _ remote: (ControlClient) async throws -> Value, local: (QueueOperations) async throws -> Value
    ) async throws -> Value {
        let client = ControlClient(path: socket)
        do {
            let value = try await remote(client)
            await client.close()
            return value
        } catch ControlClient.Failure.noService {
            await client.close()
        } catch let failure as ControlClient.Failure {
            await client.close()
            throw CommandFailure(failure, path: socket)
        } catch {
            await client.close()
            throw error
        }
        return try await changeAlone(local)
    }

    private func changeAlone<Value>(_ body: (QueueOperations) async throws -> Value) async throws -> Value {
        try becomeOwner()
        guard FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure(StoreError(.missing, path: path))
        }
        let lock = try StateLock.take(directory)
        let result: Result<Value, any Error>
        do {
            result = .success(try await open(body))
        } catch let error as StoreError {
            result = .failure(CommandFailure(error))
        } catch let refusal as ControlMessage.Refusal {
            result = .failure(CommandFailure(ExitStatus(refusal.reason), refusal.error))
        } catch let refusal as DeadLetterRefusal {
            result = .failure(CommandFailure(.badData, refusal.message.error))
        } catch {
            result = .failure(error)
        }
        _ = consume lock
        return try result.get()
    }

    private func open<Value>(_ body: (QueueOperations) async throws -> Value) async throws -> Value {
        let queue = try await SQLiteQueue.open(configuration, clock: SystemClock())
        let result: Result<Value, any Error>
        do {
            let key = try tagKey()
            result = .success(try await body(QueueOperations(queue, configuration: configuration, key: key)))
        } catch {
            result = .failure(error)
        }
        try await queue.close()
        return try result.get()
    }

    /// Root goes on as the owner of the state directory, so that no file there becomes root's.
    private func becomeOwner() throws(CommandFailure) { try Self.becomeOwner(of: directory) }

    static func becomeOwner(of directory: String) throws(CommandFailure) {
        let path = directory + "/" + Self.name
        let attributes = try? FileManager.default.attributesOfItem(atPath: directory)
        guard let attributes else {
            throw CommandFailure(StoreError(.missing, path: path))
        }
        // Numbers of a type that cannot be named here; both are written in digits.
        if geteuid() == 0, let owner = attributes[.ownerAccountID].flatMap({ UInt32("\($0)") }),
            let group = attributes[.groupOwnerAccountID].flatMap({ UInt32("\($0)") }), owner != 0
        {
            guard setegid(group) == 0, seteuid(owner) == 0 else {
                throw CommandFailure(.noPermission, "\(directory): its owner cannot be taken on")
            }
            CoreDumps.forbid()
        }
        guard FileManager.default.isExecutableFile(atPath: directory) else {
            throw CommandFailure(
                .noPermission, "\(directory): you may not: run it as root, or as the service's user")
        }
    }
}
