import ArgumentParser

/// `ingestd peripherals`: lists the catalogue, or tells everything of one model.
struct Peripherals: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peripherals",
        abstract: "List the models of peripherals, or show some with their instructions.",
        discussion: """
            An allow-list names models by these IDs. READ says whether this version reads the model; \
            what is special about one stands with its instructions.
            """)

    @Argument(help: "IDs of models to show with their instructions.")
    var ids: [Int] = []

    @Option(help: "The models of this type only, such as thermometer.")
    var type: String?

    @Option(
        name: .customLong("config"),
        help: ArgumentHelp("The configuration; peripherals.d beside it adds models.", valueName: "path"))
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
        for id in ids where catalogue[id] == nil {
            StandardError.print("no model has ID \(id); `ingestd peripherals` lists them")
            throw ExitCode(64)  // EX_USAGE
        }
        if let type, !catalogue.models.contains(where: { $0.type == type }) {
            let types = Set(catalogue.models.map(\.type)).sorted().joined(separator: ", ")
            StandardError.print("no model has type \(type); there are: \(types)")
            throw ExitCode(64)  // EX_USAGE
        }
        let listing = CatalogueListing(catalogue, type: type, ids: Set(ids), readableProfiles: Profiles.names)
        if listing.isEmpty {
            StandardError.print("none of these models has type \(type ?? "")")
            throw ExitCode(64)  // EX_USAGE
        }
        if json {
            try StandardOutput.write((ids.count == 1 ? listing.jsonOfOneOrAll : listing.json) + "\n")
        } else {
            for line in ids.isEmpty ? listing.lines : listing.details {
                try StandardOutput.write(TerminalText.line(line) + "\n")
            }
        }
    }
}
