/// Decides, from an advert's raw bytes and without allocating, whether the gateway has any use for
/// it: the allow-list as the radio sees it.
package struct AdvertisementFilter: Sendable, Equatable {
    /// One way to recognise a model of peripheral by what it advertises.
    package enum Mark: Sendable, Hashable {
        /// Listed among the 16-bit service UUIDs (AD types 0x02, 0x03) or the owner of service
        /// data (0x16).
        case service(UInt16)
        /// Listed among the 128-bit service UUIDs (0x06, 0x07) or the owner of service data (0x21).
        case longService(BluetoothUUID)
        /// The company of manufacturer data (0xFF).
        case company(UInt16)
        /// The local name (0x08, 0x09) begins so; UTF-8. An empty prefix matches nothing.
        case namePrefix([UInt8])
        /// The local name has this text somewhere, letters of ASCII in either case; UTF-8. An empty
        /// text matches nothing.
        case nameContains([UInt8])
    }

    /// In one place, so that a look at an advert retains one object and not each of its parts.
    private final class Contents: Sendable {
        let addresses: Set<BluetoothAddress>
        let models: [[Mark]]
        /// The same addresses in ascending order: found without computing a hash.
        let sortedAddresses: [BluetoothAddress]
        let signs: AdvertisementSigns

        init(addresses: Set<BluetoothAddress>, models: [[Mark]]) {
            self.addresses = addresses
            self.models = models
            sortedAddresses = addresses.sorted { $0.value < $1.value }
            signs = AdvertisementSigns(of: models.compactMap(\.first))
        }
    }

    private let contents: Contents

    /// Devices that are named by address.
    package var addresses: Set<BluetoothAddress> { contents.addresses }
    /// For models of which any device is read; each inner list must match whole, and an empty one
    /// matches nothing.
    package var models: [[Mark]] { contents.models }

    package init(addresses: Set<BluetoothAddress> = [], models: [[Mark]] = []) {
        contents = Contents(addresses: addresses, models: models)
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.addresses == right.addresses && left.models == right.models
    }

    /// True when nothing can match, so that there is nothing to listen for.
    package var isEmpty: Bool { addresses.isEmpty && models.isEmpty }

    /// Whether an advert is of any use: its device is named by address, or its data bear all marks
    /// of one model. Takes any bytes.
    package func admits(_ address: BluetoothAddress, data: Span<UInt8>) -> Bool {
        if contents.sortedAddresses.holds(address) { return true }
        // Most of what is in the air ends here, after one look at each of its structures.
        guard contents.signs.areSeen(in: data) else { return false }
        for marks in models where Self.matches(marks, data: data) { return true }
        return false
    }

    /// Whether the data bear every one of `marks`. No marks match nothing: what says nothing of a
    /// device must not admit every device.
    package static func matches(_ marks: [Mark], data: Span<UInt8>) -> Bool {
        guard !marks.isEmpty else { return false }
        for mark in marks where !mark.isBorne(by: data) { return false }
        return true
    }
}

extension AdvertisementFilter.Mark {
    /// Whether one of the AD structures in `data` bears this mark.
    func isBorne(by data: Span<UInt8>) -> Bool {
        var structures = AdvertisementStructures(data)
        while let (type, range) = structures.next() {
            if isBorne(byType: type, value: data.extracting(range)) { return true }
        }
        return false
    }

    private func isBorne(byType type: UInt8, value: Span<UInt8>) -> Bool {
        typealias DataType = AdvertisementDataType
        switch (self, type) {
        case (.service(let uuid), DataType.someShortServices),
            (.service(let uuid), DataType.allShortServices):
            var position = 0
            while let listed = value.littleEndian16(at: position) {
                if listed == uuid { return true }
                position += 2
            }
            return false
        case (.service(let uuid), DataType.shortServiceData):
            return value.littleEndian16(at: 0) == uuid
        case (.longService(let uuid), DataType.someLongServices),
            (.longService(let uuid), DataType.allLongServices):
            var position = 0
            while let listed = value.littleEndianUUID(at: position) {
                if listed == uuid { return true }
                position += 16
            }
            return false
        case (.longService(let uuid), DataType.longServiceData):
            return value.littleEndianUUID(at: 0) == uuid
        case (.company(let company), DataType.manufacturerData):
            return value.littleEndian16(at: 0) == company
        case (.namePrefix(let prefix), DataType.shortenedName),
            (.namePrefix(let prefix), DataType.completeName):
            // An empty prefix says nothing of a device.
            guard !prefix.isEmpty, prefix.count <= value.count else { return false }
            for index in prefix.indices where prefix[index] != value[index] { return false }
            return true
        case (.nameContains(let text), DataType.shortenedName),
            (.nameContains(let text), DataType.completeName):
            return value.contains(text)
        default:
            return false
        }
    }
}

extension [BluetoothAddress] {
    /// Whether `address` is among these, which are in ascending order.
    fileprivate func holds(_ address: BluetoothAddress) -> Bool {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].value < address.value { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low].value == address.value
    }
}

extension Span<UInt8> {
    /// Whether `text` stands somewhere in this, letters of ASCII in either case. A name is as long as
    /// an advert at most, so the plain search does.
    fileprivate func contains(_ text: [UInt8]) -> Bool {
        guard !text.isEmpty, text.count <= count else { return false }
        for start in 0...(count - text.count) {
            var matched = 0
            while matched < text.count, self[start + matched].lowercasedASCII == text[matched].lowercasedASCII
            {
                matched += 1
            }
            if matched == text.count { return true }
        }
        return false
    }

    /// The two octets at `position` as a number; nil past the end.
    func littleEndian16(at position: Int) -> UInt16? {
        guard position + 2 <= count else { return nil }
        return UInt16(self[position]) | UInt16(self[position + 1]) << 8
    }

    /// The sixteen octets at `position` as a UUID; nil past the end.
    func littleEndianUUID(at position: Int) -> BluetoothUUID? {
        guard position + 16 <= count else { return nil }
        var low: UInt64 = 0
        var high: UInt64 = 0
        for octet in (0..<8).reversed() {
            low = low << 8 | UInt64(self[position + octet])
            high = high << 8 | UInt64(self[position + 8 + octet])
        }
        return BluetoothUUID(high: high, low: low)
    }
}

extension UInt8 {
    /// A capital letter of ASCII as a small one; anything else as it is.
    fileprivate var lowercasedASCII: UInt8 {
        (0x41...0x5A).contains(self) ? self | 0x20 : self
    }
}
