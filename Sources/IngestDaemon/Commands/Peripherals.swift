import ArgumentParser

/// `ingestd peripherals`: lists the catalogue, or tells everything of one model.
struct Peripherals: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peripherals",
        abstract: "List the models of peripherals, or show some with their instructions.",
        discussion: """
            An allow-list names models by these IDs. READ says whether this version reads the model; \
            what is special about one stands with its instructions. Words find models by what they are called. \
            For example:

              ingestd peripherals omron cuff
              ingestd peripherals --type thermometer
              ingestd peripherals 1001
            """)

    @Argument(
        help: ArgumentHelp(
            "IDs of models to show with their instructions, or words of their names.", valueName: "id-or-word"
        ))
    var named: [String] = []

    @Option(help: "The models of this type only, such as thermometer.")
    var type: String?

    @Option(help: "The models of this maker only, such as omron.")
    var brand: String?

    @Option(
        name: .customLong("config"),
        help: ArgumentHelp("The configuration; peripherals.d beside it adds models.", valueName: "path"),
        completion: .file())
    var path = Configuration.defaultPath

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let checked: Catalogue.Checked
        do {
            checked = try Catalogue.load(additions: Catalogue.additions(besideConfiguration: path))
        } catch {
            for diagnostic in error.diagnostics { StandardError.print(diagnostic.description) }
            throw ExitCode(78)  // EX_CONFIG
        }
        for warning in checked.warnings { StandardError.print(warning.description) }
        let catalogue = checked.catalogue
        let ids = named.compactMap { Int($0) }
        let words = named.filter { Int($0) == nil }
        guard ids.isEmpty || words.isEmpty else {
            throw CommandFailure(.usage, "expected IDs or words, not both")
        }
        for id in ids where catalogue[id] == nil {
            throw CommandFailure(.usage, "no model has ID \(id); `ingestd peripherals` lists them")
        }
        if let type, !catalogue.models.contains(where: { $0.type == type }) {
            throw CommandFailure(
                .usage, "no model has type \(type); there are: \(Self.list(catalogue.models.map(\.type)))")
        }
        if let brand, !catalogue.models.contains(where: { $0.isOf(brand: brand) }) {
            let brands = Self.list(catalogue.models.compactMap(\.manufacturer))
            throw CommandFailure(.usage, "no model is of \(TerminalText.line(brand)); there are: \(brands)")
        }
        let listing = CatalogueListing(
            catalogue, type: type, brand: brand, words: words, ids: Set(ids),
            readableProfiles: Profiles.names)
        if listing.isEmpty {
            throw CommandFailure(.usage, "no model fits all of that; `ingestd peripherals` lists them")
        }
        if json {
            try StandardOutput.write((ids.count == 1 ? listing.jsonOfOneOrAll : listing.json) + "\n")
        } else {
            for line in ids.isEmpty ? listing.lines : listing.details {
                try StandardOutput.write(TerminalText.line(line) + "\n")
            }
        }
    }

    private static func list(_ words: [String]) -> String { Set(words).sorted().joined(separator: ", ") }
}
