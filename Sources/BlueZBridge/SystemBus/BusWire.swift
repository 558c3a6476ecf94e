import CSystemd

/// Reads the arguments of a message, which outlives it: `arguments(of:)` alone makes one.
@safe
struct BusReader {
    /// D-Bus itself allows 64 (32 arrays in 32 structures); bluetoothd's objects need 7.
    private static let deepest = 16
    /// All properties of some 10,000 objects.
    private static let mostValues = 1 << 18

    private let message: OpaquePointer
    private var count = 0

    static func arguments(of message: OpaquePointer) throws(BusError) -> [BusValue] {
        var reader = unsafe BusReader(message: message)
        return try reader.values(depth: 0)
    }

    private init(message: OpaquePointer) {
        unsafe self.message = message
    }

    /// What is left of the container that was entered last, or of the message.
    private mutating func values(depth: Int) throws(BusError) -> [BusValue] {
        guard depth <= Self.deepest else { throw .malformed }
        var values: [BusValue] = []
        while true {
            var type: CChar = 0
            var contents: UnsafePointer<CChar>?
            let result = unsafe sd_bus_message_peek_type(message, &type, &contents)
            guard result >= 0 else { throw .malformed }
            if result == 0 { return values }
            count += 1
            guard count <= Self.mostValues else { throw .malformed }
            let inside = unsafe contents.map { unsafe String(cString: $0) } ?? ""
            values.append(try value(UInt8(bitPattern: type), inside, depth))
        }
    }

    private mutating func value(
        _ type: UInt8, _ contents: String, _ depth: Int
    ) throws(BusError) -> BusValue {
        switch type {
        case UInt8(ascii: "y"): .byte(try basic(type, 0))
        case UInt8(ascii: "b"): .bool(try basic(type, CInt(0)) != 0)
        case UInt8(ascii: "n"): .int16(try basic(type, 0))
        case UInt8(ascii: "q"): .uint16(try basic(type, 0))
        case UInt8(ascii: "i"): .int32(try basic(type, 0))
        case UInt8(ascii: "u"): .uint32(try basic(type, 0))
        case UInt8(ascii: "x"): .int64(try basic(type, 0))
        case UInt8(ascii: "t"): .uint64(try basic(type, 0))
        case UInt8(ascii: "d"): .double(try basic(type, 0))
        case UInt8(ascii: "s"): .string(try text(type))
        case UInt8(ascii: "o"): .objectPath(try text(type))
        case UInt8(ascii: "g"): .signature(try text(type))
        case UInt8(ascii: "v"): .variant(try variant(contents, depth))
        // A structure, or an entry of a dictionary.
        case UInt8(ascii: "r"), UInt8(ascii: "e"): .structure(try container(type, contents, depth))
        case UInt8(ascii: "a") where contents.hasPrefix("{"): try dictionary(contents, depth)
        case UInt8(ascii: "a"): .array(of: contents, try container(type, contents, depth))
        default: throw .malformed
        }
    }

    private func basic<Number: BitwiseCopyable>(
        _ type: UInt8, _ initial: Number
    ) throws(BusError) -> Number {
        var number = initial
        guard unsafe sd_bus_message_read_basic(message, CChar(bitPattern: type), &number) > 0 else {
            throw .malformed
        }
        return number
    }

    /// sd-bus has checked that it is UTF-8, or a path or signature.
    private func text(_ type: UInt8) throws(BusError) -> String {
        var text: UnsafePointer<CChar>?
        let result = unsafe withUnsafeMutablePointer(to: &text) { place in
            unsafe sd_bus_message_read_basic(message, CChar(bitPattern: type), place)
        }
        guard result > 0, let text = unsafe text else { throw .malformed }
        return unsafe String(cString: text)
    }

    private mutating func container(
        _ type: UInt8, _ contents: String, _ depth: Int
    ) throws(BusError) -> [BusValue] {
        guard unsafe sd_bus_message_enter_container(message, CChar(bitPattern: type), contents) > 0 else {
            throw .malformed
        }
        let values = try values(depth: depth + 1)
        guard unsafe sd_bus_message_exit_container(message) >= 0 else { throw .malformed }
        return values
    }

