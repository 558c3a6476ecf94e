/// What unpinned devices may hold of the queue: devices that the allow-list does not name by address. Anybody near the
/// gateway can be one, under as many addresses as they like, and must not take the room of those that are named.
public struct StrangerShare: Sendable, Equatable {
    /// For all of them, in bytes: a tenth of the queue.
    public let all: Int64

    /// - Parameter maximumSize: of the queue, in bytes.
    public init(maximumSize: UInt64) {
        all = Int64(clamping: maximumSize / 10)
    }

    /// For one of them, in bytes.
    public var device: Int64 { all / 8 }

    /// From here on room is made, and who holds so much in spite of that is not read.
    static func high(_ limit: Int64) -> Int64 { limit / 10 * 9 }
    /// So far room is made.
    static func ample(_ limit: Int64) -> Int64 { limit / 10 * 8 }
}

/// Unpinned devices that are not read, because there is no room for what they would give.
public struct FullStrangers: Sendable, Equatable {
    /// Whether none of them is read.
    public var isAll = false
    /// Those that hold as much as one may.
    public var devices: Set<BluetoothAddress> = []

    public init(isAll: Bool = false, devices: Set<BluetoothAddress> = []) {
        self.isAll = isAll
        self.devices = devices
    }

    public var isEmpty: Bool { !isAll && devices.isEmpty }

    /// Whether a device that is read under this entry is one of them.
    func include(_ device: BluetoothAddress, _ entry: AllowedPeripheral) -> Bool {
        entry.address == nil && (isAll || devices.contains(device))
    }
}

/// What the store knows of the share.
struct StrangerLimits: Sendable {
    /// More refusals are not remembered: who is not remembered is refused anew.
    private static let mostRefusals = 256

    /// Nil is without bounds.
    var share: StrangerShare?
    /// How many bytes each needed that was refused; the one without address, all.
    private(set) var needs: [String: Int64] = [:]
    /// Whether something of theirs changed since it was asked last.
    var isChanged = true
    /// How often the operator changed what may be dropped: which destinations want what, or what is set aside.
    private(set) var orders = 0

    mutating func refuse(_ address: String, needs bytes: Int64) {
        if needs.count >= Self.mostRefusals, needs[address] == nil,
            let other = needs.keys.first(where: { !$0.isEmpty })
        {
            needs[other] = nil
        }
        needs[address] = bytes
        isChanged = true
    }

    mutating func noteOrder() {
        orders += 1
        isChanged = true
    }

    /// There is room again for what was refused.
    mutating func admit(_ address: String) { needs[address] = nil }
}
