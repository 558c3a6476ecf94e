import Synchronization

/// Whether records may come into the queue, as its keepers have decided.
final class QueueRoom: Sendable {
    /// Raised by every commit of records, and by one that found no room. One waiter.
    let growth = WakeUp()
    /// What unpinned devices may hold, and which were refused.
    let strangers = Mutex(StrangerLimits())

    private let path: String
    /// Why no records are taken; nil while they are.
    private let refusal = Mutex<StoreError?>(nil)

    /// - Parameter path: the queue's file, which an error names.
    init(path: String) {
        self.path = path
    }

    /// Takes no records from now on, or does again with nil.
    func refuseRecords(_ level: QueueLevel?) {
        refusal.withLock { $0 = level.map { StoreError(.noRoom($0), path: path) } }
    }

    func check() throws {
        if let refusal = refusal.withLock({ $0 }) { throw refusal }
    }

    /// - Throws: `StoreError` when one of these unpinned devices was refused, and there is no more room since.
    func checkShare(of devices: Set<BluetoothAddress>) throws {
        guard !devices.isEmpty else { return }
        let needs = strangers.withLock { $0.needs }
        guard needs[""] != nil || devices.contains(where: { needs[$0.description] != nil }) else { return }
        throw StoreError(.strangersFull, path: path)
    }

    /// The operator has changed what may be dropped.
    func noteOrder() {
        strangers.withLock { $0.noteOrder() }
        growth.raise()
    }
}
