/// What a peer's bytes reach: each check traps if a promise is broken.
struct Target: Sendable {
    let name: String
    /// In bytes: longer inputs only repeat parts.
    let longest: Int
    let check: @Sendable (_ bytes: [UInt8]) -> Void

    /// From what any radio in reach may send, to what only the operator writes.
    static let all = [
        Target(name: "advert", longest: 256, check: AdvertTarget.check),
        Target(name: "att", longest: 512, check: LinkTarget.check),
        Target(name: "gatt", longest: 256, check: DatabaseTarget.check),
        Target(name: "management", longest: 512, check: ManagementTarget.check),
        Target(name: "mqtt", longest: 512, check: BrokerTarget.check),
        Target(name: "answer", longest: 1024, check: AnswerTarget.check),
        Target(name: "answer-bound", longest: 256, check: AnswerTarget.checkBound),
        Target(name: "zip", longest: 1024, check: ExportTarget.checkZip),
        Target(name: "xml", longest: 1024, check: ExportTarget.checkXML),
        Target(name: "json", longest: 1024, check: ExportTarget.checkJSON),
        Target(name: "bus", longest: 512, check: BusTarget.check),
        Target(name: "control-http", longest: 512, check: ControlTarget.check),
        Target(name: "control-json", longest: 512, check: ControlTarget.checkMessage),
        Target(name: "yaml", longest: 2048, check: YAMLTarget.check),
    ]
}

/// Says what is broken, and traps. An optimised precondition has no words.
func require(_ condition: Bool, _ words: @autoclosure () -> String = "out of its bounds") {
    guard condition else { fatalError(words()) }
}

/// Takes numbers and bytes off the front of an input; past its end all are zero.
struct Draw {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isEmpty: Bool { position >= bytes.count }

    mutating func byte() -> UInt8 {
        guard position < bytes.count else { return 0 }
        defer { position += 1 }
        return bytes[position]
    }

    /// Least significant byte first.
    mutating func number() -> UInt16 { UInt16(byte()) | UInt16(byte()) << 8 }

    /// At most so many.
    mutating func bytes(_ count: Int) -> [UInt8] {
        let end = min(bytes.count, position + count)
        defer { position = end }
        return Array(bytes[position..<end])
    }

    mutating func rest() -> [UInt8] { bytes(.max - position) }

    mutating func text() -> String { String(decoding: rest(), as: UTF8.self) }

    mutating func flag() -> Bool { byte() & 1 == 1 }

    mutating func choice<Element>(among list: [Element]) -> Element { list[Int(byte()) % list.count] }
}
