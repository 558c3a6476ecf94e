/// What `ingestd peripherals` prints.
package struct CatalogueListing: Sendable {
    /// What a terminal shows in one line where nothing else is known of it.
    static let columns = 80

    package let models: [PeripheralModel]
    private let readableProfiles: Set<String>

    /// - Parameters:
    ///   - type: lists the models of this type only.
    ///   - brand: lists the models of this maker only, whatever the case.
    ///   - words: lists the models only whose name, type, maker or own name has each of these, whatever the case.
    ///   - ids: lists these only; all when empty.
    ///   - readableProfiles: names of the profiles that this program can read.
    package init(
        _ catalogue: Catalogue, type: String? = nil, brand: String? = nil, words: [String] = [],
        ids: Set<Int> = [], readableProfiles: Set<String>
    ) {
        models = catalogue.models.filter { model in
            (type == nil || model.type == type) && (ids.isEmpty || ids.contains(model.id))
                && (brand.map { model.isOf(brand: $0) } ?? true) && words.allSatisfy(model.isCalled)
        }
        self.readableProfiles = readableProfiles
    }

    package var isEmpty: Bool { models.isEmpty }

    /// A heading, then one line a model: ID, whether this program reads it, type, name.
    package var lines: [String] {
        let types = models.map(\.type.count).max() ?? 0
        let ids = models.map { String($0.id).count }.max() ?? 0
        func line(_ id: String, _ readable: String, _ type: String, _ name: String) -> String {
            [id.padded(to: ids), readable.padded(to: 4), type.padded(to: types), name]
                .joined(separator: " ")
        }
        return [line("ID", "READ", "TYPE", "NAME")]
            + models.map { model in
                let isReadable = model.isReadable(with: readableProfiles)
                return line(String(model.id), isReadable ? "yes" : "no", model.type, model.name)
            }
    }

    /// Each model with everything that there is to know of it, an empty line between two.
    package var details: [String] {
        Array(
            models.map { ModelText($0, readableProfiles: readableProfiles).lines }.joined(separator: [""]))
    }

    /// One JSON array.
    package var json: String {
        JSONLine.encode(models.map { ModelDescription($0, readableProfiles: readableProfiles) })
    }

    /// The only model as a JSON object, or the array of all.
    package var jsonOfOneOrAll: String {
        guard models.count == 1, let model = models.first else { return json }
        return JSONLine.encode(ModelDescription(model, readableProfiles: readableProfiles))
    }
}

/// One model for people to read: a fact a line, its texts as paragraphs.
struct ModelText {
    /// Where values begin: after the longest label.
    private static let label = 17

    private let model: PeripheralModel
    private let isReadable: Bool

    init(_ model: PeripheralModel, readableProfiles: Set<String>) {
        self.model = model
        isReadable = model.isReadable(with: readableProfiles)
    }

    var lines: [String] {
        var lines = ["\(model.id) \(model.name)"]
        lines += fact("type", model.type)
        if let manufacturer = model.manufacturer { lines += fact("manufacturer", manufacturer) }
        if let name = model.model { lines += fact("model", name) }
        lines += fact(
            "profile", model.profile + (isReadable ? "" : " (this version does not read this model)"))
        lines += fact("recognised by", model.recognition)
        lines += fact("bonding", model.bondingWords)
        if model.readyBeforeMeasurement {
            lines += fact("ready-to-read", "told when it is heard before the measurement")
        }
        if let rearm = model.rearm { lines += fact("rearm", DurationText.write(rearm)) }
        lines += fact("pairing", model.instructions.pairing)
        lines += fact("before", model.instructions.beforeMeasurement)
        lines += fact("during", model.instructions.duringMeasurement)
        for quirk in model.quirks {
            lines += fact("quirk", "\(quirk.rawValue) (\(quirk.effect.rawValue)): \(quirk.meaning)")
        }
        return lines
    }

    private func fact(_ label: String, _ text: String) -> [String] {
        let indent = String(repeating: " ", count: Self.label)
        let paragraph = TerminalText.wrapped(text, width: CatalogueListing.columns - Self.label)
        return paragraph.enumerated().map { number, line in
            (number == 0 ? "  \(label):".padded(to: Self.label) : indent) + line
        }
    }
}

extension PeripheralModel {
    package func isOf(brand: String) -> Bool { manufacturer?.lowercased() == brand.lowercased() }

    /// Whether the word is a part of what it is called.
    fileprivate func isCalled(_ word: String) -> Bool {
        [name, type, manufacturer, model].compactMap(\.self).contains { text in
            text.lowercased().contains(word.lowercased())
        }
    }

    /// The ways to recognise it, in words.
    var recognition: String {
        guard !recognised.isEmpty else { return "its address only" }
        return recognised.map { marks in marks.map(\.name).joined(separator: " and ") }
            .joined(separator: "; or ")
    }

    var bondingWords: String {
        bonding.rawValue + (bondingMethod.map { ", \($0.rawValue)" } ?? "")
    }
}

extension AdvertisementFilter.Mark {
    /// The key under which a catalogue has this mark, and its value.
    var entry: (key: String, value: String) {
        switch self {
        case .service(let uuid): ("service", BluetoothUUID(uuid).description)
        case .longService(let uuid): ("service", uuid.description)
        case .company(let company): ("company", BluetoothUUID(company).description)
        case .namePrefix(let name): ("name", String(decoding: name, as: UTF8.self))
        case .nameContains(let text): ("name_contains", String(decoding: text, as: UTF8.self))
        }
    }

    /// How sentences and tables name it.
    var name: String {
        let (_, value) = entry
        return switch self {
        case .service, .longService: "service \(value)"
        case .company: "company \(value)"
        case .namePrefix: "name \"\(value)…\""
        case .nameContains: "name \"…\(value)…\""
        }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
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
    /// As in the catalogue: any item suffices, and an item needs all its marks.
    var recognised: [[String: String]]
    var bonding: String
    var bondingMethod: String?
    var readyBeforeMeasurement: Bool
    var rearmSeconds: Int64?
    var quirks: [String]
    var instructions: Instructions

    enum CodingKeys: String, CodingKey {
        case id, name, type, manufacturer, model, profile, readable, recognised, bonding, quirks
        case instructions
        case bondingMethod = "bonding_method"
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
        recognised = model.recognised.map { marks in
            Dictionary(marks.map { ($0.entry.key, $0.entry.value) }) { first, _ in first }
        }
        bonding = model.bonding.rawValue
        bondingMethod = model.bondingMethod?.rawValue
        readyBeforeMeasurement = model.readyBeforeMeasurement
        rearmSeconds = model.rearm?.components.seconds
        quirks = model.quirks.map(\.rawValue)
        instructions = Instructions(
            pairing: model.instructions.pairing, before: model.instructions.beforeMeasurement,
            during: model.instructions.duringMeasurement)
    }
}
