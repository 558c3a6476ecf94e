/// One open connection to a peripheral. Each call has a bound; a call after the link has ended
/// throws `LinkError.ended`.
package protocol PeripheralLink: Sendable {
    var device: DeviceAddress { get }
    /// The peripheral's attributes as known now, to be remembered for the next link.
    var layout: AttributeLayout { get async }
    /// When the link ended; nil while it is up.
    var ended: MonotonicInstant? { get async }
    /// How many ATT PDUs went over the link so far, both ways.
    var pduCount: Int { get async }

    /// Whether the peripheral has this characteristic; discovers its service if need be.
    func has(_ characteristic: BluetoothUUID, in service: BluetoothUUID) async throws(LinkError) -> Bool
    /// Reads a characteristic's value, long ones whole, up to 512 bytes (Vol 3 Part F 3.2.9).
    func read(_ characteristic: BluetoothUUID, in service: BluetoothUUID) async throws(LinkError) -> [UInt8]
    /// Writes a characteristic's value and awaits the peripheral's answer.
    func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async throws(LinkError)
    /// Writes a characteristic's value without an answer (Vol 3 Part G 4.9.1).
    func writeWithoutResponse(
        _ value: [UInt8], to characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async throws(LinkError)
    /// Turns on the characteristic's indications, or its notifications where it has no
    /// indications.
    func subscribe(to characteristic: BluetoothUUID, in service: BluetoothUUID) async throws(LinkError)
    /// Agrees on PDUs of at least `length` bytes if the peripheral can (Vol 3 Part F 3.4.2).
    func ensureMTU(_ length: Int) async throws(LinkError)
    /// The next value that the peripheral sent by itself; nil when `timeout` passes without one.
    /// Values that arrive during other calls wait here, in order.
    func nextValue(within timeout: Duration) async throws(LinkError) -> ReceivedValue?
    /// Confirms the indication `value`. To be called only when its reading is committed.
    func confirm(_ value: ReceivedValue) async throws(LinkError)
    /// Looks at the peripheral's Database Hash, where it has one, and forgets the layout when it is
    /// not that for which the layout was found (Vol 3 Part G 7.3).
    func checkDatabaseHash() async throws(LinkError)
    /// Ends the link; returns once the socket is closed. May be called twice.
    func close() async
}

/// A value that a peripheral sent by itself.
package struct ReceivedValue: Sendable, Equatable {
    package let characteristic: BluetoothUUID
    package let value: [UInt8]
    /// True for an indication: the peripheral waits for `confirm`, up to 30 s (Vol 3 Part F 3.3.3).
    package let isIndication: Bool
    package let received: MonotonicInstant

    package init(
        characteristic: BluetoothUUID, value: [UInt8], isIndication: Bool,
        received: MonotonicInstant
    ) {
        self.characteristic = characteristic
        self.value = value
        self.isIndication = isIndication
        self.received = received
    }
}

/// Why a link could not be made or used. Three families: the kernel refused, the link broke, the
/// peripheral answered what we cannot use.
package enum LinkError: Error, Sendable, Equatable {
    /// The fixed channel to this device has another owner (EBUSY): bluetoothd reads it. Or another
    /// request is under way on this link.
    case busy
    /// The adapter is gone or off.
    case adapterUnavailable
    /// No connection within the bound: the peripheral stopped advertising or is out of range.
    case notReachable
    /// The kernel or the peripheral refused the connection.
    case refused(errno: Int32)
    /// The controller has as many links as it takes.
    case noMoreLinks
    /// The link is not encrypted, and has to be: there is no bond here.
    case notEncrypted
    /// The peripheral refuses the keys of the bond that is here: it has forgotten it.
    case bondRefused
    /// The link ended: by the peripheral, by loss of signal, or by `close`.
    case ended(LinkEnd)
    /// The peripheral did not answer a request in time (30 s, Vol 3 Part F 3.3.3).
    case noAnswer(opcode: UInt8)
    /// The peripheral answered a request with an ATT error code (Vol 3 Part F 3.4.1.1).
    case attribute(code: UInt8, opcode: UInt8)
    /// The peripheral lacks what its reading needs.
    case missing(BluetoothUUID)
    /// The peripheral's answer breaks the protocol.
    case malformed(opcode: UInt8)
}

/// How a link ended.
package enum LinkEnd: Sendable, Equatable {
    /// The peripheral hung up.
    case byPeripheral
    /// No signal for the supervision time-out.
    case signalLost
    /// We closed it.
    case byGateway
    /// The kernel ended it with another error.
    case other(errno: Int32)
}

/// What is known of a peripheral's attributes: handles by service and characteristic, and the
/// Database Hash they hold for. Codable, so that it outlives the process.
package struct AttributeLayout: Sendable, Equatable, Codable {
    package struct Characteristic: Sendable, Equatable, Codable {
        /// Characteristic properties, Vol 3 Part G 3.3.1.1.
        package var properties: UInt8
        package var valueHandle: UInt16
        /// The Client Characteristic Configuration descriptor, 0x2902.
        package var configurationHandle: UInt16?

        package init(properties: UInt8, valueHandle: UInt16, configurationHandle: UInt16?) {
            self.properties = properties
            self.valueHandle = valueHandle
            self.configurationHandle = configurationHandle
        }
    }

    package struct Service: Sendable, Equatable, Codable {
        package var firstHandle: UInt16
        package var lastHandle: UInt16
        /// By `BluetoothUUID.description`.
        package var characteristics: [String: Characteristic]
        /// Whether its declarations were walked to the end, so that what is not there is absent. Nil,
        /// in layouts that were stored without it, is no.
        package var isWhole: Bool?

        package init(firstHandle: UInt16, lastHandle: UInt16, characteristics: [String: Characteristic]) {
            self.firstHandle = firstHandle
            self.lastHandle = lastHandle
            self.characteristics = characteristics
        }
    }

    /// By `BluetoothUUID.description`; a service that was looked for and is absent is nil.
    package var services: [String: Service?]
    /// The Database Hash (2B2A) in hexadecimal; nil where the peripheral has none or was not asked.
    package var databaseHash: String?

    package init(services: [String: Service?] = [:], databaseHash: String? = nil) {
        self.services = services
        self.databaseHash = databaseHash
    }

    /// A stored layout that holds more than a device is looked at for is `unknown`.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        services = try container.decode([String: Service?].self, forKey: .services)
        databaseHash = try container.decodeIfPresent(String.self, forKey: .databaseHash)
        if services.count > Self.mostServices || characteristicCount > Self.mostCharacteristics {
            self = .unknown
        }
    }

    package static let unknown = AttributeLayout()

    /// How many characteristics of one device are looked at and remembered, in all its services together. Health
    /// devices have 10 to 40.
    package static let mostCharacteristics = 256
    /// Profiles ask for 7 services at most.
    private static let mostServices = 32

    /// Characteristics in all services together.
    package var characteristicCount: Int {
        services.values.reduce(0) { $0 + ($1?.characteristics.count ?? 0) }
    }
}
