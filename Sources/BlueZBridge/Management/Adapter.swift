/// Which adapters are used.
package enum AdapterSelection: Sendable, Equatable {
    case any
    case index(UInt16)
    case address(BluetoothAddress)

    func includes(index: UInt16, address: BluetoothAddress) -> Bool {
        switch self {
        case .any: true
        case .index(let wanted): wanted == index
        case .address(let wanted): wanted == address
        }
    }
}

/// How the kernel is to scan, in units of 0.625 ms, 4 to 16384 (HCI LE Set Scan Parameters).
package struct ScanTiming: Sendable, Equatable {
    package let interval: UInt16
    package let window: UInt16

    package init(interval: UInt16, window: UInt16) {
        self.interval = interval
        self.window = window
    }
}

/// What the radio knows of one adapter.
struct Adapter {
    /// The monitor that keeps the kernel scanning.
    enum Monitor: Equatable {
        case none
        /// Added by this process, for these patterns.
        case own(handle: UInt16, patterns: [AdvertisementPattern])
        /// Found in place: without matching in the controller, any monitor brings every advert.
        case adopted(handle: UInt16)

        var handle: UInt16? {
            switch self {
            case .none: nil
            case .own(let handle, _), .adopted(let handle): handle
            }
        }
    }

    let index: UInt16
    /// Tells it from others that had the index before it.
    let generation: UInt64
    /// Nil until the kernel has told.
    var address: BluetoothAddress?
    var isSelected = true
    var monitor = Monitor.none
    /// Devices put on the kernel's list, where the controller matches adverts itself.
    var reported: Set<DeviceAddress> = []
    var hasScanTiming = false
    var hasEndedStaleLinks = false
    /// Why it does not listen; nil while it does.
    var problem: String? = "starting"
    /// Whether it is being brought into shape now, and whether something has changed meanwhile.
    var isSettling = false
    var needsSettling = false
    /// Attempts since it last listened.
    var attempt = 0
    var retry: RadioLoop.Timer?
    var silence: RadioLoop.Timer?
    /// When an advert with content last came; empty ones come from controllers that hang.
    var lastAdvert: MonotonicInstant
    /// Whether nothing has come for so long that everything is listened to, for a sign of life.
    var isInDoubt = false
    /// Whether the scan was restarted for silence, and nothing heard since.
    var wasRestarted = false
    /// Whether the scan is to be restarted the next time the adapter is worked on.
    var restartsScan = false

    init(index: UInt16, generation: UInt64, now: MonotonicInstant) {
        self.index = index
        self.generation = generation
        lastAdvert = now
    }

    var state: AdapterState? {
        guard let address, isSelected else { return nil }
        return AdapterState(
            id: AdapterID(index: index), address: address, isListening: problem == nil, reason: problem)
    }
}
