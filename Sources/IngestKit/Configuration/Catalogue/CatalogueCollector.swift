import Yams

/// Reads the files of a catalogue one after the other, and finds IDs that stand in two.
struct CatalogueCollector {
    private var models: [PeripheralModel] = []
    /// Where each ID was first seen.
    private var places: [Int: String] = [:]
    private(set) var diagnostics: [Diagnostic] = []

    /// - Parameter isOwn: whether the operator wrote the file.
    mutating func add(fileAt path: String, isOwn: Bool) {
        do {
            let text = try YAMLDocument.contents(of: path)
            // As a package installs it: its models are in the program already.
            if !isOwn, text == ShippedCatalogue.text { return addShipped(path: path) }
            add(text: text, path: path, isOwn: isOwn)
        } catch {
            diagnostics += error.diagnostics
        }
    }

    /// The catalogue that is built into the program. The first of the files.
    mutating func addShipped(path: String) {
        models = ShippedCatalogue.models
        for model in models { places[model.id] = path }
    }

    mutating func add(text: String, path: String, isOwn: Bool) {
        do {
            let document = try YAMLDocument(text: text, path: path)
            if isOwn, document.root.holdsDevices {
                let message =
                    "expected models here: devices to read stand in a file of conf.d, below `peripherals:`"
                diagnostics.append(
                    Diagnostic(.error, path: path, line: 1, column: 1, message: message, expectation: message)
                )
                return
            }
            let entries = document.root.mapping(CatalogueKeys.root)
            for item in entries?.required("models", "a list of models")?.items() ?? [] {
                guard let entries = item.mapping(CatalogueKeys.model), let model = ModelReader.read(entries)
                else {
                    continue
                }
                keep(model, entries["id"] ?? item, path: path, isOwn: isOwn)
            }
            diagnostics += document.log.diagnostics
        } catch {
            diagnostics += error.diagnostics
        }
    }

    /// The models that could be read.
    var catalogue: Catalogue { Catalogue(models: models, isPartial: hasErrors) }

    private var hasErrors: Bool { diagnostics.contains { $0.severity == .error } }

    func conclude() throws(ConfigurationError) -> Catalogue.Checked {
        guard !hasErrors else { throw ConfigurationError(diagnostics: diagnostics) }
        return Catalogue.Checked(catalogue: catalogue, warnings: diagnostics)
    }

    private mutating func keep(_ model: PeripheralModel, _ id: NodeReader, path: String, isOwn: Bool) {
        if let first = places[model.id] {
            id.error("ID \(model.id) already stands in \(first)")
            return
        }
        if isOwn, model.id < Catalogue.firstOwnIdentifier {
            id.warning(
                "IDs below \(Catalogue.firstOwnIdentifier) belong to the shipped catalogue, "
                    + "which may take \(model.id) in a later version")
        }
        places[model.id] = path
        models.append(model)
    }
}

/// Reads one entry of a catalogue.
enum ModelReader {
    /// Nil when something that is required is missing or wrong, which the log tells.
    static func read(_ entries: MappingReader) -> PeripheralModel? {
        let id = entries.required("id", "an ID")?.integer(Catalogue.identifiers, "an ID")
        let name = entries.required("name", "a name")?.text()
        let type = entries.required("type", "a type").flatMap { word($0, "a type") }
        let profile = entries.required("profile", "a profile")?.choice(among: Profiles.all.map(\.name))
        let recognised = entries["recognised"]?.list("mark", marks) ?? []
        let instructions = entries.required("instructions", "instructions").flatMap(instructions)
        let manufacturer = entries["manufacturer"]?.text()
        let modelName = entries["model"]?.text()
        let bonding: PeripheralModel.Bonding? = entries["bonding"]?.choice()
        let bondingMethod: PeripheralModel.BondingMethod? = entries["bonding_method"]?.choice()
        if bonding != .required {
            entries["bonding_method"]?.error(expected: "bonding: required beside it")
        }
        let isReadyBefore = entries["ready_before_measurement"]?.boolean()
        let rearm = entries["rearm"]?.duration(.seconds(1)...(.seconds(7 * 86_400)))
        let quirks: [PeripheralModel.Quirk]? = entries["quirks"]?.list("quirk", quirk)
        let junctionProvider: JunctionProvider? = entries["junction_provider"]?.choice()
        guard let id, let name, let type, let profile, let instructions else { return nil }
        return PeripheralModel(
            id: id, name: name, type: type, manufacturer: manufacturer, model: modelName,
            profile: profile, recognised: recognised, bonding: bonding ?? .none,
            bondingMethod: bondingMethod, instructions: instructions,
            readyBeforeMeasurement: isReadyBefore ?? false, rearm: rearm,
            quirks: quirks ?? [], junctionProvider: junctionProvider?.rawValue)
    }

