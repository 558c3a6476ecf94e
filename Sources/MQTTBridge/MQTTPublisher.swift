import Dispatch
package import IngestDelivery
import Synchronization

/// The publisher of one destination: one connection to its broker, made with the first message and kept from then on. All
/// that blocks is done on a thread of its own.
package final class MQTTPublisher: MessagePublisher {
    /// What the thread works on.
    private struct State {
        var connection: BrokerConnection?
        /// After an attempt in which nobody answered: some networks promise IPv6 and do not have it.
        var isByIPv4 = false
        var isTicking = false
        var isOver = false
    }

    /// How long the end of the process waits for the broker.
    private static let farewellBound = DispatchTimeInterval.seconds(2)

    private let settings: BrokerSettings
    private let queue = DispatchQueue(label: "ingestd.mqtt")
    /// Locked on the queue only.
    private let state = Mutex(State())

    package init(_ settings: BrokerSettings) {
        self.settings = settings
    }

    package func publish(_ messages: [BrokerMessage], as login: BrokerLogin) async -> PublishOutcome {
        let call = Call<PublishOutcome>(abandoned: .failed("the request was abandoned"))
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                call.begin(continuation)
                queue.async { [self] in
                    let outcome = state.withLock { state in
                        Self.publish(messages, as: login, settings, &state) { call.isOver }
                    }
                    call.end(outcome)
                    keepAlive()
                }
            }
        } onCancel: {
            call.abandon()
        }
    }

    /// Ends the connection for good, and tells so under the status topic. Returns within 2 s.
    package func shutdown() async {
        let call = Call<Void>(abandoned: ())
        await withCheckedContinuation { continuation in
            call.begin(continuation)
            DispatchQueue.global().asyncAfter(deadline: .now() + Self.farewellBound) { call.abandon() }
            queue.async { [self] in
                state.withLock { state in
                    state.isOver = true
                    state.connection?.disconnect(publishesWill: settings.status != nil)
                    state.connection = nil
                }
                call.end(())
            }
        }
    }

    private static func publish(
        _ messages: [BrokerMessage], as login: BrokerLogin, _ settings: BrokerSettings, _ state: inout State,
        isAbandoned: () -> Bool
    ) -> PublishOutcome {
        guard !state.isOver, !isAbandoned() else { return .failed("the request was abandoned") }
        if let obstacle = connect(as: login, settings, &state, isAbandoned: isAbandoned) { return obstacle }
        let outcome =
            state.connection?.publish(messages, isAbandoned: isAbandoned) ?? .failed("no connection")
        switch outcome {
        case .answered, .tooLarge, .withoutAcknowledgement: break
        // Whatever is still under way there is void.
        case .refused, .ended, .closed, .tooSlow, .failed: state.connection = nil
        }
        return outcome
    }

    /// Makes a connection where none stands for this login.
    /// - Returns: nil when one stands.
    private static func connect(
        as login: BrokerLogin, _ settings: BrokerSettings, _ state: inout State, isAbandoned: () -> Bool
    ) -> PublishOutcome? {
        if let connection = state.connection {
            if connection.login == login, connection.tick() { return nil }
            connection.disconnect(publishesWill: false)
            state.connection = nil
        }
        guard
            let connection = BrokerConnection(
                clientID: settings.clientID, version: settings.version, login: login)
        else {
            return .failed("out of memory")
        }
        let obstacle = connection.connect(
            to: settings.address, byIPv4: state.isByIPv4, status: settings.status, isAbandoned: isAbandoned)
        guard let obstacle else {
            state.connection = connection
            settings.connected()
            return nil
        }
        if case .failed = obstacle {
            state.isByIPv4 = !state.isByIPv4 && obstacle == .failed(BrokerConnection.noConnection)
        }
        return obstacle
    }

    /// Looks after the connection from time to time, as long as there is one.
    private func keepAlive() {
        let pause = state.withLock { state -> Duration? in
            guard let connection = state.connection, !state.isTicking else { return nil }
            state.isTicking = true
            return connection.tickInterval
        }
        guard let pause else { return }
        queue.asyncAfter(deadline: .now() + .seconds(Int(pause.components.seconds))) { [weak self] in
            guard let self else { return }
            state.withLock { state in
                state.isTicking = false
                // The next message makes a new one; the delivery worker decides when.
                if state.connection?.tick() == false { state.connection = nil }
            }
            keepAlive()
        }
    }
}

/// Somebody who waits for a result, and may stop waiting.
private final class Call<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Value, Never>?
        var isOver = false
    }

    private let abandoned: Value
    private let state = Mutex(State())

    init(abandoned: Value) {
        self.abandoned = abandoned
    }

    /// Whether nobody waits any more.
    var isOver: Bool { state.withLock { $0.isOver } }

    func begin(_ continuation: CheckedContinuation<Value, Never>) {
        let isOver = state.withLock { state in
            if !state.isOver { state.continuation = continuation }
            return state.isOver
        }
        if isOver { continuation.resume(returning: abandoned) }
    }

    func end(_ value: Value) {
        let continuation = state.withLock { state in
            defer { state = State(continuation: nil, isOver: true) }
            return state.continuation
        }
        continuation?.resume(returning: value)
    }

    func abandon() { end(abandoned) }
}
