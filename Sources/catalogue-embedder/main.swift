import FoundationEssentials
import Yams

// `catalogue-embedder CATALOGUE CODE` writes the models of a catalogue as Swift code, so that no start has to parse them.
// The build runs it (Plugins/EmbedCatalogue). A key that it does not know is an error; the values are held against the
// reader of catalogues by a test.

/// What is wrong with the catalogue.
struct Refusal: Error {
    let message: String
}

/// One mapping of the catalogue. Each of its keys is asked for once.
struct Entries {
    private var values: [String: Any]
    private let place: String

    init(_ value: Any, _ place: String) throws(Refusal) {
        guard let values = value as? [String: Any] else { throw Refusal(message: "\(place): not a mapping") }
        (self.values, self.place) = (values, place)
    }

    /// The value as code, `nil` where the key is absent.
    mutating func code(_ key: String, _ write: (Any) throws(Refusal) -> String = literal) throws(Refusal)
        -> String
    {
        guard let value = values.removeValue(forKey: key) else { return "nil" }
        return try write(value)
    }

    mutating func take(_ key: String) -> Any? { values.removeValue(forKey: key) }

    /// - Throws: where a key is left that nobody has asked for.
    func end() throws(Refusal) {
        if let key = values.keys.min() { throw Refusal(message: "\(place): unknown key \(key)") }
    }
}

func text(_ value: Any) throws(Refusal) -> String {
    guard let text = value as? String else { throw Refusal(message: "\(value): not a text") }
    return text
}

func literal(_ value: Any) throws(Refusal) -> String { try text(value).debugDescription }

/// `just-works` is the case `justWorks`.
func enumCase(_ value: Any) throws(Refusal) -> String {
    let words = try text(value).split(separator: "-").map(String.init)
    return "." + words[0] + words.dropFirst().map(\.capitalized).joined()
}

func duration(_ value: Any) throws(Refusal) -> String {
    let text = try text(value)
    let seconds = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    guard let unit = text.last.flatMap({ seconds[String($0)] }), let number = Int(text.dropLast()) else {
        throw Refusal(message: "\(text): not a duration")
    }
    return ".seconds(\(number * unit))"
}

func service(_ value: Any) throws(Refusal) -> String {
    let digits = try text(value).filter { $0 != "-" }
    switch digits.count {
    case 4: return ".service(0x\(digits))"
    case 32: return ".longService(.init(high: 0x\(digits.prefix(16)), low: 0x\(digits.suffix(16))))"
    default: throw Refusal(message: "\(digits): not a UUID")
    }
}

func marks(_ value: Any) throws(Refusal) -> String {
    var entries = try Entries(value, "recognised")
    var marks: [String] = []
    if let value = entries.take("service") { marks.append(try service(value)) }
    if let value = entries.take("company") { marks.append(".company(0x\(try text(value)))") }
    if let value = entries.take("name") { marks.append(".namePrefix(Array(\(try literal(value)).utf8))") }
    if let value = entries.take("name_contains") {
        marks.append(".nameContains(Array(\(try literal(value)).utf8))")
    }
    try entries.end()
    return "[" + marks.joined(separator: ", ") + "]"
}

func list(_ value: Any?, _ write: (Any) throws(Refusal) -> String) throws(Refusal) -> String {
    guard let value else { return "[]" }
    guard let values = value as? [Any] else { throw Refusal(message: "\(value): not a list") }
    var items: [String] = []
    for value in values { items.append(try write(value)) }
    return "[" + items.joined(separator: ", ") + "]"
}

func instructions(_ value: Any) throws(Refusal) -> String {
    var entries = try Entries(value, "instructions")
    let code = """
        .init(
            pairing: \(try entries.code("pairing")),
            beforeMeasurement: \(try entries.code("before")),
            duringMeasurement: \(try entries.code("during")))
        """
    try entries.end()
    return code
}

func model(_ value: Any) throws(Refusal) -> String {
    var entries = try Entries(value, "model")
    let bonding = try entries.code("bonding", enumCase)
    let isReady = entries.take("ready_before_measurement") as? Bool
    guard let id = entries.take("id") as? Int else { throw Refusal(message: "a model without an id") }
    let code = """
        PeripheralModel(
            id: \(id), name: \(try entries.code("name")), type: \(try entries.code("type")),
            manufacturer: \(try entries.code("manufacturer")), model: \(try entries.code("model")),
            profile: \(try entries.code("profile")), recognised: \(try list(entries.take("recognised"), marks)),
            bonding: \(bonding == "nil" ? ".none" : bonding),
            bondingMethod: \(try entries.code("bonding_method", enumCase)),
            instructions: \(try entries.code("instructions", instructions)),
            readyBeforeMeasurement: \(isReady ?? false), rearm: \(try entries.code("rearm", duration)),
            quirks: \(try list(entries.take("quirks"), enumCase)),
            junctionProvider: \(try entries.code("junction_provider")))
        """
    try entries.end()
    return code
}

func code(of catalogue: String) throws -> String {
    var entries = try Entries(try load(yaml: catalogue) ?? [:], "catalogue")
    var models: [String] = []
    for value in entries.take("models") as? [Any] ?? [] { models.append(try model(value)) }
    try entries.end()
    // A function each, which the compiler checks in no time.
    let functions = models.enumerated().map {
        "    private static func model\($0)() -> PeripheralModel {\n\($1)\n    }"
    }
    let calls = models.indices.map { "model\($0)()" }.joined(separator: ", ")
    return """
        import IngestBluetooth
        import IngestCore
        import IngestPeripherals

        /// config/peripherals.yaml.
        enum ShippedCatalogue {
            /// Word for word.
            static let text = \(catalogue.debugDescription)

            /// Its models, in its order.
            static var models: [PeripheralModel] { [\(calls)] }

        \(functions.joined(separator: "\n\n"))
        }

        """
}

let arguments = CommandLine.arguments
guard arguments.count == 3 else { fatalError("usage: catalogue-embedder CATALOGUE CODE") }
do {
    let catalogue = try String(contentsOfFile: arguments[1], encoding: .utf8)
    try code(of: catalogue).write(toFile: arguments[2], atomically: true, encoding: .utf8)
} catch {
    fatalError("\(arguments[1]): \(error)")
}
