/// A service of a simulated peripheral.
package struct SimulatedService: Sendable {
    package struct Characteristic: Sendable {
        /// Characteristic properties (Core Specification Vol 3 Part G 3.3.1.1).
        package struct Properties: OptionSet, Sendable {
            package let rawValue: UInt8

            package init(rawValue: UInt8) {
                self.rawValue = rawValue
            }

            package static let read = Properties(rawValue: 0x02)
            /// Write Command, without an answer.
            package static let writeWithoutResponse = Properties(rawValue: 0x04)
            package static let write = Properties(rawValue: 0x08)
            package static let notify = Properties(rawValue: 0x10)
            package static let indicate = Properties(rawValue: 0x20)
        }

        package var uuid: BluetoothUUID
        package var properties: Properties
        /// Up to 512 bytes (Vol 3 Part F 3.2.9).
        package var value: [UInt8]
        /// Whether reading, writing and subscribing want a bond, which simulated links never have.
        package var requiresEncryption: Bool

        package init(
            _ uuid: BluetoothUUID, _ properties: Properties, value: [UInt8] = [],
            requiresEncryption: Bool = false
        ) {
            self.uuid = uuid
            self.properties = properties
            self.value = value
            self.requiresEncryption = requiresEncryption
        }
    }

    package var uuid: BluetoothUUID
    package var characteristics: [Characteristic]

    package init(_ uuid: BluetoothUUID, _ characteristics: [Characteristic]) {
        self.uuid = uuid
        self.characteristics = characteristics
    }
}

/// The attributes of a peripheral, by handle (Core Specification Vol 3 Part G 3).
package struct AttributeTable: Sendable {
    package struct Attribute: Sendable {
        let handle: UInt16
        let type: BluetoothUUID
        package var value: [UInt8]
        var isReadable = true
        var isWritable = false
        /// Whether it takes the Write Command.
        var takesCommands = false
        var requiresEncryption = false
        /// The last handle of the service that this attribute declares.
        var groupEnd: UInt16?
        /// For a configuration descriptor: the characteristic that it configures.
        var configures: BluetoothUUID?
    }

    static let primaryService: BluetoothUUID = 0x2800
    static let characteristicDeclaration: BluetoothUUID = 0x2803
    static let clientConfiguration: BluetoothUUID = 0x2902

    private(set) var attributes: [Attribute] = []

    /// Lays services out one after the other.
    /// - Parameter first: the handle of the first service; another one moves every attribute.
    package init(_ services: [SimulatedService], first: UInt16) {
        var handle = first
        func next() -> UInt16 {
            defer { handle += 1 }
            return handle
        }
        for service in services {
            let start = attributes.count
            attributes.append(
                Attribute(
                    handle: next(), type: Self.primaryService, value: Wire.bytes(service.uuid)))
            for characteristic in service.characteristics {
                let declaration = next()
                let value = next()
                attributes.append(
                    Attribute(
                        handle: declaration, type: Self.characteristicDeclaration,
                        value: [characteristic.properties.rawValue] + Wire.bytes(value)
                            + Wire.bytes(characteristic.uuid)))
                attributes.append(
                    Attribute(
                        handle: value, type: characteristic.uuid, value: characteristic.value,
                        isReadable: characteristic.properties.contains(.read),
                        isWritable: characteristic.properties.contains(.write),
                        takesCommands: characteristic.properties.contains(.writeWithoutResponse),
                        requiresEncryption: characteristic.requiresEncryption))
                guard !characteristic.properties.isDisjoint(with: [.notify, .indicate]) else { continue }
                attributes.append(
                    Attribute(
                        handle: next(), type: Self.clientConfiguration, value: [0, 0], isWritable: true,
                        requiresEncryption: characteristic.requiresEncryption,
                        configures: characteristic.uuid))
            }
            attributes[start].groupEnd = handle - 1
        }
    }

    /// The handle of a characteristic's value.
    package func valueHandle(of characteristic: BluetoothUUID) -> UInt16? {
        attributes.first { $0.type == characteristic }?.handle
    }

    package func attribute(at handle: UInt16) -> Attribute? {
        attributes.first { $0.handle == handle }
    }

    func attributes(in range: ClosedRange<UInt16>) -> [Attribute] {
        attributes.filter { range.contains($0.handle) }
    }

    mutating func write(_ value: [UInt8], at handle: UInt16) {
        guard let place = attributes.firstIndex(where: { $0.handle == handle }) else { return }
        attributes[place].value = value
    }
}
