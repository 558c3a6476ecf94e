import ArgumentParser
import IngestKit

/// `ingestd peripherals`: lists the catalogue, or tells everything of one model.
struct Peripherals: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the models of peripherals, or show one with its instructions.",
        discussion: "An allow-list names models by these IDs.")

    @Argument(help: "The ID of one model.")
    var id: Int?

    @Option(help: "List the models of this type only, such as thermometer.")
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
        if let id {
            guard let model = checked.catalogue[id] else {
                StandardError.print("no model has ID \(id); `ingestd peripherals` lists them")
                throw ExitCode(64)  // EX_USAGE
            }
            show(model)
        } else {
            try list(checked.catalogue)
        }
    }

    private func show(_ model: PeripheralModel) {
        if json {
            print(CatalogueListing.json(of: model, readableProfiles: Profiles.names))
        } else {
            for line in CatalogueListing.lines(of: model, readableProfiles: Profiles.names) {
                print(line)
            }
        }
    }

    private func list(_ catalogue: Catalogue) throws {
        let listing = CatalogueListing(catalogue, type: type, readableProfiles: Profiles.names)
        if let type, listing.isEmpty {
            let types = Set(catalogue.models.map(\.type)).sorted().joined(separator: ", ")
            StandardError.print("no model has type \(type); there are: \(types)")
            throw ExitCode(64)  // EX_USAGE
        }
        if json {
            print(listing.json)
        } else {
            for line in listing.lines { print(line) }
        }
    }
}
