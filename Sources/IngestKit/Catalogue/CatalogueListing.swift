/// What `ingestd peripherals` prints.
public struct CatalogueListing: Sendable {
    private let models: [PeripheralModel]
    private let readableProfiles: Set<String>

    /// - Parameters:
    ///   - type: lists the models of this type only.
    ///   - readableProfiles: names of the profiles that this program can read.
    public init(_ catalogue: Catalogue, type: String? = nil, readableProfiles: Set<String>) {
        models = catalogue.models.filter { type == nil || $0.type == type }
        self.readableProfiles = readableProfiles
    }

    public var isEmpty: Bool { models.isEmpty }

    /// One line a model: ID, type, name.
    public var lines: [String] {
        let width = models.map(\.type.utf8.count).max() ?? 0
        return models.map { model in
            let id = Self.padded(String(model.id), to: 6)
            let note = model.isReadable(with: readableProfiles) ? "" : " (not readable by this version)"
            return "\(id) \(Self.padded(model.type, to: width)) \(model.name)\(note)"
        }
    }

    /// One JSON array.
    public var json: String {
        JSONLine.encode(models.map { ModelDescription($0, readableProfiles: readableProfiles) })
    }

    /// One model with its instructions, a fact a line.
    public static func lines(of model: PeripheralModel, readableProfiles: Set<String>) -> [String] {
        var lines = ["\(model.id) \(model.name)", "type: \(model.type)", "profile: \(model.profile)"]
        if let manufacturer = model.manufacturer { lines.append("manufacturer: \(manufacturer)") }
        if let name = model.model { lines.append("model: \(name)") }
        lines.append("readable by this version: \(model.isReadable(with: readableProfiles) ? "yes" : "no")")
        lines.append("bonding: \(model.bonding.rawValue)")
        lines.append("pairing: \(model.instructions.pairing)")
        lines.append("before a measurement: \(model.instructions.beforeMeasurement)")
        lines.append("during a measurement: \(model.instructions.duringMeasurement)")
        return lines
    }

    /// One model as a JSON object.
    public static func json(of model: PeripheralModel, readableProfiles: Set<String>) -> String {
        JSONLine.encode(ModelDescription(model, readableProfiles: readableProfiles))
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.utf8.count))
    }
}

/// The form of a model in JSON.
private struct ModelDescription: Encodable {
    struct Instructions: Encodable {
        var pairing: String
        var before: String
        var during: String
    }

    var id: Int
    var name: String
    var type: String
    var manufacturer: String?
    var model: String?
    var profile: String
    var readable: Bool
    var bonding: String
    var readyBeforeMeasurement: Bool
    var rearmSeconds: Int64?
    var quirks: [String]
    var instructions: Instructions

    enum CodingKeys: String, CodingKey {
        case id, name, type, manufacturer, model, profile, readable, bonding, quirks, instructions
        case readyBeforeMeasurement = "ready_before_measurement"
        case rearmSeconds = "rearm_s"
    }

    init(_ model: PeripheralModel, readableProfiles: Set<String>) {
        id = model.id
        name = model.name
        type = model.type
        manufacturer = model.manufacturer
        self.model = model.model
        profile = model.profile
        readable = model.isReadable(with: readableProfiles)
        bonding = model.bonding.rawValue
        readyBeforeMeasurement = model.readyBeforeMeasurement
        rearmSeconds = model.rearm?.components.seconds
        quirks = model.quirks
        instructions = Instructions(
            pairing: model.instructions.pairing, before: model.instructions.beforeMeasurement,
            during: model.instructions.duringMeasurement)
    }
}
