/// A peripheral that sleeps, wakes up with a reading, advertises until it is connected to, gives
/// the reading as an indication and goes back to sleep; or one with a sensor, which decides what it
/// gives on a link.
///
/// Sendable is checked by hand: everything that changes is touched on the radio's loop only, where
/// the public methods go.
package final class SimulatedPeripheral: @unchecked Sendable {
    /// Traces that are kept, and occurrences that wait for a reader.
    private static let longestMemory = 1_024

    package let device: DeviceAddress
    /// Its flags are those of its bonding, if it has one.
    let plainAdvert: [UInt8]
    /// What it answers to a scan request. Set before it starts.
    var scanResponse: [UInt8] = []
    /// What happens to it, in order; the oldest are dropped when nobody reads. One reader.
    package let occurrences: AsyncStream<Occurrence>
    private let continuation: AsyncStream<Occurrence>.Continuation
    let loop: RadioLoop
    private let rhythm: Rhythm
    private let time: @Sendable () -> DeviceTime
    private let readingsPerWakeUp: Int

    /// The clock that it shows, if it shows one.
    private var clock: SimulatedClock?
    /// Its attributes, if not those of its sensor.
    private var services: [SimulatedService]?
    private let sensor: SensorBox?
    private var firstHandle: UInt16
    private let longestPDU: Int
    private var behaviours: [LinkBehaviour] = []
    /// Nil: it knows no bonds.
    var bonding: SimulatedBonding?
    /// The link of a pairing is up, and nothing is read over it yet.
    var pairingLink: BluetoothAddress?
    var isPairing = false
    /// The adapter of the present link.
    private var central: BluetoothAddress?
    private var readings: [SimulatedReading]
    /// The payload of the reading that is given next, once a wake-up has fixed its time.
    private var payloads: [[UInt8]] = []
    private var total: Int
    private var given = 0
    private var confirmed = 0
    private var isAwake = false
    private var isFastAsleep = false
    private var link: SimulatedLink?
    /// Called when a link has ended.
    var onLinkEnd: (() -> Void)?
    private var pastTraces: [LinkTrace] = []
    private var accepted = 0
    var timers: [RadioLoop.Timer] = []
    /// Puts an advert on the air.
    var transmit: (() -> Void)?
    private var onValue: (@Sendable (SimulatedValue) -> Void)?

    /// A peripheral that gives what its sensor has.
    /// - Parameters:
    ///   - readings: given as well, one on each link, before what the sensor has.
    package convenience init(
        device: DeviceAddress, sensor: some SimulatedSensor, longestPDU: Int = 247,
        readings: [SimulatedReading] = [], rhythm: Rhythm = Rhythm(), bonding: SimulatedBonding? = nil,
        loop: RadioLoop, time: @escaping @Sendable () -> DeviceTime
    ) {
        self.init(
            device: device, advert: sensor.advert, services: nil, sensor: SensorBox(sensor),
            firstHandle: 1, longestPDU: longestPDU, readings: readings, readingsPerWakeUp: 1,
            rhythm: rhythm, bonding: bonding, loop: loop, time: time)
    }

    /// - Parameters:
    ///   - firstHandle: where its attributes begin.
    ///   - longestPDU: the longest ATT PDU that it takes; with 23 it refuses to exchange MTUs.
    ///   - readings: what it gives, in this order.
    ///   - readingsPerWakeUp: how many of them on one link.
    ///   - time: its clock.
    package convenience init(
        device: DeviceAddress, advert: [UInt8], services: [SimulatedService], firstHandle: UInt16 = 1,
        longestPDU: Int = 247, readings: [SimulatedReading], readingsPerWakeUp: Int = 1,
        rhythm: Rhythm = Rhythm(), bonding: SimulatedBonding? = nil, loop: RadioLoop,
        time: @escaping @Sendable () -> DeviceTime
    ) {
        self.init(
            device: device, advert: advert, services: services, sensor: nil, firstHandle: firstHandle,
            longestPDU: longestPDU, readings: readings, readingsPerWakeUp: readingsPerWakeUp,
            rhythm: rhythm, bonding: bonding, loop: loop, time: time)
    }

    private init(
        device: DeviceAddress, advert: [UInt8], services: [SimulatedService]?, sensor: SensorBox?,
        firstHandle: UInt16, longestPDU: Int, readings: [SimulatedReading], readingsPerWakeUp: Int,
        rhythm: Rhythm, bonding: SimulatedBonding?, loop: RadioLoop,
        time: @escaping @Sendable () -> DeviceTime
    ) {
        self.device = device
        plainAdvert = advert
        self.bonding = bonding
        self.services = services
        self.sensor = sensor
        self.firstHandle = firstHandle
        self.longestPDU = longestPDU
        self.readings = readings
        self.readingsPerWakeUp = max(1, readingsPerWakeUp)
        total = readings.count
        self.rhythm = rhythm
        self.loop = loop
        self.time = time
        (occurrences, continuation) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingNewest(Self.longestMemory))
    }

    // MARK: For tests

    /// Behaves so on the next links, one each; after them it is healthy.
    package func script(_ behaviours: [LinkBehaviour]) async {
        await loop.perform { self.behaviours = behaviours }
    }

    /// Lays its attributes out anew, as a firmware update does.
    package func relayOut(firstHandle: UInt16, services: [SimulatedService]? = nil) async {
        await loop.perform {
            self.firstHandle = firstHandle
            if let services { self.services = services }
        }
    }

    /// Shows this clock from the next link on, and dates its readings by it.
    package func show(_ clock: SimulatedClock) async {
        await loop.perform { self.clock = clock }
    }

    /// The clock that it shows, as it stands.
    package var shownClock: SimulatedClock? {
        get async { await loop.perform { self.clock } }
    }

    /// Has more readings to give, after those that it has.
    package func measure(_ more: [SimulatedReading]) async {
        await loop.perform {
            self.readings += more
            self.total += more.count
        }
    }

    /// Readings that are not yet confirmed.
    package var waiting: Int {
        get async {
            await loop.perform {
                let report = self.report
                return report.readings - report.confirmed
            }
        }
    }

    /// Whether a link is up.
    package var isLinked: Bool {
        get async { await loop.perform { self.link != nil } }
    }

    /// Tells of its values on links, on the radio's loop.
    package func observe(_ body: @escaping @Sendable (SimulatedValue) -> Void) async {
        await loop.perform { self.onValue = body }
    }

    /// Changes its sensor, which goes on at once if a link is open.
    /// - Precondition: its sensor is of this type.
    @discardableResult
    package func change<Sensor: SimulatedSensor, Result: Sendable>(
        _ type: Sensor.Type, _ body: @escaping @Sendable (inout Sensor) -> Result
    ) async -> Result {
        await loop.perform {
            guard let box = self.sensor, var sensor = box.sensor as? Sensor else {
                preconditionFailure("this peripheral has another sensor")
            }
            let result = body(&sensor)
            box.sensor = sensor
            self.link?.sensorChanged()
            return result
        }
    }

    /// Its sensor as it stands.
    /// - Precondition: its sensor is of this type.
    package func sensor<Sensor: SimulatedSensor>(_ type: Sensor.Type) async -> Sensor {
        await change(type) { $0 }
    }

    /// Wakes it up now, unless it is awake.
    package func wakeUp() async {
        await loop.perform { self.wakeNow() }
    }

    /// What went over its links, the oldest first, with that of the present one.
    package var traces: [LinkTrace] {
        get async {
            await loop.perform { self.pastTraces + (self.link.map { [$0.trace] } ?? []) }
        }
    }

    // MARK: Life, on the radio's loop

    func start(transmit: @escaping () -> Void) {
        self.transmit = transmit
        guard rhythm.pause != nil else { return }
        timers.append(loop.after(rhythm.firstWakeUp) { [weak self] in self?.wakeNow() })
    }

    func stop() {
        cancelTimers()
        isAwake = false
        link?.hangUp()
        cancelTimers()
        transmit = nil
    }

    func cancelTimers() {
        for timer in timers { loop.cancel(timer) }
        timers = []
    }

    func wakeNow() {
        guard !isAwake, !isFastAsleep, transmit != nil else { return }
        isAwake = true
        cancelTimers()
        let now = clock?.reading(at: time()) ?? time()
        while payloads.count < min(readingsPerWakeUp, readings.count) {
            payloads.append(readings[payloads.count].payload(now))
        }
        sensor?.sensor.wokeUp(at: now)
        continuation.yield(.wokeUp)
        stayAwake()
    }

    /// Advertises until its patience is over.
    func stayAwake() {
        advertise()
        guard let patience = rhythm.patience else { return }
        timers.append(loop.after(patience) { [weak self] in self?.sleep() })
    }

    private func advertise() {
        guard isAwake, link == nil, pairingLink == nil, !isPairing else { return }
        transmit?()
        timers.append(loop.after(rhythm.advertInterval) { [weak self] in self?.advertise() })
    }

    func sleep() {
        cancelTimers()
        isAwake = false
        continuation.yield(.asleep)
        if rhythm.shortestSleep > .zero {
            isFastAsleep = true
            loop.after(rhythm.shortestSleep) { [weak self] in self?.isFastAsleep = false }
        }
        guard let pause = rhythm.pause, !readings.isEmpty || sensor?.sensor.hasMore == true else { return }
        timers.append(loop.after(pause) { [weak self] in self?.wakeNow() })
    }

    // MARK: Links, on the radio's loop

    var isDirected: Bool { rhythm.isDirected }
    var isDeaf: Bool { rhythm.isDeaf }

    /// Whether it has a link to this adapter.
    func isLinked(to adapter: BluetoothAddress) -> Bool { link != nil && central == adapter }

    /// Why a connection cannot be made now; nil when it can.
    func obstacle() -> LinkError? {
        guard isAwake || pairingLink != nil, link == nil, !isPairing else { return .notReachable }
        guard let error = behaviours.first?.connectionError else { return nil }
        behaviours.removeFirst()
        return error
    }

    func accept(_ channel: PacketChannel, from adapter: BluetoothAddress? = nil, isEncrypted: Bool = false) {
        cancelTimers()
        pairingLink = nil
        central = adapter
        accepted += 1
        let behaviour = behaviours.isEmpty ? LinkBehaviour() : behaviours.removeFirst()
        var services = services ?? sensor?.sensor.services ?? []
        if let clock { services = clock.added(to: services) }
        let table = AttributeTable(services, first: firstHandle)
        sensor?.sensor.linked()
        let link = SimulatedLink(
            channel: channel, loop: loop, behaviour: behaviour,
            server: AttributeServer(
                table: table, longestPDU: longestPDU, isLocked: bonding?.isRequired == true && !isEncrypted),
            sensor: sensor,
            clock: clock == nil ? nil : self,
            idle: rhythm.idle,
            onValue: { [device, onValue] fate, characteristic, payload in
                onValue?(
                    SimulatedValue(
                        fate: fate, device: device.address, characteristic: characteristic, payload: payload))
            },
            onEnd: { [weak self] in self?.ended($0) })
        self.link = link
        for (reading, payload) in zip(readings, payloads) {
            given += 1
            link.offer(reading.characteristic, payload) { [weak self] in self?.wasConfirmed() }
        }
        continuation.yield(.connected)
        link.open()
    }

    private func wasConfirmed() {
        confirmed += 1
        readings.removeFirst()
        payloads.removeFirst()
        continuation.yield(.confirmed(confirmed))
        guard payloads.isEmpty else { return }
        timers.append(loop.after(rhythm.linger) { [weak self] in self?.link?.hangUp() })
    }

    private func ended(_ link: SimulatedLink) {
        guard link === self.link else { return }
        self.link = nil
        if link.endedByGateway, bonding?.forgetsWhenHungUpOn == true, let central {
            bonding?.keys.remove(central)
        }
        pastTraces.append(link.trace)
        if pastTraces.count > Self.longestMemory { pastTraces.removeFirst() }
        continuation.yield(.linkEnded)
        onLinkEnd?()
        if rhythm.staysAwake, transmit != nil, isAwake { return advertise() }
        sleep()
    }

    // MARK: Its clock, on the radio's loop

    /// The characteristic that shows the clock, and what it shows now.
    func clockValue() -> (characteristic: BluetoothUUID, value: [UInt8])? {
        clock.map { ($0.characteristic, $0.value(at: time())) }
    }

    /// Sets the clock.
    /// - Returns: the ATT error code with which the value is refused; nil when it is taken.
    func setClock(_ value: [UInt8]) -> UInt8? {
        clock?.set(value, at: time())
    }

    /// What it has given so far, on the radio's loop.
    var report: SimulationReport.Peripheral {
        let tally = sensor?.sensor.tally ?? SensorTally()
        return SimulationReport.Peripheral(
            address: device.address, readings: total + tally.readings, offered: given + tally.offered,
            confirmed: confirmed + tally.confirmed, linksAccepted: accepted)
    }
}