    private static func quirk(_ reader: NodeReader) -> PeripheralModel.Quirk? {
        guard let name = word(reader, "a quirk") else { return nil }
        guard let quirk = PeripheralModel.Quirk(rawValue: name) else {
            let known = PeripheralModel.Quirk.allCases.map(\.rawValue)
            let near = reader.nearest(to: name, among: known).map { "; did you mean \($0)?" }
            reader.error("there is no quirk \(NodeReader.quoted(name))" + (near ?? ""))
            return nil
        }
        return quirk
    }

    private static func word(_ reader: NodeReader, _ what: String) -> String? {
        reader.value("\(what) in kebab case") { text in
            let isWord = text.utf8.allSatisfy {
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
            }
            return isWord && (1...64).contains(text.utf8.count) ? text : nil
        }
    }

    /// One way to recognise an advert: all the marks of one item.
    private static func marks(_ reader: NodeReader) -> [AdvertisementFilter.Mark]? {
        guard let entries = reader.mapping(CatalogueKeys.recognised) else { return nil }
        var marks: [AdvertisementFilter.Mark] = []
        if let service = entries["service"]?.value(
            "a UUID of 4 or 32 hex digits, in quotes", { BluetoothUUID($0) })
        {
            marks.append(service.short.map { .service($0) } ?? .longService(service))
        }
        if let company = entries["company"]?.value("a company identifier of 4 hex digits, in quotes", company)
        {
            marks.append(.company(company))
        }
        // A local name in an advert of 31 bytes has 29 at most.
        if let name = entries["name"]?.text("the beginning of a name", limit: 29) {
            marks.append(.namePrefix(Array(name.utf8)))
        }
        let isAlone = ["service", "company", "name"].allSatisfy { entries[$0] == nil }
        if let text = entries["name_contains"]?.text("part of a name", limit: 29) {
            // A controller that filters adverts itself cannot look for it (kernelPatterns).
            if isAlone {
                entries["name_contains"]?.error(expected: "service, company or name beside it")
                return nil
            }
            marks.append(.nameContains(Array(text.utf8)))
        }
        guard !marks.isEmpty else {
            if isAlone, entries["name_contains"] == nil { reader.expected("service, company or name") }
            return nil
        }
        return marks
    }

    private static func company(_ text: String) -> UInt16? {
        guard text.utf8.count == 4, text.utf8.allSatisfy(\.isHexDigit) else { return nil }
        return UInt16(text, radix: 16)
    }

    private static func instructions(_ reader: NodeReader) -> PeripheralModel.Instructions? {
        guard let entries = reader.mapping(CatalogueKeys.instructions) else { return nil }
        let pairing = entries.required("pairing", "a text").flatMap(paragraph)
        let before = entries.required("before", "a text").flatMap(paragraph)
        let during = entries.required("during", "a text").flatMap(paragraph)
        guard let pairing, let before, let during else { return nil }
        return PeripheralModel.Instructions(
            pairing: pairing, beforeMeasurement: before, duringMeasurement: during)
    }

    private static func paragraph(_ reader: NodeReader) -> String? {
        reader.text(limit: 1000)
    }
}

extension NodeReader {
    /// Whether this is a list of devices and not of models, as a configuration has it.
    fileprivate var holdsDevices: Bool {
        if case .mapping(let mapping) = node {
            return mapping.contains { $0.key.scalar?.string == "peripherals" }
        }
        guard case .sequence(let sequence) = node else { return false }
        return sequence.contains { item in
            item.mapping?.contains { $0.key.scalar?.string == "id" } == true
        }
    }
}
