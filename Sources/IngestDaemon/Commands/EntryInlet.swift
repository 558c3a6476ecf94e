import FoundationEssentials

/// The way of entries into the queue: by the running service, or, where none runs, by the queue itself.
enum EntryInlet: Sendable {
    case service(ControlClient)
    case queue(OwnQueue)

    /// Finds the service of a configuration, or opens its queue.
    /// - Parameter needsService: whether there is no way but the running service.
    static func open(
        _ configuration: Configuration, isNamed: Bool, needsService: Bool = false,
        environment: [String: String]
    ) async throws -> Self {
        let client = ControlClient(
            path: ControlSocket.find(
                configuration: configuration, isNamed: isNamed, environment: environment))
        do {
            // Nothing, to see who answers.
            _ = try await client.enter(ControlMessage.Entries(entries: []))
            return .service(client)
        } catch ControlClient.Failure.noService where !needsService {
            await client.close()
            return .queue(try await OwnQueue(configuration))
        } catch {
            await client.close()
            throw CommandFailure(error, path: client.path)
        }
    }

    /// Returns when they are on the disk.
    /// - Throws: `ControlMessage.Refusal` where there is no room for more of an import, else `CommandFailure`.
    func enter(
        _ entries: [RecordEntry], image: ControlMessage.Image? = nil
    ) async throws -> ControlMessage.Entered {
        let message = ControlMessage.Entries(entries: entries, image: image)
        do {
            switch self {
            case .service(let client):
                do {
                    return try await client.enter(message)
                } catch ControlClient.Failure.broken {
                    // It may have closed a connection that was idle. What it has taken already it knows.
                    return try await client.enter(message)
                }
            case .queue(let queue): return try await queue.enter(message)
            }
        } catch let refusal as ControlMessage.Refusal {
            throw refusal.reason == .queueFull ? refusal : CommandFailure(refusal)
        } catch ControlClient.Failure.refused(let refusal) {
            throw refusal.reason == .queueFull ? refusal : CommandFailure(refusal)
        } catch {
            throw failure(error)
        }
    }

    func close() async {
        switch self {
        case .service(let client): await client.close()
        case .queue(let queue): await queue.close()
        }
    }

    private func failure(_ error: any Error) -> any Error {
        switch (self, error) {
        case (.service(let client), let failure as ControlClient.Failure):
            CommandFailure(failure, path: client.path)
        case (_, let error as StoreError): CommandFailure(error)
        default: error
        }
    }
}

extension CommandFailure {
    init(_ refusal: ControlMessage.Refusal) {
        self.init(ExitStatus(refusal.reason), refusal.error)
    }
}
