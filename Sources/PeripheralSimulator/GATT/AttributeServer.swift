/// Answers ATT requests from a table, as a peripheral of the field does (Core Specification Vol 3
/// Part F 3.4). Pure: bytes in, bytes out.
package struct AttributeServer: Sendable {
    enum Opcode {
        static let error: UInt8 = 0x01
        static let exchangeMTU: UInt8 = 0x02
        static let findInformation: UInt8 = 0x04
        static let findByTypeValue: UInt8 = 0x06
        static let readByType: UInt8 = 0x08
        static let read: UInt8 = 0x0A
        static let readBlob: UInt8 = 0x0C
        static let write: UInt8 = 0x12
        static let writeCommand: UInt8 = 0x52
        static let notification: UInt8 = 0x1B
        static let indication: UInt8 = 0x1D
        static let confirmation: UInt8 = 0x1E
    }

    private enum Code {
        static let invalidHandle: UInt8 = 0x01
        static let readNotPermitted: UInt8 = 0x02
        static let writeNotPermitted: UInt8 = 0x03
        static let invalidPDU: UInt8 = 0x04
        static let insufficientAuthentication: UInt8 = 0x05
        static let requestNotSupported: UInt8 = 0x06
        static let invalidOffset: UInt8 = 0x07
        static let attributeNotFound: UInt8 = 0x0A
    }

    private(set) var table: AttributeTable
    /// The longest PDU that the peripheral takes; 23 is the least.
    let longestPDU: Int
    /// The longest PDU that both sides take.
    private(set) var mtu = 23
    /// What is subscribed to: the configuration written, by characteristic.
    private(set) var subscriptions: [BluetoothUUID: UInt16] = [:]

    /// Whether values are given and taken over an encrypted link only, and this one is not.
    let isLocked: Bool

    package init(table: AttributeTable, longestPDU: Int, isLocked: Bool = false) {
        self.table = table
        self.longestPDU = longestPDU
        self.isLocked = isLocked
    }

    /// The answer to a request for what is locked; nil for any other.
    func lockedRefusal(of pdu: [UInt8]) -> [UInt8]? {
        switch pdu.first {
        case Opcode.read, Opcode.readBlob, Opcode.write:
            isLocked ? error(pdu, Code.insufficientAuthentication) : nil
        default: nil
        }
    }

    /// The answer to a request.
    package mutating func answer(_ pdu: [UInt8]) -> [UInt8] {
        switch pdu.first {
        case Opcode.exchangeMTU: exchangeMTU(pdu)
        case Opcode.findInformation: findInformation(pdu)
        case Opcode.findByTypeValue: findByTypeValue(pdu)
        case Opcode.readByType: readByType(pdu)
        case Opcode.read: read(pdu, offset: 0)
        case Opcode.readBlob: readBlob(pdu)
        case Opcode.write: write(pdu)
        default: error(pdu, Code.requestNotSupported)
        }
    }

    private func error(_ request: [UInt8], at handle: UInt16? = nil, _ code: UInt8) -> [UInt8] {
        [Opcode.error, request.first ?? 0] + Wire.bytes(handle ?? Wire.number(request, at: 1) ?? 0) + [code]
    }

    private mutating func exchangeMTU(_ pdu: [UInt8]) -> [UInt8] {
        guard longestPDU > 23 else { return error(pdu, at: 0, Code.requestNotSupported) }
        guard let theirs = Wire.number(pdu, at: 1) else { return error(pdu, at: 0, Code.invalidPDU) }
        mtu = max(23, min(Int(theirs), longestPDU))
        return [Opcode.exchangeMTU + 1] + Wire.bytes(UInt16(longestPDU))
    }

    private func range(_ pdu: [UInt8]) -> ClosedRange<UInt16>? {
        guard let first = Wire.number(pdu, at: 1), let last = Wire.number(pdu, at: 3), first > 0,
            first <= last
        else { return nil }
        return first...last
    }

    private func findInformation(_ pdu: [UInt8]) -> [UInt8] {
        guard let range = range(pdu) else { return error(pdu, Code.invalidHandle) }
        let found = table.attributes(in: range)
        guard let first = found.first else { return error(pdu, Code.attributeNotFound) }
        let isShort = first.type.short != nil
        var answer: [UInt8] = [Opcode.findInformation + 1, isShort ? 1 : 2]
        for attribute in found {
            let entry = Wire.bytes(attribute.handle) + Wire.bytes(attribute.type)
            guard (attribute.type.short != nil) == isShort, answer.count + entry.count <= mtu else { break }
            answer += entry
        }
        return answer
    }

    private func findByTypeValue(_ pdu: [UInt8]) -> [UInt8] {
        guard let range = range(pdu), let type = Wire.number(pdu, at: 5) else {
            return error(pdu, Code.invalidHandle)
        }
        let value = Array(pdu.dropFirst(7))
        var answer = [Opcode.findByTypeValue + 1]
        for attribute in table.attributes(in: range)
        where attribute.type == BluetoothUUID(type) && attribute.value == value && answer.count + 4 <= mtu {
            answer += Wire.bytes(attribute.handle) + Wire.bytes(attribute.groupEnd ?? attribute.handle)
        }
        return answer.count > 1 ? answer : error(pdu, Code.attributeNotFound)
    }

    private func readByType(_ pdu: [UInt8]) -> [UInt8] {
        guard let range = range(pdu) else { return error(pdu, Code.invalidHandle) }
        let type = Array(pdu.dropFirst(5))
        let found = table.attributes(in: range).filter { Wire.bytes($0.type) == type }
        guard let first = found.first else { return error(pdu, Code.attributeNotFound) }
        if let code = refusal(ofReading: first) { return error(pdu, at: first.handle, code) }
        // The length field counts at most 253 bytes of value (3.4.4.2).
        let length = min(first.value.count, mtu - 4, 253)
        var answer: [UInt8] = [Opcode.readByType + 1, UInt8(length + 2)]
        for attribute in found {
            guard attribute.value.count == first.value.count || answer.count == 2,
                refusal(ofReading: attribute) == nil, answer.count + length + 2 <= mtu
            else { break }
            answer += Wire.bytes(attribute.handle) + attribute.value.prefix(length)
        }
        return answer
    }

    private func refusal(ofReading attribute: AttributeTable.Attribute) -> UInt8? {
        if !attribute.isReadable { return Code.readNotPermitted }
        return attribute.requiresEncryption ? Code.insufficientAuthentication : nil
    }

    private func read(_ pdu: [UInt8], offset: Int) -> [UInt8] {
        guard let handle = Wire.number(pdu, at: 1), let attribute = table.attribute(at: handle) else {
            return error(pdu, Code.invalidHandle)
        }
        if let code = refusal(ofReading: attribute) { return error(pdu, code) }
        guard offset <= attribute.value.count else { return error(pdu, Code.invalidOffset) }
        return [pdu[0] + 1] + attribute.value.dropFirst(offset).prefix(mtu - 1)
    }

    private func readBlob(_ pdu: [UInt8]) -> [UInt8] {
        guard let offset = Wire.number(pdu, at: 3) else { return error(pdu, Code.invalidPDU) }
        return read(pdu, offset: Int(offset))
    }

    /// The characteristic that a request or command writes, and the value, where the write is
    /// permitted; nil for descriptors.
    package func valueWrite(_ pdu: [UInt8]) -> (characteristic: BluetoothUUID, value: [UInt8])? {
        guard let handle = Wire.number(pdu, at: 1), let attribute = table.attribute(at: handle),
            attribute.configures == nil, !attribute.requiresEncryption,
            pdu[0] == Opcode.write && attribute.isWritable
                || pdu[0] == Opcode.writeCommand && attribute.takesCommands
        else { return nil }
        return (attribute.type, Array(pdu.dropFirst(3)))
    }

    /// Gives a characteristic another value.
    mutating func show(_ value: [UInt8], as characteristic: BluetoothUUID) {
        guard let handle = table.valueHandle(of: characteristic) else { return }
        table.write(value, at: handle)
    }

    /// The answer to a write that is refused for a reason of the service's own.
    func refusal(of write: [UInt8], _ code: UInt8) -> [UInt8] {
        error(write, code)
    }

    /// Carries out a Write Command (3.4.5.3), which has no answer; one that is not permitted is
    /// ignored.
    package mutating func take(command pdu: [UInt8]) {
        guard valueWrite(pdu) != nil, let handle = Wire.number(pdu, at: 1) else { return }
        table.write(Array(pdu.dropFirst(3)), at: handle)
    }

    private mutating func write(_ pdu: [UInt8]) -> [UInt8] {
        guard let handle = Wire.number(pdu, at: 1), let attribute = table.attribute(at: handle) else {
            return error(pdu, Code.invalidHandle)
        }
        guard attribute.isWritable else { return error(pdu, Code.writeNotPermitted) }
        guard !attribute.requiresEncryption else { return error(pdu, Code.insufficientAuthentication) }
        let value = Array(pdu.dropFirst(3))
        if let characteristic = attribute.configures {
            guard let configuration = Wire.number(value, at: 0), value.count == 2 else {
                return error(pdu, Code.invalidPDU)
            }
            subscriptions[characteristic] = configuration
        }
        table.write(value, at: handle)
        return [Opcode.write + 1]
    }
}
