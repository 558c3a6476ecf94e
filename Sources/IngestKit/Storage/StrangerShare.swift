package import IngestPeripherals

/// What unpinned devices may hold of the queue: devices that the allow-list does not name by address. Anybody near the
/// gateway can be one, under as many addresses as they like, and must not take the room of those that are named.
package struct StrangerShare: Sendable, Equatable {
    /// For all of them, in bytes: a tenth of the queue.
    package let all: Int64

    /// - Parameter maximumSize: of the queue, in bytes.
    package init(maximumSize: UInt64) {
        all = Int64(clamping: maximumSize / 10)
    }

    /// For one of them, in bytes.
    package var device: Int64 { all / 8 }

    /// From here on room is made, and who holds so much in spite of that is not read.
    package static func high(_ limit: Int64) -> Int64 { limit / 10 * 9 }
    /// So far room is made.
    package static func ample(_ limit: Int64) -> Int64 { limit / 10 * 8 }
}

/// Unpinned devices that are not read, because there is no room for what they would give.
package struct FullStrangers: Sendable, Equatable {
    /// Whether none of them is read.
    package var isAll = false
    /// Those that hold as much as one may.
    package var devices: Set<BluetoothAddress> = []

    package init(isAll: Bool = false, devices: Set<BluetoothAddress> = []) {
        self.isAll = isAll
        self.devices = devices
    }

    package var isEmpty: Bool { !isAll && devices.isEmpty }

    /// Whether a device that is read under this entry is one of them.
    package func include(_ device: BluetoothAddress, _ entry: AllowedPeripheral) -> Bool {
        entry.address == nil && (isAll || devices.contains(device))
    }
}
