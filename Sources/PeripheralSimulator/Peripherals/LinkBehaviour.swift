public import IngestKit

/// How a simulated peripheral behaves on one link; the default is a healthy one.
public struct LinkBehaviour: Sendable {
    /// Why no connection is made: as if the kernel had said so.
    public var connectionError: LinkError?
    /// Hangs up right after this many PDUs, counted both ways; 0 is right after the connection. A
    /// PDU of the gateway that is counted last gets no answer.
    public var dropAfter: Int?
    /// How long each answer takes.
    public var answerDelay: Duration = .zero
    /// What is sent for a request, given the request and the proper answer: nothing, another
    /// answer, or several PDUs.
    public var respond: (@Sendable (_ request: [UInt8], _ answer: [UInt8]) -> [[UInt8]])?
    /// PDUs that the peripheral sends by itself as soon as it is connected.
    public var opening: [[UInt8]] = []
    /// Hangs up right after it has sent its indications, without waiting for confirmations.
    public var hangsUpAfterSending = false

    public init() {}

    /// Drops the link after so many PDUs.
    public static func dropping(after count: Int) -> LinkBehaviour {
        var behaviour = LinkBehaviour()
        behaviour.dropAfter = count
        return behaviour
    }

    /// Answers with whatever `respond` makes of it.
    public static func responding(
        _ respond: @escaping @Sendable (_ request: [UInt8], _ answer: [UInt8]) -> [[UInt8]]
    ) -> LinkBehaviour {
        var behaviour = LinkBehaviour()
        behaviour.respond = respond
        return behaviour
    }
}

/// What went over one link.
public struct LinkTrace: Sendable, Equatable {
    public struct PDU: Sendable, Equatable {
        public let isFromGateway: Bool
        public let bytes: [UInt8]
    }

    public internal(set) var pdus: [PDU] = []
    public internal(set) var hasEnded = false

    /// PDUs from the connection to the first confirmation, both counted; nil without one.
    public var pdusToConfirmation: Int? {
        pdus.firstIndex { $0.isFromGateway && $0.bytes.first == AttributeServer.Opcode.confirmation }
            .map { $0 + 1 }
    }

    /// The opcodes that the gateway sent.
    public var gatewayOpcodes: [UInt8] {
        pdus.filter(\.isFromGateway).compactMap(\.bytes.first)
    }
}
