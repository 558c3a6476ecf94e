/// The peripheral's side of one link. Belongs to the radio's loop.
///
/// Sendable is checked by hand: everything that changes is touched on the loop only, where its
/// peripheral makes and drives it, and where its channel and its timers call it.
final class SimulatedLink: @unchecked Sendable {
    /// PDUs that a trace keeps.
    private static let longestTrace = 10_000
    /// PDUs sent in one turn of the loop: the socket takes some hundred, and the gateway reads them
    /// on the same thread.
    private static let longestBurst = 16

    private enum SensorState {
        case ready
        case sending
        case waiting(RadioLoop.Timer, isForSubscription: Bool)
    }

    private struct Outgoing {
        let characteristic: BluetoothUUID
        let value: [UInt8]
        var isUnasked = false
        /// Called at its confirmation, or once it is sent where nothing confirms it.
        let confirmed: () -> Void
    }

    private let channel: PacketChannel
    private let loop: RadioLoop
    private let behaviour: LinkBehaviour
    private var server: AttributeServer
    private(set) var trace = LinkTrace()
    /// Whether it was the gateway that ended it.
    private(set) var endedByGateway = false
    private var pduCount = 0
    private let sensor: SensorBox?
    /// The peripheral, if it shows a clock.
    private weak var clock: SimulatedPeripheral?
    private var sensorState = SensorState.ready
    /// Values of this link that wait to be sent.
    private var waiting: [Outgoing] = []
    private var unconfirmed: (() -> Void)?
    private let idle: Duration?
    private var idleTimer: RadioLoop.Timer?
    private let onValue: (SimulatedValue.Fate, BluetoothUUID, [UInt8]) -> Void
    private let onEnd: (SimulatedLink) -> Void

    init(
        channel: PacketChannel, loop: RadioLoop, behaviour: LinkBehaviour, server: AttributeServer,
        sensor: SensorBox? = nil, clock: SimulatedPeripheral? = nil, idle: Duration? = nil,
        onValue: @escaping (SimulatedValue.Fate, BluetoothUUID, [UInt8]) -> Void = { _, _, _ in },
        onEnd: @escaping (SimulatedLink) -> Void
    ) {
        self.channel = channel
        self.loop = loop
        self.behaviour = behaviour
        self.server = server
        self.sensor = sensor
        self.clock = clock
        self.idle = idle
        self.onValue = onValue
        self.onEnd = onEnd
    }

    func open() {
        channel.open(
            onPacket: { [weak self] packet in self?.received(Wire.copy(packet)) },
            onEnd: { [weak self] _ in
                self?.endedByGateway = true
                self?.ended()
            })
        guard behaviour.dropAfter != 0 else { return hangUp() }
        expectSomething()
        for pdu in behaviour.opening { send(pdu) }
    }

    func hangUp() {
        channel.close()
        ended()
    }

    /// Hangs up when nothing goes over the link for too long. A PDU that waits in the socket has come.
    private func expectSomething() {
        guard let idle else { return }
        if let idleTimer { loop.cancel(idleTimer) }
        idleTimer = loop.after(idle) { [weak self] in
            guard let self else { return }
            let before = pduCount
            channel.drain()
            if pduCount == before { hangUp() }
        }
    }

    private func ended() {
        guard !trace.hasEnded else { return }
        trace.hasEnded = true
        if let idleTimer { loop.cancel(idleTimer) }
        if case .waiting(let timer, _) = sensorState { loop.cancel(timer) }
        onEnd(self)
    }

    /// Has a value sent as soon as it is subscribed to and the one before it is confirmed.
    func offer(_ characteristic: BluetoothUUID, _ value: [UInt8], confirmed: @escaping () -> Void) {
        waiting.append(Outgoing(characteristic: characteristic, value: value, confirmed: confirmed))
    }

    // MARK: PDUs

    private func received(_ pdu: [UInt8]) {
        guard let opcode = pdu.first, note(pdu, isFromGateway: true) else { return }
        switch opcode {
        case AttributeServer.Opcode.confirmation:
            let confirmed = unconfirmed
            unconfirmed = nil
            confirmed?()
            if behaviour.dropAfter == pduCount { return hangUp() }
            sendWaiting()
        case _ where behaviour.dropAfter == pduCount:
            hangUp()
        case AttributeServer.Opcode.writeCommand:
            _ = perform(pdu)
            stepSensor()
            sendWaiting()
        case _ where opcode % 2 == 0 && opcode & 0x40 == 0:
            let proper = perform(pdu)
            let answers = behaviour.respond?(pdu, proper) ?? [proper]
            guard behaviour.answerDelay > .zero else { return answer(answers) }
            loop.after(behaviour.answerDelay) { [weak self] in self?.answer(answers) }
        default:
            // Answers to the requests that `opening` made; they stand in the trace.
            break
        }
    }

    private func answer(_ pdus: [[UInt8]]) {
        for pdu in pdus { send(pdu) }
        stepSensor()
        sendWaiting()
    }

