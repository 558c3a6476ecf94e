/// How a simulated peripheral behaves on one link; the default is a healthy one.
package struct LinkBehaviour: Sendable {
    /// Why no connection is made: as if the kernel had said so.
    package var connectionError: LinkError?
    /// Hangs up right after this many PDUs, counted both ways; 0 is right after the connection. A
    /// PDU of the gateway that is counted last gets no answer.
    package var dropAfter: Int?
    /// How long each answer takes.
    package var answerDelay: Duration = .zero
    /// What is sent for a request, given the request and the proper answer: nothing, another
    /// answer, or several PDUs.
    package var respond: (@Sendable (_ request: [UInt8], _ answer: [UInt8]) -> [[UInt8]])?
    /// PDUs that the peripheral sends by itself as soon as it is connected.
    package var opening: [[UInt8]] = []
    /// Hangs up right after it has sent its indications, without waiting for confirmations.
    package var hangsUpAfterSending = false

    package init() {}

    /// Drops the link after so many PDUs.
    package static func dropping(after count: Int) -> LinkBehaviour {
        var behaviour = LinkBehaviour()
        behaviour.dropAfter = count
        return behaviour
    }

    /// Answers with whatever `respond` makes of it.
    package static func responding(
        _ respond: @escaping @Sendable (_ request: [UInt8], _ answer: [UInt8]) -> [[UInt8]]
    ) -> LinkBehaviour {
        var behaviour = LinkBehaviour()
        behaviour.respond = respond
        return behaviour
    }
}

/// What went over one link.
package struct LinkTrace: Sendable, Equatable {
    package struct PDU: Sendable, Equatable {
        package let isFromGateway: Bool
        package let bytes: [UInt8]
    }

    package internal(set) var pdus: [PDU] = []
    package internal(set) var hasEnded = false

    /// PDUs from the connection to the first confirmation, both counted; nil without one.
    package var pdusToConfirmation: Int? {
        pdus.firstIndex { $0.isFromGateway && $0.bytes.first == AttributeServer.Opcode.confirmation }
            .map { $0 + 1 }
    }

    /// The opcodes that the gateway sent.
    package var gatewayOpcodes: [UInt8] {
        pdus.filter(\.isFromGateway).compactMap(\.bytes.first)
    }
}
