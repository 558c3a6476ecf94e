/// A method call, as it is sent.
public struct BusCall: Sendable, Equatable {
    /// Who is asked: a well-known or a unique name.
    public var destination: String
    public var path: String
    public var interface: String
    public var member: String
    public var arguments: [BusValue]

    public init(
        to destination: String, _ path: String, _ interface: String, _ member: String,
        _ arguments: [BusValue] = []
    ) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }

    /// Asks for a property (org.freedesktop.DBus.Properties.Get); the answer is one variant.
    public static func get(
        _ property: String, of interface: String, at path: String, from destination: String
    ) -> BusCall {
        BusCall(
            to: destination, path, "org.freedesktop.DBus.Properties", "Get",
            [.string(interface), .string(property)])
    }

    /// Sets a property (org.freedesktop.DBus.Properties.Set).
    public static func set(
        _ property: String, of interface: String, at path: String, on destination: String, to value: BusValue
    ) -> BusCall {
        BusCall(
            to: destination, path, "org.freedesktop.DBus.Properties", "Set",
            [.string(interface), .string(property), .variant(value)])
    }

    /// A call of the bus itself (org.freedesktop.DBus).
    public static func bus(_ member: String, _ arguments: [BusValue] = []) -> BusCall {
        BusCall(
            to: "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", member, arguments)
    }
}

/// A signal that somebody sent.
public struct BusSignal: Sendable, Equatable {
    /// The sender's unique name, or `org.freedesktop.DBus`; the bus vouches for it.
    public let sender: String
    public let path: String
    public let interface: String
    public let member: String
    public let arguments: [BusValue]
}

/// A method call that somebody made of us. It is answered once, by its connection.
public struct BusRequest: Sendable, Equatable {
    let number: UInt64
    /// The caller's unique name; the bus vouches for it.
    public let sender: String
    public let path: String
    /// Empty where the caller left it out.
    public let interface: String
    public let member: String
    public let arguments: [BusValue]

    /// The signature of its arguments.
    public var signature: String { arguments.map(\.type).joined() }
}

/// Why a call on a bus has no result.
public enum BusError: Error, Sendable, Equatable {
    /// There is no bus, it refused us, or the connection has ended.
    case notConnected
    /// No answer within the time.
    case timedOut
    /// The answer is an error: its D-Bus name. The text beside it is for programmers.
    case remote(name: String)
    /// A message that breaks D-Bus's rules, or ours of size and depth; or one that cannot be made of
    /// these arguments.
    case malformed
}