    private mutating func variant(_ contents: String, _ depth: Int) throws(BusError) -> BusValue {
        guard let value = try container(UInt8(ascii: "v"), contents, depth).first else { throw .malformed }
        return value
    }

    /// - Parameter contents: of the array: an entry's signature in braces.
    private mutating func dictionary(_ contents: String, _ depth: Int) throws(BusError) -> BusValue {
        let pair = contents.dropFirst().dropLast()
        guard let key = pair.first else { throw .malformed }
        var entries: [BusValue: BusValue] = [:]
        for entry in try container(UInt8(ascii: "a"), contents, depth) {
            guard case .structure(let fields) = entry, fields.count == 2 else { throw .malformed }
            entries[fields[0]] = fields[1]
        }
        return .dictionary(key: String(key), value: String(pair.dropFirst()), entries)
    }
}

/// Writes the arguments of a message.
enum BusWriter {
    static func append(_ values: [BusValue], to message: OpaquePointer) throws(BusError) {
        for value in values { try unsafe append(value, to: message) }
    }

    private static func append(_ value: BusValue, to message: OpaquePointer) throws(BusError) {
        switch value {
        case .byte(let number): try unsafe basic("y", number, message)
        case .bool(let flag): try unsafe basic("b", CInt(flag ? 1 : 0), message)
        case .int16(let number): try unsafe basic("n", number, message)
        case .uint16(let number): try unsafe basic("q", number, message)
        case .int32(let number): try unsafe basic("i", number, message)
        case .uint32(let number): try unsafe basic("u", number, message)
        case .int64(let number): try unsafe basic("x", number, message)
        case .uint64(let number): try unsafe basic("t", number, message)
        case .double(let number): try unsafe basic("d", number, message)
        case .string(let text): try unsafe self.text("s", text, message)
        case .objectPath(let text): try unsafe self.text("o", text, message)
        case .signature(let text): try unsafe self.text("g", text, message)
        case .array(let element, let values):
            try unsafe container("a", element, values, message)
        case .structure(let fields):
            try unsafe container("r", fields.map(\.type).joined(), fields, message)
        case .variant(let inside):
            try unsafe container("v", inside.type, [inside], message)
        case .dictionary(let key, let inside, let entries):
            try unsafe open("a", "{" + key + inside + "}", message)
            for (entryKey, entryValue) in entries {
                try unsafe container("e", key + inside, [entryKey, entryValue], message)
            }
            try unsafe close(message)
        }
    }

    private static func basic<Number: BitwiseCopyable>(
        _ type: Unicode.Scalar, _ number: Number, _ message: OpaquePointer
    ) throws(BusError) {
        var number = number
        let result = unsafe sd_bus_message_append_basic(message, CChar(type.value), &number)
        guard result >= 0 else { throw .malformed }
    }

    private static func text(
        _ type: Unicode.Scalar, _ text: String, _ message: OpaquePointer
    ) throws(BusError) {
        // Refused where it is no path or signature, or holds a NUL.
        guard !text.utf8.contains(0),
            unsafe sd_bus_message_append_basic(message, CChar(type.value), text) >= 0
        else { throw .malformed }
    }

    private static func container(
        _ type: Unicode.Scalar, _ contents: String, _ values: [BusValue], _ message: OpaquePointer
    ) throws(BusError) {
        try unsafe open(type, contents, message)
        try unsafe append(values, to: message)
        try unsafe close(message)
    }

    private static func open(
        _ type: Unicode.Scalar, _ contents: String, _ message: OpaquePointer
    ) throws(BusError) {
        guard unsafe sd_bus_message_open_container(message, CChar(type.value), contents) >= 0 else {
            throw .malformed
        }
    }

    private static func close(_ message: OpaquePointer) throws(BusError) {
        guard unsafe sd_bus_message_close_container(message) >= 0 else { throw .malformed }
    }
}
