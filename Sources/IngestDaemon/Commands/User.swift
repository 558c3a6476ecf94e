import ArgumentParser
import FoundationEssentials

/// `ingestd user`: users of a destination.
struct User: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Make users at a destination of type junction.",
        discussion: """
            For example:

              ingestd user create household-12
            """,
        subcommands: [Create.self])

    /// `ingestd user create`: makes a user, or tells the one that is there.
    struct Create: AsynchronousCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Make a user at Junction, or find the one of this name.",
            discussion: """
                Prints Junction's id of the user. The API key is the destination's credential, or in the file that \
                --api-key names. Changes nothing on this box. For example:

                  ingestd user create household-12
                  ingestd user create household-12 --api-key junction-key
                """)

        @Argument(
            help: "What you call the user: client_user_id, without anything that says who it is; - reads it.")
        var clientID: String

        @Option(
            help: "The destination, if there is more than one of type junction.",
            completion: Completions.destinations)
        var destination: String?

        @Option(help: ArgumentHelp("A file with the API key.", valueName: "file"), completion: .file())
        var apiKey: String?

        @Option(
            name: .customLong("config"), help: ArgumentHelp("The configuration.", valueName: "path"),
            completion: .file())
        var path = Configuration.defaultPath

        @Flag(help: "Print the result as one JSON object.")
        var json = false

        func serve() async throws {
            let clientID = StandardInput.argument(clientID)
            guard (1...128).contains(clientID.utf8.count), clientID.utf8.allSatisfy({ $0 >= 0x20 }) else {
                throw CommandFailure(.usage, "expected a CLIENT_ID of 1 to 128 bytes")
            }
            let environment = ProcessInfo.processInfo.environment
            let configuration = try configuration(environment)
            let (destination, settings) = try destination(of: configuration)
            let credentials = Credentials(environment: environment)
            let key = try apiKey(of: destination, credentials)
            let transport = HTTPTransport(settings: destination.transport, credentials: credentials)
            let users = JunctionUsers(
                settings: settings.at(configuration.timeZoneName, configuration.catalogue, for: clientID),
                transport: transport, clock: SystemClock())
            let result: Result<JunctionUsers.User, JunctionUsers.Failure>
            do throws(JunctionUsers.Failure) {
                result = .success(try await users.create(apiKey: key))
            } catch {
                result = .failure(error)
            }
            try? await transport.shutdown()
            switch result {
            case .success(let user): try show(user, of: clientID)
            case .failure(let failure): throw Self.failure(failure, at: destination.name)
            }
        }

        private func configuration(_ environment: [String: String]) throws(CommandFailure) -> Configuration {
            let check = ConfigurationCheck(
                path: path, readableProfiles: Profiles.names,
                host: .current(environment: environment, fileSeverity: .warning))
            guard let configuration = check.configuration else {
                let lines = check.diagnostics.map(\.description).joined(separator: "\n")
                throw CommandFailure(.configuration, lines)
            }
            return configuration
        }

        private func destination(
            of configuration: Configuration
        ) throws(CommandFailure) -> (DestinationSettings, JunctionSettings) {
            let all = configuration.destinations.compactMap { settings in
                (settings.form as? JunctionSettings).map { (settings, $0) }
            }
            let found = all.filter { destination == nil || $0.0.name == destination }
            guard let first = found.first else {
                throw CommandFailure(
                    .usage,
                    destination.map { "no destination of type junction is named \($0)" }
                        ?? "the configuration has no destination of type junction")
            }
            guard found.count == 1 else {
                throw CommandFailure(
                    .usage, "name one with --destination: \(found.map(\.0.name).joined(separator: ", "))")
            }
            return first
        }

        private func apiKey(
            of destination: DestinationSettings, _ credentials: Credentials
        ) throws(CommandFailure) -> String {
            var name = destination.credential
            if let apiKey {
                let directory = FileManager.default.currentDirectoryPath
                name = .path(apiKey.hasPrefix("/") ? apiKey : directory + "/" + apiKey)
            }
            guard let name else {
                throw CommandFailure(
                    .usage, "\(destination.name) has no credential: name a file with --api-key")
            }
            let key: String?
            do throws(CredentialError) {
                key = try credentials.read(name).text
            } catch {
                throw CommandFailure(.configuration, error.description)
            }
            guard let key else { throw CommandFailure(.configuration, "the API key is no text") }
            return key
        }

        private func show(_ user: JunctionUsers.User, of clientID: String) throws {
            var text = JSONText()
            text.beginObject()
            text.member("client_user_id", clientID)
            text.member("user_id", user.id)
            text.member("created", user.isNew)
            text.endObject()
            let words = user.isNew ? "Created user" : "There is already a user"
            try StandardOutput.write(
                (json ? text.string : "\(words) \(clientID): \(TerminalText.line(user.id))") + "\n")
        }

        private static func failure(
            _ failure: JunctionUsers.Failure, at destination: String
        ) -> CommandFailure {
            switch failure {
            case .unavailable(let words):
                CommandFailure(.unavailable, "\(destination): \(TerminalText.line(words))")
            case .keyRejected(let status):
                CommandFailure(.noPermission, "\(destination) rejects the API key (HTTP \(status))")
            case .refused(let words): CommandFailure(.badData, "\(destination): \(TerminalText.line(words))")
            }
        }
    }
}
