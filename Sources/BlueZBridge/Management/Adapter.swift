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

    /// Bringing the adapter into shape.
    enum Work: Equatable {
        case idle
        /// It waits for its turn.
        case wanted
        /// It goes on, and once more if something has changed since it began.
        case underWay(again: Bool)
    }

    /// What silence means.
    enum Hearing: Equatable {
        /// Something was heard lately.
        case trusted
        /// Nothing has come for so long that everything is listened to, for a sign of life.
        case inDoubt(wasRestarted: Bool)
        /// The scan was restarted for silence, and nothing heard since.
        case restarted

        var wasRestarted: Bool { self == .restarted || self == .inDoubt(wasRestarted: true) }
        var isInDoubt: Bool { if case .inDoubt = self { true } else { false } }
    }

    let index: UInt16
    /// Tells it from others that had the index before it.
    let generation: UInt64
    /// Nil until the kernel has told.
    var address: BluetoothAddress?
    /// Whether the configuration uses it.
    var isSelected = true
    var monitor = Monitor.none
    /// Devices put on the kernel's list, where the controller matches adverts itself.
    var reported: Set<DeviceAddress> = []
    /// What is to be done once for each adapter.
    var isSetUp: Set<SetUp> = []
    /// Why it does not listen; nil while it does.
    var problem: AdapterProblem? = .starting
    var work = Work.idle
    /// Attempts since it last listened.
    var attempt = 0
    var retry: RadioLoop.Timer?
    var hearing = Hearing.trusted
    /// When an advert with content last came; empty ones come from controllers that hang.
    var lastAdvert: MonotonicInstant
    var silence: RadioLoop.Timer?
    /// Whether the scan is to be restarted the next time the adapter is worked on.
    var restartsScan = false
    var recovery: AdapterRecovery
    var recoveryTimer: RadioLoop.Timer?
    /// Whether it is being switched off and on.
    var isResetting = false
    /// How many links over it are up.
    var links = 0

    enum SetUp {
        case scanTiming
        /// Links that an earlier process left behind are ended.
        case staleLinks
    }

    init(index: UInt16, generation: UInt64, now: MonotonicInstant) {
        self.index = index
        self.generation = generation
        lastAdvert = now
        recovery = AdapterRecovery(at: now)
    }

    var state: AdapterState? {
        guard let address, isSelected else { return nil }
        return AdapterState(
            id: AdapterID(index: index), address: address, isListening: problem == nil,
            reason: problem?.message, resets: recovery.resets, resetReason: recovery.lastReason?.message,
            isBeyondHelp: recovery.isBeyondHelp)
    }
}

/// Why an adapter does not listen.
enum AdapterProblem: Equatable {
    case starting
    case unplugged
    case notSelected
    case poweredOff
    case emptyAllowList
    case resetting
    case command(ManagementError)

    /// Our words for it.
    var message: String {
        switch self {
        case .starting: "starting"
        case .unplugged: "unplugged"
        case .notSelected: "not selected"
        case .poweredOff: "powered off"
        case .emptyAllowList: "the allow-list is empty"
        case .resetting: "being switched off and on"
        case .command(let error): error.message
        }
    }
}

extension ManagementError {
    /// What is wrong with an adapter whose command failed: our words.
    var message: String {
        switch self {
        case .status(ManagementProtocol.Status.blockedByRadioSwitch, _):
            "blocked by a radio switch (rfkill)"
        case .status(ManagementProtocol.Status.unknownCommand, ManagementProtocol.Opcode.readMonitorFeatures):
            "this kernel has no advertisement monitors (Linux 5.10 or later has)"
        case .status(ManagementProtocol.Status.rejected, ManagementProtocol.Opcode.setLowEnergy),
            .status(ManagementProtocol.Status.notSupported, ManagementProtocol.Opcode.setLowEnergy):
            "it has no Bluetooth LE"
        case .status(let status, let opcode):
            "the kernel answered command 0x\(String(opcode, radix: 16)) with status 0x\(String(status, radix: 16))"
        case .noAnswer(let opcode):
            "the kernel did not answer command 0x\(String(opcode, radix: 16))"
        case .malformed(let opcode):
            "the kernel's answer to command 0x\(String(opcode, radix: 16)) is malformed"
        case .system(let error): error.description
        case .noBluetooth, .noPermission, .threadsRunning, .ended: "the management socket has ended"
        }
    }
}
