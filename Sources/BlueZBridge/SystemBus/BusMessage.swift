/// A method call, as it is sent.
package struct BusCall: Sendable, Equatable {
    /// Who is asked: a well-known or a unique name.
    package var destination: String
    package var path: String
    package var interface: String
    package var member: String
    package var arguments: [BusValue]

    package init(
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
    package static func get(
        _ property: String, of interface: String, at path: String, from destination: String
    ) -> BusCall {
        BusCall(
            to: destination, path, "org.freedesktop.DBus.Properties", "Get",
            [.string(interface), .string(property)])
    }

    /// Sets a property (org.freedesktop.DBus.Properties.Set).
    package static func set(
        _ property: String, of interface: String, at path: String, on destination: String, to value: BusValue
    ) -> BusCall {
        BusCall(
            to: destination, path, "org.freedesktop.DBus.Properties", "Set",
            [.string(interface), .string(property), .variant(value)])
    }

    /// A call of the bus itself (org.freedesktop.DBus).
    package static func bus(_ member: String, _ arguments: [BusValue] = []) -> BusCall {
        BusCall(
            to: "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", member, arguments)
    }
}

/// A signal that somebody sent.
package struct BusSignal: Sendable, Equatable {
    /// The sender's unique name, or `org.freedesktop.DBus`; the bus vouches for it.
    package let sender: String
    package let path: String
    package let interface: String
    package let member: String
    package let arguments: [BusValue]
}

/// A method call that somebody made of us. It is answered once, by its connection.
package struct BusRequest: Sendable, Equatable {
    let number: UInt64
    /// The caller's unique name; the bus vouches for it.
    package let sender: String
    package let path: String
    /// Empty where the caller left it out.
    package let interface: String
    package let member: String
    package let arguments: [BusValue]

    /// The signature of its arguments.
    package var signature: String { arguments.map(\.type).joined() }
}

/// Why a call on a bus has no result.
package enum BusError: Error, Sendable, Equatable {
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
