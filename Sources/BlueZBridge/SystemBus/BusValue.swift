/// A value of D-Bus's type system (D-Bus Specification, "Type System"). Unix descriptors are not
/// among them: no connection of ours takes any.
package indirect enum BusValue: Sendable, Hashable {
    case byte(UInt8)
    case bool(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(String)
    case signature(String)
    /// `of` is the signature of one element.
    case array(of: String, [BusValue])
    /// With the signatures of a key, which is a basic type, and of a value.
    case dictionary(key: String, value: String, [BusValue: BusValue])
    case structure([BusValue])
    case variant(BusValue)

    /// A dictionary of properties, a{sv}.
    package static func properties(_ properties: [String: BusValue]) -> BusValue {
        let entries = properties.map { (BusValue.string($0.key), BusValue.variant($0.value)) }
        return .dictionary(key: "s", value: "v", Dictionary(uniqueKeysWithValues: entries))
    }

    /// The signature of this one value.
    package var type: String {
        switch self {
        case .byte: "y"
        case .bool: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .array(let element, _): "a" + element
        case .dictionary(let key, let value, _): "a{" + key + value + "}"
        case .structure(let fields): "(" + fields.map(\.type).joined() + ")"
        case .variant: "v"
        }
    }
}

extension BusValue {
    /// What a variant holds; any other value itself.
    package var unwrapped: BusValue {
        if case .variant(let value) = self { value } else { self }
    }

    /// The text of a string, or of an object path.
    package var text: String? {
        switch unwrapped {
        case .string(let text), .objectPath(let text): text
        default: nil
        }
    }

    package var flag: Bool? {
        if case .bool(let flag) = unwrapped { flag } else { nil }
    }

    /// The values of a dictionary whose keys are strings or object paths, by the key's text; nil for
    /// anything else.
    package var entries: [String: BusValue]? {
        guard case .dictionary(let key, _, let entries) = unwrapped, key == "s" || key == "o" else {
            return nil
        }
        return Dictionary(
            entries.compactMap { entry in entry.key.text.map { ($0, entry.value.unwrapped) } },
            uniquingKeysWith: { _, last in last })
    }

    /// The elements of an array.
    package var elements: [BusValue]? {
        if case .array(_, let elements) = unwrapped { elements } else { nil }
    }
}
