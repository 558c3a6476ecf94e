internal import BlueZBridge
internal import IngestKit

/// The peripheral's side of one link. Belongs to the radio's loop.
final class SimulatedLink {
    /// PDUs that a trace keeps.
    private static let longestTrace = 10_000

    private let channel: PacketChannel
    private let loop: RadioLoop
    private let behaviour: LinkBehaviour
    private var server: AttributeServer
    private(set) var trace = LinkTrace()
    private var pduCount = 0
    /// Values of this link that wait to be sent, each with what is called at its confirmation.
    private var waiting: [(characteristic: BluetoothUUID, value: [UInt8], confirmed: () -> Void)] = []
    private var unconfirmed: (() -> Void)?
    private let onEnd: (SimulatedLink) -> Void

    init(
        channel: PacketChannel, loop: RadioLoop, behaviour: LinkBehaviour, server: AttributeServer,
        onEnd: @escaping (SimulatedLink) -> Void
    ) {
        self.channel = channel
        self.loop = loop
        self.behaviour = behaviour
        self.server = server
        self.onEnd = onEnd
    }

    func open() {
        channel.open(
            onPacket: { [weak self] packet in self?.received(Wire.copy(packet)) },
            onEnd: { [weak self] _ in self?.ended() })
        guard behaviour.dropAfter != 0 else { return hangUp() }
        for pdu in behaviour.opening { send(pdu) }
    }

    func hangUp() {
        channel.close()
        ended()
    }

    private func ended() {
        guard !trace.hasEnded else { return }
        trace.hasEnded = true
        onEnd(self)
    }

    /// Has a value sent as soon as it is subscribed to and the one before it is confirmed.
    func offer(_ characteristic: BluetoothUUID, _ value: [UInt8], confirmed: @escaping () -> Void) {
        waiting.append((characteristic, value, confirmed))
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
        case _ where opcode % 2 == 0 && opcode & 0x40 == 0:
            let proper = server.answer(pdu)
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
        sendWaiting()
    }

    private func sendWaiting() {
        while unconfirmed == nil, let next = waiting.first,
            let configuration = server.subscriptions[next.characteristic], configuration != 0,
            let handle = server.table.valueHandle(of: next.characteristic)
        {
            waiting.removeFirst()
            let isIndication = configuration & 2 != 0
            let opcode =
                isIndication ? AttributeServer.Opcode.indication : AttributeServer.Opcode.notification
            if isIndication, !behaviour.hangsUpAfterSending { unconfirmed = next.confirmed }
            send([opcode] + Wire.bytes(handle) + next.value.prefix(server.mtu - 3))
            // Nothing tells a peripheral what became of a notification.
            if !isIndication { next.confirmed() }
            if behaviour.hangsUpAfterSending, waiting.isEmpty { return hangUp() }
        }
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
        if trace.pdus.count < Self.longestTrace {
            trace.pdus.append(LinkTrace.PDU(isFromGateway: isFromGateway, bytes: pdu))
        }
        return true
    }
}
