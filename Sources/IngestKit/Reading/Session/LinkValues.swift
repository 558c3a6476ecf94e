/// What comes over a link, in order; and whether the device got the gateway's last confirmation.
final class LinkValues {
    /// The shortest connection interval of LE, 7.5 ms (Core Specification Vol 6 Part B 4.5.1): what
    /// ends sooner after a confirmation was handed over cannot be an answer to it.
    private static let shortestInterval = Duration.microseconds(7_500)

    private let link: any PeripheralLink
    private let profile: Profile
    private let store: any RecordStore
    private let clock: any GatewayClock
    /// Whether the gateway ends the link: what is under way stays in the device.
    private(set) var isEnding = false
    /// A confirmation that was handed to the kernel, while nothing shows yet that it arrived.
    private var unproven: (id: RecordID, sent: MonotonicInstant)?

    init(of link: any PeripheralLink, _ profile: Profile, _ environment: ReadSession.Environment) {
        self.link = link
        self.profile = profile
        store = environment.store
        clock = environment.clock
    }

    /// From now on no value is taken.
    func stop() { isEnding = true }

    /// The next value of one of these characteristics; of the profile's sources if nil.
    func next(
        within timeout: Duration, of characteristics: Set<BluetoothUUID>? = nil
    ) async throws(SessionError) -> ReceivedValue? {
        let deadline = clock.now + timeout
        do throws(LinkError) {
            // What is not asked for earns no time.
            while let value = try await link.nextValue(within: max(.zero, deadline.since(clock.now))) {
                if isEnding { throw LinkError.ended(.byGateway) }
                await confirmationArrived()
                if characteristics?.contains(value.characteristic) ?? profile.measures(value.characteristic) {
                    return value
                }
                // Not what was subscribed to: some peripherals indicate more than they were asked.
                try await link.confirm(value)
            }
            return nil
        } catch {
            throw .link(error)
        }
    }

    /// A characteristic's value; nil if the peripheral has none or does not let us read it.
    func value(
        _ characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async throws(LinkError) -> [UInt8]? {
        do {
            let value = try await link.read(characteristic, in: service)
            await confirmationArrived()
            return value
        } catch {
            switch error {
            case .missing, .attribute, .notEncrypted, .bondRefused, .malformed:
                await confirmationArrived()
                return nil
            default: throw error
            }
        }
    }

    // MARK: Confirmations

    /// Confirms an indication whose record is committed.
    func confirm(
        _ value: ReceivedValue, of id: RecordID?
    ) async throws(SessionError) {
        guard value.isIndication else { return }
        do {
            try await link.confirm(value)
        } catch {
            throw .link(error)
        }
        if let id { unproven = (id, clock.now) }
    }

    /// Something came after the confirmation was sent, and LE delivers in order: the device has it.
    func confirmationArrived() async {
        guard let (id, _) = unproven else { return }
        unproven = nil
        // If this fails the record stays marked: an equal one within minutes counts as this one. In a
        // task of its own, because the session's may be cancelled.
        let store = store
        await Task { try? await store.markConfirmed(id) }.value
    }

    /// Decides, at the end of the link, whether the last confirmation reached the device.
    func reconcileConfirmation(after failure: SessionError?) async {
        guard let (_, sent) = unproven else { return }
        switch failure {
        case .link(.ended(.byPeripheral)), .link(.ended(.byGateway)):
            let end = await link.ended ?? clock.now
            guard end.since(sent) >= Self.shortestInterval else { return }
            await confirmationArrived()
        case nil:
            await confirmationArrived()
        default:
            break
        }
    }
}
