import Glibc

/// The ATT bearer of one link: one request at a time and its answer, values that the peripheral
/// sends by itself, answers to its requests, and the end of all of it.
///
/// Belongs to the radio's loop; `AttributeLink` is its only user.
final class AttributeBearer {
    /// Values that may wait unread: a burst of stored records outruns the commits for a while.
    /// Beyond it the link is ended, so that none is lost silently.
    static let longestQueue = 4_096

    /// A value as it came, before its handle is looked up.
    struct Value: Sendable {
        let handle: UInt16
        let bytes: [UInt8]
        let isIndication: Bool
        /// Later than that of the value before it, even if the clock did not advance: this moment is what distinguishes
        /// equal values without a date.
        let received: MonotonicInstant
    }

    private enum State {
        case open
        case ended(LinkEnd)
    }

    private struct Waiting<Answer: Sendable> {
        let continuation: CheckedContinuation<Result<Answer, LinkError>, Never>
        let timer: RadioLoop.Timer
    }

    private let channel: PacketChannel
    private let loop: RadioLoop
    private let clock: any GatewayClock
    private var state = State.open
    /// When the link ended, as far as this side could see; nil while it is up.
    private(set) var ended: MonotonicInstant?
    /// Whether the kernel has told that the link is down.
    private(set) var isDown = false
    private var request: (opcode: UInt8, waiting: Waiting<[UInt8]>)?
    private var valueReader: Waiting<Value?>?
    private var values: [Value] = []
    private var lastValueReceived: MonotonicInstant?
    /// PDUs over the link, both ways.
    private(set) var pduCount = 0
    /// The longest PDU that both sides take.
    private(set) var mtu = AttributeProtocol.defaultMTU

    var now: MonotonicInstant { clock.now }

    init(channel: PacketChannel, loop: RadioLoop, clock: any GatewayClock) {
        self.channel = channel
        self.loop = loop
        self.clock = clock
    }

    /// Begins to read the channel.
    func open() {
        channel.open(
            onPacket: { [weak self] packet in self?.received(packet) },
            onEnd: { [weak self] errno in self?.end(LinkEnd(errno: errno), byKernel: true) })
    }

    /// Ends every wait and reads no more. The socket stays open until `close`: closed, it would have the kernel end the
    /// link at a moment of its own.
    func stop() { end(.byGateway) }

    /// Closes the channel and ends every wait.
    func close() {
        channel.close()
        end(.byGateway)
    }

    /// - Parameter byKernel: whether the kernel has told that the link is down.
    private func end(_ reason: LinkEnd, byKernel: Bool = false) {
        guard case .open = state else { return }
        state = .ended(reason)
        ended = clock.now
        isDown = byKernel
        if byKernel { channel.close() } else { channel.stop() }
        if let (_, waiting) = request {
            request = nil
            finish(waiting, .failure(.ended(reason)))
        }
        if let reader = valueReader {
            valueReader = nil
            finish(reader, .failure(.ended(reason)))
        }
    }

    private func finish<Answer: Sendable>(_ waiting: Waiting<Answer>, _ result: Result<Answer, LinkError>) {
        loop.cancel(waiting.timer)
        waiting.continuation.resume(returning: result)
    }

    // MARK: Our requests

    /// Sends a request and returns its answer, without looking into it.
    /// - Throws: `busy` when another request is under way: ATT allows one at a time (3.3.2).
    func transact(
        _ pdu: [UInt8], isolation: isolated (any Actor)
    ) async throws(LinkError) -> [UInt8] {
        guard request == nil else { throw .busy }
        try send(pdu)
        let opcode = pdu[0]
        let result = await withCheckedContinuation(isolation: isolation) { continuation in
            let timer = loop.after(AttributeProtocol.transactionTimeout) { [weak self] in
                guard let self, let (_, waiting) = request else { return }
                request = nil
                finish(waiting, .failure(.noAnswer(opcode: opcode)))
                // No further request may be sent on this bearer (3.3.3).
                stop()
            }
            request = (opcode, Waiting(continuation: continuation, timer: timer))
        }
        let answer = try result.get()
        if answer[0] == AttributeProtocol.Opcode.errorResponse {
            guard answer.count >= 5 else { throw .malformed(opcode: opcode) }
            throw .attribute(code: answer[4], opcode: opcode)
        }
        return answer
    }

    /// Agrees on longer PDUs, if the peripheral can.
    func exchangeMTU(isolation: isolated (any Actor)) async throws(LinkError) {
        let opcode = AttributeProtocol.Opcode.exchangeMTURequest
        let offer = AttributeProtocol.littleEndian(UInt16(AttributeProtocol.offeredMTU))
        let answer = try await transact([opcode] + offer, isolation: isolation)
        var reader = PDUReader(answer, skipping: 1)
        guard let theirs = reader.number() else { throw .malformed(opcode: opcode) }
        mtu = max(AttributeProtocol.defaultMTU, min(Int(theirs), AttributeProtocol.offeredMTU))
    }

