package import ArgumentParser

/// `ingestd run`: the gateway.
package struct Run: AsynchronousCommand {
    package static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Read the listed peripherals and deliver their readings, until told to stop.",
        discussion: """
            Meant to run as ingestd.service. Events go to the journal, or with --events stdout as one \
            JSON object a line to standard output. For example:

              ingestd run --events stdout --config /etc/ingestd/ingestd.yaml
            """)

    @OptionGroup var options: RunOptions

    package init() {}

    package func serve() async throws {
        try await options.serve(on: { () throws(CommandFailure) in .kernel(try openManagement()) })
    }

    private func openManagement() throws(CommandFailure) -> ManagementDescriptor {
        do {
            return try ManagementDescriptor.openAndDropPrivileges()
        } catch {
            throw CommandFailure(error)
        }
    }
}
