/// The Attribute Protocol's opcodes, codes and limits (Core Specification Vol 3 Part F).
enum AttributeProtocol {
    /// The PDU length that needs no agreement on LE (Vol 3 Part G 5.2.1).
    static let defaultMTU = 23
    /// What we offer: the longest attribute value, 512 bytes, in one PDU with its header (3.2.9).
    static let offeredMTU = 517
    /// The longest attribute value (3.2.9).
    static let longestValue = 512
    /// How long a request waits for its answer (3.3.3).
    static let transactionTimeout = Duration.seconds(30)

    /// 3.4.8: opcode of each PDU.
    enum Opcode {
        static let errorResponse: UInt8 = 0x01
        static let exchangeMTURequest: UInt8 = 0x02
        static let exchangeMTUResponse: UInt8 = 0x03
        static let findInformationRequest: UInt8 = 0x04
        static let findByTypeValueRequest: UInt8 = 0x06
        static let readByTypeRequest: UInt8 = 0x08
        static let readRequest: UInt8 = 0x0A
        static let readBlobRequest: UInt8 = 0x0C
        static let readByGroupTypeRequest: UInt8 = 0x10
        static let writeRequest: UInt8 = 0x12
        static let writeCommand: UInt8 = 0x52
        static let notification: UInt8 = 0x1B
        static let indication: UInt8 = 0x1D
        static let confirmation: UInt8 = 0x1E
        /// Set in the opcode of a command, which gets no answer (3.3.1).
        static let commandFlag: UInt8 = 0x40
    }

    /// 3.4.1.1: why a request failed.
    enum Code {
        static let invalidHandle: UInt8 = 0x01
        static let readNotPermitted: UInt8 = 0x02
        static let writeNotPermitted: UInt8 = 0x03
        static let insufficientAuthentication: UInt8 = 0x05
        static let requestNotSupported: UInt8 = 0x06
        static let insufficientAuthorization: UInt8 = 0x08
        static let attributeNotFound: UInt8 = 0x0A
        static let insufficientKeySize: UInt8 = 0x0C
        static let insufficientEncryption: UInt8 = 0x0F
        /// The attributes are others than those that this client knows (Vol 3 Part G 2.5.2.1).
        static let databaseOutOfSync: UInt8 = 0x12
    }

    /// Attribute types (Assigned Numbers 3.3, 3.6 and 3.7).
    enum Attribute {
        static let primaryService: BluetoothUUID = 0x2800
        static let characteristic: BluetoothUUID = 0x2803
        static let clientConfiguration: BluetoothUUID = 0x2902
        static let genericAttributeService: BluetoothUUID = 0x1801
        static let serviceChanged: BluetoothUUID = 0x2A05
        static let databaseHash: BluetoothUUID = 0x2B2A
    }

    /// Characteristic properties (Vol 3 Part G 3.3.1.1).
    enum Property {
        static let notify: UInt8 = 0x10
        static let indicate: UInt8 = 0x20
    }

    /// The answer to a request that the peripheral sends to us, who have no attributes: an error
    /// for each but the exchange of MTUs. Nil where no answer is due.
    static func answer(toRequest pdu: [UInt8]) -> [UInt8]? {
        guard let opcode = pdu.first, opcode & Opcode.commandFlag == 0 else { return nil }
        switch opcode {
        case Opcode.exchangeMTURequest where pdu.count == 3:
            return [Opcode.exchangeMTUResponse] + littleEndian(UInt16(offeredMTU))
        case Opcode.findInformationRequest, Opcode.findByTypeValueRequest, Opcode.readByTypeRequest,
            Opcode.readByGroupTypeRequest:
            let start = pdu.count >= 3 ? Array(pdu[1...2]) : [0, 0]
            return [Opcode.errorResponse, opcode] + start + [Code.attributeNotFound]
        case Opcode.readRequest, Opcode.readBlobRequest, Opcode.writeRequest:
            let handle = pdu.count >= 3 ? Array(pdu[1...2]) : [0, 0]
            return [Opcode.errorResponse, opcode] + handle + [Code.invalidHandle]
        default:
            return [Opcode.errorResponse, opcode, 0, 0, Code.requestNotSupported]
        }
    }

    /// Whether a PDU is the peripheral's request, by its opcode: requests are even, and neither
    /// confirmation nor command (3.4.8).
    static func isRequest(_ opcode: UInt8) -> Bool {
        opcode % 2 == 0 && opcode & Opcode.commandFlag == 0 && opcode != Opcode.confirmation
    }

    /// The whole range of handles, as requests carry it (3.2.2: 0x0000 is reserved).
    static let allHandles: [UInt8] = [0x01, 0x00, 0xFF, 0xFF]

    static func littleEndian(_ number: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
    }

    /// A UUID as PDUs carry it: 2 bytes for an assigned number, else 16, least significant first.
    static func littleEndian(_ uuid: BluetoothUUID) -> [UInt8] {
        if let short = uuid.short { return littleEndian(short) }
        return [uuid.low, uuid.high].flatMap { half in
            (0..<8).map { UInt8(truncatingIfNeeded: half >> (UInt64($0) * 8)) }
        }
    }
}

/// Reads a PDU from the front; every read past its end is nil.
struct PDUReader {
    private let bytes: [UInt8]
    private var position: Int

    init(_ bytes: [UInt8], skipping count: Int) {
        self.bytes = bytes
        position = min(count, bytes.count)
    }

    var remaining: Int { bytes.count - position }

    mutating func byte() -> UInt8? {
        guard remaining >= 1 else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func number() -> UInt16? {
        guard remaining >= 2 else { return nil }
        defer { position += 2 }
        return UInt16(bytes[position]) | UInt16(bytes[position + 1]) << 8
    }

    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard count >= 0, remaining >= count else { return nil }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    /// A UUID of 2 or 16 bytes.
    mutating func uuid(length: Int) -> BluetoothUUID? {
        guard let bytes = bytes(length) else { return nil }
        switch length {
        case 2:
            return BluetoothUUID(UInt16(bytes[0]) | UInt16(bytes[1]) << 8)
        case 16:
            func half(_ range: Range<Int>) -> UInt64 {
                range.reversed().reduce(0) { $0 << 8 | UInt64(bytes[$1]) }
            }
            return BluetoothUUID(high: half(8..<16), low: half(0..<8))
        default:
            return nil
        }
    }
}