    /// Carries out a request or command and returns its answer, if it has one.
    private func perform(_ pdu: [UInt8]) -> [UInt8] {
        if let refusal = server.lockedRefusal(of: pdu) { return refusal }
        if let clock, let shown = clock.clockValue() {
            server.show(shown.value, as: shown.characteristic)
            if let write = server.valueWrite(pdu), write.characteristic == shown.characteristic,
                let code = clock.setClock(write.value)
            {
                return server.refusal(of: pdu, code)
            }
        }
        if let sensor, let write = server.valueWrite(pdu) {
            endPause()
            let code = sensor.sensor.written(
                write.value, to: write.characteristic, subscriptions: subscriptions)
            if let code { return server.refusal(of: pdu, code) }
        }
        guard pdu.first == AttributeServer.Opcode.writeCommand else {
            let subscribed = subscriptions
            defer {
                if case .waiting(_, isForSubscription: true) = sensorState, subscriptions != subscribed {
                    endPause()
                }
            }
            return server.answer(pdu)
        }
        server.take(command: pdu)
        return []
    }

    private func sendWaiting() {
        var burst = 0
        while !trace.hasEnded, unconfirmed == nil,
            let place = waiting.firstIndex(where: { $0.isUnasked || isSubscribed(to: $0.characteristic) }),
            let handle = server.table.valueHandle(of: waiting[place].characteristic)
        {
            guard burst < Self.longestBurst else {
                return loop.run { [weak self] in self?.sendWaiting() }
            }
            burst += 1
            let next = waiting.remove(at: place)
            let isIndication = (server.subscriptions[next.characteristic] ?? 0) & 2 != 0
            let opcode =
                isIndication ? AttributeServer.Opcode.indication : AttributeServer.Opcode.notification
            if isIndication, !behaviour.hangsUpAfterSending {
                unconfirmed = { [onValue] in
                    onValue(.confirmed, next.characteristic, next.value)
                    next.confirmed()
                }
            }
            onValue(.offered, next.characteristic, next.value)
            send([opcode] + Wire.bytes(handle) + next.value.prefix(server.mtu - 3))
            // Nothing tells a peripheral what became of a notification.
            if !isIndication { next.confirmed() }
            if behaviour.hangsUpAfterSending, waiting.isEmpty { return hangUp() }
        }
    }

    private func isSubscribed(to characteristic: BluetoothUUID) -> Bool {
        (server.subscriptions[characteristic] ?? 0) != 0
    }

    private var subscriptions: Set<BluetoothUUID> {
        Set(server.subscriptions.filter { $0.value != 0 }.keys)
    }

    // MARK: The sensor

    /// Has the sensor's steps done until there is one that takes time, or none.
    private func stepSensor() {
        guard let sensor else { return }
        while case .ready = sensorState, !trace.hasEnded, let step = sensor.sensor.next(subscriptions) {
            switch step {
            case .send(let characteristic, let value):
                guard isSubscribed(to: characteristic) else { continue }
                sensorState = .sending
                waiting.append(
                    Outgoing(characteristic: characteristic, value: value) { [weak self] in self?.stepDone() }
                )
            case .notifyUnasked(let characteristic, let value):
                sensorState = .sending
                waiting.append(
                    Outgoing(characteristic: characteristic, value: value, isUnasked: true) { [weak self] in
                        self?.stepDone()
                    })
            case .wait(let pause): wait(pause, isForSubscription: false)
            case .waitForSubscription(let patience): wait(patience, isForSubscription: true)
            case .hangUp:
                hangUp()
            }
        }
    }

    private func wait(_ duration: Duration, isForSubscription: Bool) {
        let timer = loop.after(duration) { [weak self] in
            self?.stepDone()
            self?.sendWaiting()
        }
        sensorState = .waiting(timer, isForSubscription: isForSubscription)
    }

    private func stepDone() {
        sensorState = .ready
        stepSensor()
    }

    private func endPause() {
        guard case .waiting(let timer, _) = sensorState else { return }
        loop.cancel(timer)
        sensorState = .ready
    }

    /// The sensor has something new: it is asked again, unless it is doing something.
    func sensorChanged() {
        stepSensor()
        sendWaiting()
    }

    private func send(_ pdu: [UInt8]) {
        guard !trace.hasEnded else { return }
        do {
            try channel.send(pdu)
        } catch {
            return hangUp()
        }
        guard note(pdu, isFromGateway: false) else { return }
        if behaviour.dropAfter == pduCount { hangUp() }
    }

    /// Takes a PDU into the trace; false once the link has ended.
    private func note(_ pdu: [UInt8], isFromGateway: Bool) -> Bool {
        guard !trace.hasEnded else { return false }
        pduCount += 1
        expectSomething()
        if trace.pdus.count < Self.longestTrace {
            trace.pdus.append(LinkTrace.PDU(isFromGateway: isFromGateway, bytes: pdu))
        }
        return true
    }
}
