import ArgumentParser

/// `ingestd reload`: has the running service read its configuration again.
struct Reload: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Have the running service read its configuration again.",
        discussion: """
            What is valid is in force when the command ends, and no reading is lost for it. What is not valid, or \
            needs a restart, leaves everything as it was: the command then says what is wrong and exits 78. \
            systemctl reload ingestd does the same. For example:

              ingestd reload
            """)

    @OptionGroup var service: ServiceOptions

    func serve() async throws {
        let client = ControlClient(path: try service.socket())
        let result: Result<Void, CommandFailure>
        do throws(ControlClient.Failure) {
            result = .success(try await client.reload())
        } catch {
            result = .failure(CommandFailure(error, path: client.path))
        }
        await client.close()
        try result.get()
        try StandardOutput.write("The configuration is in force.\n")
    }
}
