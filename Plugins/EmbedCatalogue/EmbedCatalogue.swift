import Foundation
import PackagePlugin

/// Builds config/peripherals.yaml into the program, as Swift code.
@main struct EmbedCatalogue: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let catalogue = context.package.directoryURL.appending(path: "config/peripherals.yaml")
        let code = context.pluginWorkDirectoryURL.appending(path: "ShippedCatalogue.swift")
        return [
            .buildCommand(
                displayName: "Embedding the catalogue of peripherals",
                executable: try context.tool(named: "catalogue-embedder").url,
                arguments: [catalogue.path(), code.path()], inputFiles: [catalogue], outputFiles: [code])
        ]
    }
}
