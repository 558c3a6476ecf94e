/// What of `AdvertReceiver`'s decision the kernel takes beforehand.
struct KernelFilter {
    /// For the filter in force; nil where it is too long for a program.
    var program: SocketFilter?
    /// Whether it was told that all adverts come.
    var hasToldOfAll = false
}

/// What is heard: the kernel drops adverts that nobody asks for, and silence is nevertheless silence.
extension BlueZRadio {
    /// Nothing that is listed for this long is no silence yet, but from then on every advert comes.
    static let trust = Duration.seconds(60)
    /// Without any advert for this long then the scan is restarted once; then hourly. Homes without any device in the
    /// air look the same as a scan that died.
    private static let silence = Duration.seconds(90)
    private static let longSilence = Duration.seconds(3_600)

    // MARK: The kernel's filter

    func listen(only filter: AdvertisementFilter) {
        receiver.filter = filter
        kernelFilter.program = AdvertProgram.filter(admitting: filter)
        if kernelFilter.program == nil { tellOfAll("the list is too long") }
        filterInKernel()
    }

    /// Has the kernel drop what nobody asks for, or nothing, as things stand now. Without its help all adverts come.
    func filterInKernel() {
        let needsAll =
            receiver.onEvery != nil || !watched.isEmpty
            || inventory.values.contains { $0.hearing != .trusted }
        do {
            try management.setFilter(needsAll ? nil : kernelFilter.program)
        } catch {
            tellOfAll(error.description)
        }
    }

    private func tellOfAll(_ reason: String) {
        guard !kernelFilter.hasToldOfAll else { return }
        kernelFilter.hasToldOfAll = true
        settings.log.takesEveryAdvert(reason)
    }

    /// Has the kernel drop nothing until each of these adapters has received something.
    package func watch(for adapters: Set<AdapterID>) {
        watched = Set(adapters.map(\.index))
        filterInKernel()
    }

    // MARK: Silence

    /// Notes an advert with content, whoever's.
    func heard(on index: UInt16) {
        inventory[index]?.lastAdvert = clock.now
        let wasBeyondHelp = inventory[index]?.recovery.isBeyondHelp
        inventory[index]?.recovery.heard(at: clock.now)
        if inventory[index]?.recovery.isBeyondHelp != wasBeyondHelp { publish() }
        if watched.remove(index) != nil {
            signsContinuation.yield(ReceptionSign(adapter: AdapterID(index: index), received: clock.now))
            filterInKernel()
        }
        guard let adapter = inventory[index], adapter.hearing != .trusted else { return }
        set(.trusted, index)
        if let timer = adapter.silence { loop.cancel(timer) }
        inventory[index]?.silence = nil
        watchSilence(index)
    }

    private func set(_ hearing: Adapter.Hearing, _ index: UInt16) {
        inventory[index]?.hearing = hearing
        filterInKernel()
    }

    func watchSilence(_ index: UInt16) {
        guard let adapter = inventory[index], adapter.silence == nil else { return }
        let due = adapter.lastAdvert + Self.trust(in: adapter)
        let wait = adapter.hearing.isInDoubt ? Self.silence : max(Duration.seconds(1), due.since(clock.now))
        inventory[index]?.silence = loop.after(wait) { [weak self] in
            self?.assumeIsolated { $0.checkSilence(index) }
        }
    }

    /// How long nothing may come of what the kernel does not drop.
    private static func trust(in adapter: Adapter) -> Duration {
        adapter.hearing.wasRestarted ? longSilence - silence : trust
    }

    private func checkSilence(_ index: UInt16) {
        guard let adapter = inventory[index] else { return }
        inventory[index]?.silence = nil
        let wasRestarted = adapter.hearing.wasRestarted
        guard adapter.problem == nil else { return set(wasRestarted ? .restarted : .trusted, index) }
        if adapter.hearing.isInDoubt {
            set(.restarted, index)
            inventory[index]?.lastAdvert = clock.now
            inventory[index]?.restartsScan = true
            checkRecovery(index)
            wantReconciled(index)
        } else if clock.now.since(adapter.lastAdvert) < Self.trust(in: adapter) {
            inventory[index]?.hearing = .trusted
            watchSilence(index)
        } else {
            set(.inDoubt(wasRestarted: wasRestarted), index)
            watchSilence(index)
        }
    }
}