    func sendConfirmation() throws(LinkError) {
        try send([AttributeProtocol.Opcode.confirmation])
    }

    /// Sends a PDU that has no answer.
    func send(_ pdu: [UInt8]) throws(LinkError) {
        if case .ended(let reason) = state { throw .ended(reason) }
        do {
            try channel.send(pdu)
            pduCount += 1
        } catch {
            let reason = LinkEnd(errno: error.errno)
            // The link is over, but what came before its end may still wait in the socket.
            if error.errno != EAGAIN { channel.drain() }
            // A handler that is running has the rest read after it.
            if error.errno == EAGAIN || !channel.isReading {
                end(reason, byKernel: error.errno != EAGAIN && error.errno != ENOMEM)
            }
            if case .ended(let known) = state { throw .ended(known) }
            throw .ended(reason)
        }
    }

    // MARK: What the peripheral sends

    /// The next value, or nil when `timeout` passes without one. Values that came before the end
    /// of the link are still given.
    func nextValue(
        within timeout: Duration, isolation: isolated (any Actor)
    ) async throws(LinkError) -> Value? {
        if !values.isEmpty { return values.removeFirst() }
        if case .ended(let reason) = state { throw .ended(reason) }
        precondition(valueReader == nil, "a link has one reader")
        let result = await withCheckedContinuation(isolation: isolation) { continuation in
            let timer = loop.after(timeout) { [weak self] in
                guard let self, let reader = valueReader else { return }
                valueReader = nil
                finish(reader, .success(nil))
            }
            valueReader = Waiting(continuation: continuation, timer: timer)
        }
        return try result.get()
    }

    private func received(_ packet: Span<UInt8>) {
        guard packet.count <= max(mtu, AttributeProtocol.offeredMTU) else {
            return end(.other(errno: EMSGSIZE))
        }
        pduCount += 1
        var pdu: [UInt8] = []
        pdu.reserveCapacity(packet.count)
        for index in packet.indices { pdu.append(packet[index]) }
        let opcode = pdu[0]
        switch opcode {
        case AttributeProtocol.Opcode.notification, AttributeProtocol.Opcode.indication:
            receivedValue(pdu, isIndication: opcode == AttributeProtocol.Opcode.indication)
        case _ where AttributeProtocol.isRequest(opcode):
            if let answer = AttributeProtocol.answer(toRequest: pdu) { try? send(answer) }
        case _ where isAnswer(pdu):
            guard let (_, waiting) = request else { return }
            request = nil
            finish(waiting, .success(pdu))
        default:
            // Commands, and answers to nothing that we asked: not ours to act on.
            break
        }
    }

    /// Whether `pdu` answers the request under way: a response's opcode is its request's plus one,
    /// an error names the request (3.4.1.1).
    private func isAnswer(_ pdu: [UInt8]) -> Bool {
        guard let (opcode, _) = request else { return false }
        if pdu[0] == AttributeProtocol.Opcode.errorResponse { return pdu.count < 2 || pdu[1] == opcode }
        return pdu[0] == opcode + 1
    }

    private func receivedValue(_ pdu: [UInt8], isIndication: Bool) {
        var reader = PDUReader(pdu, skipping: 1)
        guard let handle = reader.number(), let bytes = reader.bytes(reader.remaining) else { return }
        // No attribute is longer than 512 bytes (Vol 3 Part F 3.2.9): the PDU is invalid.
        guard bytes.count <= AttributeProtocol.longestValue else { return end(.other(errno: EMSGSIZE)) }
        var received = clock.now
        if let last = lastValueReceived { received = max(received, last + .nanoseconds(1)) }
        lastValueReceived = received
        let value = Value(handle: handle, bytes: bytes, isIndication: isIndication, received: received)
        if let waiting = valueReader {
            valueReader = nil
            finish(waiting, .success(value))
        } else if values.count < Self.longestQueue {
            values.append(value)
        } else {
            end(.other(errno: ENOBUFS))
        }
    }
}

extension LinkEnd {
    /// What the kernel's errno for the end of an L2CAP channel says (net/bluetooth/lib.c,
    /// bt_to_errno, of the HCI reason).
    init(errno: Int32) {
        switch errno {
        case 0, ECONNRESET, EPIPE, ENOTCONN: self = .byPeripheral
        case ETIMEDOUT: self = .signalLost
        case ECONNABORTED: self = .byGateway
        default: self = .other(errno: errno)
        }
    }
}
