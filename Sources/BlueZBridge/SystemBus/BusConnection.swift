import CSystemd
import Glibc

/// A connection to a D-Bus message bus, on a loop that waits for it: nothing here blocks.
///
/// sd-bus does the transport and the marshalling; who gets which message is decided here, in the
/// order in which they come. Of sd-bus's callbacks none is used: a message that it has no handler
/// for is handed out by sd_bus_process(3).
///
/// Sendable is checked by hand: everything that changes is touched on the loop's thread only, which
/// each method asserts or hops to. Safe: its pointers are sd-bus's, which it counts references of, and
/// none leaves it.
@safe
package final class BusConnection: @unchecked Sendable {
    /// Where the bus listens.
    package enum Address: Sendable, Equatable {
        /// The system bus (sd_bus_open_system(3)).
        case system
        /// Another, by its D-Bus address.
        case bus(String)
    }

    /// Who gets what comes. Called on the loop, in the order of the bus.
    package struct Handlers {
        package var onSignal: (BusSignal) -> Void
        package var onRequest: (BusRequest) -> Void
        /// Once, when the bus has ended the connection; not after `close`.
        package var onEnd: () -> Void

        package init(
            onSignal: @escaping (BusSignal) -> Void = { _ in },
            onRequest: @escaping (BusRequest) -> Void = { _ in },
            onEnd: @escaping () -> Void = {}
        ) {
            self.onSignal = onSignal
            self.onRequest = onRequest
            self.onEnd = onEnd
        }
    }

    /// A call that waits for its answer.
    package struct PendingCall: Hashable, Sendable {
        fileprivate let cookie: UInt64
    }

    private struct Waiting {
        let timer: RadioLoop.Timer
        let onReply: (Result<[BusValue], BusError>) -> Void
    }

    /// Messages taken in one turn before other descriptors get theirs.
    private static let messagesPerTurn = 64
    /// Requests that wait for our answer; bluetoothd has one agent's request at a time.
    private static let mostRequests = 16

    private let loop: RadioLoop
    /// Nil once the connection has ended.
    private var bus: OpaquePointer?
    private var handlers = Handlers()
    private var watched: (descriptor: Int32, readiness: RadioLoop.Readiness)?
    private var timer: RadioLoop.Timer?
    private var waiting: [UInt64: Waiting] = [:]
    private var requests: [UInt64: OpaquePointer] = unsafe [:]
    private var lastRequest: UInt64 = 0

    /// Begins to connect; calls may be made at once, and wait until the bus has let us in.
    /// - Throws: the errno of a bus that is not there.
    package init(_ address: Address, loop: RadioLoop, handlers: Handlers) throws(SystemError) {
        self.loop = loop
        loop.checkIsolated()
        var opened: OpaquePointer?
        let result: CInt
        switch address {
        case .system:
            result = unsafe sd_bus_open_system(&opened)
        case .bus(let text):
            result = unsafe Self.open(text, &opened)
        }
        guard result >= 0, let opened = unsafe opened else {
            throw SystemError(call: "sd_bus_start", errno: -result)
        }
        unsafe bus = opened
        self.handlers = handlers
        arm()
    }

    /// As sd_bus_open_system(3) does, at another address.
    private static func open(_ address: String, _ opened: inout OpaquePointer?) -> CInt {
        var result = unsafe sd_bus_new(&opened)
        guard result >= 0 else { return result }
        result = unsafe sd_bus_set_address(opened, address)
        if result >= 0 { result = unsafe sd_bus_set_bus_client(opened, 1) }
        if result >= 0 { result = unsafe sd_bus_start(opened) }
        if result < 0 { unsafe opened = sd_bus_close_unref(opened) }
        return result
    }

    deinit {
        // The loop holds an open connection by its watch, so that this one is closed.
        assert(unsafe bus == nil, "a connection is closed before it is given up")
    }

    /// Ends the connection; calls under way fail. May be called twice.
    package func close() {
        loop.checkIsolated()
        guard let open = unsafe bus else { return }
        unsafe bus = nil
        if let timer { loop.cancel(timer) }
        if let watched { loop.ignore(watched.descriptor) }
        watched = nil
        while let (_, message) = unsafe requests.popFirst() { unsafe sd_bus_message_unref(message) }
        // What was sent just now may still wait for the socket; it is dropped with it.
        unsafe sd_bus_close_unref(open)
        handlers = Handlers()
        let waiting = waiting.values
        self.waiting = [:]
        for call in waiting {
            loop.cancel(call.timer)
            call.onReply(.failure(.notConnected))
        }
    }

    // MARK: Sending

    /// Calls a method and returns the answer's arguments; from any isolation. No name is started
    /// for it. Cancellation does not end it: the answer or `timeout` does.
    package func call(_ call: BusCall, within timeout: Duration) async throws(BusError) -> [BusValue] {
        let result: Result<[BusValue], BusError> = await withCheckedContinuation { continuation in
            loop.run { self.send(call, within: timeout) { continuation.resume(returning: $0) } }
        }
        return try result.get()
    }

    /// Calls a method, on the loop. `onReply` is called once with the answer, in the order of the
    /// bus: before any signal that was sent after it.
    @discardableResult
    package func send(
        _ call: BusCall, within timeout: Duration,
        onReply: @escaping (Result<[BusValue], BusError>) -> Void
    ) -> PendingCall? {
        loop.checkIsolated()
        do throws(BusError) {
            let cookie = try unsafe transmit { (bus, message) throws(BusError) in
                let result = unsafe sd_bus_message_new_method_call(
                    bus, &message, call.destination, call.path, call.interface, call.member)
                guard result >= 0, let made = unsafe message else { throw .malformed }
                // Who is not there is not started: bluetoothd is the operator's to start.
                unsafe sd_bus_message_set_auto_start(made, 0)
                try unsafe BusWriter.append(call.arguments, to: made)
            }
            let timer = loop.after(timeout) { [weak self] in
                guard let self, let call = waiting.removeValue(forKey: cookie) else { return }
                call.onReply(.failure(.timedOut))
            }
            waiting[cookie] = Waiting(timer: timer, onReply: onReply)
            return PendingCall(cookie: cookie)
        } catch {
            onReply(.failure(error))
            return nil
        }
    }

    /// Waits no more for an answer; `onReply` is not called.
    package func forget(_ call: PendingCall) {
        loop.checkIsolated()
        guard let call = waiting.removeValue(forKey: call.cookie) else { return }
        loop.cancel(call.timer)
    }

    /// Sends a signal to whoever listens, or to one receiver, on the loop.
    package func emit(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue],
        to receiver: String? = nil
    ) throws(BusError) {
        loop.checkIsolated()
        _ = try unsafe transmit { (bus, message) throws(BusError) in
            let result = unsafe sd_bus_message_new_signal(bus, &message, path, interface, member)
            guard result >= 0, let made = unsafe message else { throw .malformed }
            if let receiver, unsafe sd_bus_message_set_destination(made, receiver) < 0 { throw .malformed }
            try unsafe BusWriter.append(arguments, to: made)
        }
    }

    /// Answers a request, on the loop. A second answer is none.
    package func answer(_ request: BusRequest, _ arguments: [BusValue] = []) {
        loop.checkIsolated()
        guard let call = unsafe requests.removeValue(forKey: request.number) else { return }
        defer { unsafe sd_bus_message_unref(call) }
        // Not sent where the connection has ended, or where no answer is wanted.
        _ = try? unsafe transmit { (_, message) throws(BusError) in
            guard unsafe sd_bus_message_new_method_return(call, &message) >= 0,
                let made = unsafe message
            else { throw .malformed }
            try unsafe BusWriter.append(arguments, to: made)
        }
    }

    /// Answers a request with an error, on the loop.
    package func refuse(_ request: BusRequest, _ name: String) {
        loop.checkIsolated()
        guard let call = unsafe requests.removeValue(forKey: request.number) else { return }
        defer { unsafe sd_bus_message_unref(call) }
        unsafe refuse(call, name)
    }

    private func refuse(_ call: OpaquePointer, _ name: String) {
        _ = try? unsafe transmit { (_, message) throws(BusError) in
            let result = unsafe name.withCString { text in
                var error = unsafe sd_bus_error(name: text, message: nil, _need_free: 0)
                return unsafe sd_bus_message_new_method_error(call, &message, &error)
            }
            guard result >= 0 else { throw .malformed }
        }
    }

    /// Makes a message and sends it.
    /// - Returns: its number on this connection.
    private func transmit(
        _ make: (OpaquePointer, inout OpaquePointer?) throws(BusError) -> Void
    ) throws(BusError) -> UInt64 {
        guard let bus = unsafe bus else { throw .notConnected }
        var message: OpaquePointer?
        defer { unsafe sd_bus_message_unref(message) }
        try unsafe make(bus, &message)
        var cookie: UInt64 = 0
        // Queued where the socket is full, up to a bound of sd-bus's own (ENOBUFS).
        guard unsafe sd_bus_send(bus, message, &cookie) >= 0 else { throw .notConnected }
        arm()
        return cookie
    }

    // MARK: Receiving

    private func turn() {
        for _ in 0..<Self.messagesPerTurn {
            guard let bus = unsafe bus else { return }
            var message: OpaquePointer?
            let result = unsafe sd_bus_process(bus, &message)
            if let message = unsafe message {
                unsafe received(message)
                unsafe sd_bus_message_unref(message)
            }
            if result < 0 { return end() }
            if result == 0 { return arm() }
        }
        // More may wait in sd-bus's own queue, which poll(2) does not see.
        loop.run { [weak self] in self?.turn() }
    }

    private func received(_ message: OpaquePointer) {
        var type: UInt8 = 0
        unsafe sd_bus_message_get_type(message, &type)
        switch Int(type) {
        case Int(SD_BUS_MESSAGE_METHOD_RETURN), Int(SD_BUS_MESSAGE_METHOD_ERROR):
            unsafe replied(message)
        case Int(SD_BUS_MESSAGE_SIGNAL):
            unsafe signalled(message)
        case Int(SD_BUS_MESSAGE_METHOD_CALL):
            unsafe requested(message)
        default:
            break
        }
    }

    private func replied(_ message: OpaquePointer) {
        var cookie: UInt64 = 0
        guard unsafe sd_bus_message_get_reply_cookie(message, &cookie) >= 0,
            let call = waiting.removeValue(forKey: cookie)
        else { return }
        loop.cancel(call.timer)
        call.onReply(
            Result { () throws(BusError) in
                if let error = unsafe sd_bus_message_get_error(message) {
                    throw .remote(name: unsafe Self.text(error.pointee.name))
                }
                return try unsafe BusReader.arguments(of: message)
            })
    }

    private func signalled(_ message: OpaquePointer) {
        let interface = unsafe Self.text(sd_bus_message_get_interface(message))
        let member = unsafe Self.text(sd_bus_message_get_member(message))
        // sd-bus's own word for the end; nobody else may use this interface.
        if interface == "org.freedesktop.DBus.Local", member == "Disconnected" { return end() }
        guard let arguments = try? unsafe BusReader.arguments(of: message) else { return }
        handlers.onSignal(
            BusSignal(
                sender: unsafe Self.text(sd_bus_message_get_sender(message)),
                path: unsafe Self.text(sd_bus_message_get_path(message)), interface: interface,
                member: member, arguments: arguments))
    }

    private func requested(_ message: OpaquePointer) {
        guard unsafe requests.count < Self.mostRequests else {
            return unsafe refuse(message, "org.freedesktop.DBus.Error.LimitsExceeded")
        }
        guard let arguments = try? unsafe BusReader.arguments(of: message) else {
            return unsafe refuse(message, "org.freedesktop.DBus.Error.InvalidArgs")
        }
        lastRequest += 1
        unsafe requests[lastRequest] = sd_bus_message_ref(message)
        handlers.onRequest(
            BusRequest(
                number: lastRequest, sender: unsafe Self.text(sd_bus_message_get_sender(message)),
                path: unsafe Self.text(sd_bus_message_get_path(message)),
                interface: unsafe Self.text(sd_bus_message_get_interface(message)),
                member: unsafe Self.text(sd_bus_message_get_member(message)), arguments: arguments))
    }

    private static func text(_ text: UnsafePointer<CChar>?) -> String {
        guard let text = unsafe text else { return "" }
        return unsafe String(cString: text)
    }

    private func end() {
        guard unsafe bus != nil else { return }
        let onEnd = handlers.onEnd
        close()
        onEnd()
    }

    // MARK: Waiting

    /// Waits for what sd-bus wants to be woken up for.
    private func arm() {
        guard let bus = unsafe bus else { return }
        let descriptor = unsafe sd_bus_get_fd(bus)
        let events = unsafe sd_bus_get_events(bus)
        guard descriptor >= 0, events >= 0 else {
            // Not within the caller's own call.
            loop.run { [weak self] in self?.end() }
            return
        }
        let readiness: RadioLoop.Readiness
        switch (events & POLLIN != 0, events & POLLOUT != 0) {
        case (true, true): readiness = .toReadOrWrite
        case (false, true): readiness = .toWrite
        default: readiness = .toRead
        }
        if watched?.descriptor != descriptor || watched?.readiness != readiness {
            if let watched { loop.ignore(watched.descriptor) }
            watched = (descriptor, readiness)
            // Held by the loop until `close`.
            loop.watch(descriptor, for: readiness) { [self] in turn() }
        }
        armTimer()
    }

    /// sd-bus has a deadline of its own while the bus lets us in; later ones are ours.
    private func armTimer() {
        if let timer { loop.cancel(timer) }
        timer = nil
        var microseconds: UInt64 = 0
        guard let bus = unsafe bus, unsafe sd_bus_get_timeout(bus, &microseconds) > 0, microseconds != .max
        else { return }
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        let passed = Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1_000
        let wait = max(0, Int64(clamping: microseconds) - passed)
        timer = loop.after(.microseconds(wait)) { [weak self] in self?.turn() }
    }
}
