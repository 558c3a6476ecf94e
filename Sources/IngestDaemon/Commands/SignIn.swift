import ArgumentParser
import FoundationEssentials

/// `ingestd sign-in`: begins a session at a destination by the running service.
struct SignIn: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-in",
        abstract: "Sign in at a destination that files under one person.",
        discussion: """
            As the user whom the configuration names. What waits for that user is delivered; what waits for \
            another one is set aside, and never delivered in the new session. Signing in twice is fine; after \
            the destination has ended a session it is tried again. A destination of type junction takes a sign-in \
            token, which is good for one exchange. For example:

              ingestd sign-in validic
              ingestd sign-in junction --token sign-in-token
            """)

    @Option(
        help: ArgumentHelp(
            "A file with the user's sign-in token, or - for standard input.", valueName: "file"),
        completion: .file())
    var token: String?

    @OptionGroup var target: SessionTarget

    func serve() async throws {
        try await target.ask { client, destination in
            let session = try await client.session(destination)
            if session.needsToken, token == nil {
                throw CommandFailure(
                    .usage,
                    "\(destination) needs a sign-in token: name a file with --token, or - for standard input")
            }
            let token = try token.map { file throws(CommandFailure) in
                try SecretFile.read(file, flag: "--token", limit: JunctionSignInToken.maximumSize)
            }
            if session.isOfAnother {
                let former = session.lastUser ?? "somebody whose name was lost with a damaged queue"
                try target.confirm(
                    TerminalText.line(
                        "\(destination) was signed in for \(former), and is to be for \(session.user) now.")
                        + " \(records(session.waiting)) for the former, to be set aside.")
            }
            let answer = try await Self.signIn(
                at: destination, changesUser: session.isOfAnother, token: token, by: client)
            // The destination may have told its own id of the user just now.
            let begun = try await client.session(destination)
            var text = JSONText()
            text.beginObject()
            text.member("destination", destination)
            text.member("user", begun.user)
            if let id = begun.userID { text.member("user_id", id) }
            text.key("authentication")
            text.beginArray()
            for kind in begun.authentication { text.value(kind) }
            text.endArray()
            text.member("set_aside", answer.setAside)
            text.endObject()
            let id = begun.userID.map { " (\($0) there)" } ?? ""
            let how = ([begun.user + id] + begun.authentication).joined(separator: ", by ")
            let aside = answer.setAside > 0 ? " \(answer.setAside) set aside." : ""
            try StandardOutput.write(
                (target.json
                    ? text.string : TerminalText.line("Signed in at \(destination) for \(how).") + aside)
                    + "\n")
        }
    }
}

extension SignIn {
    /// Asks again as long as the destination has not answered the service, 70 s or so.
    private static func signIn(
        at destination: String, changesUser: Bool, token: String?, by client: ControlClient
    ) async throws(ControlClient.Failure) -> ControlMessage.SignedIn {
        while true {
            do throws(ControlClient.Failure) {
                return try await client.signIn(destination, changesUser: changesUser, token: token)
            } catch {
                guard case .refused(let refusal) = error, refusal.reason == .underWay
                else { throw error }
            }
        }
    }
}

/// `ingestd sign-out`: ends a session at a destination by the running service.
struct SignOut: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-out",
        abstract: "Sign out of a destination that files under one person.",
        discussion: """
            The records that wait for it are given up: they are never delivered there. Nothing is delivered \
            there until sign-in, also after a restart. For example:

              ingestd sign-out validic
            """)

    @OptionGroup var target: SessionTarget

    func serve() async throws {
        try await target.ask { client, destination in
            let session = try await client.session(destination)
            try target.confirm("\(records(session.waiting)) for \(destination), to be given up.")
            let answer = try await client.signOut(destination)
            var text = JSONText()
            text.beginObject()
            text.member("destination", destination)
            text.member("cleared", answer.cleared)
            text.endObject()
            try StandardOutput.write(
                (target.json
                    ? text.string : "Signed out of \(destination). \(answer.cleared) given up.") + "\n")
        }
    }
}

private func records(_ count: Int) -> String {
    count == 0 ? "No record waits" : count.counted("record waits", "records wait")
}

/// What both commands take.
struct SessionTarget: ParsableArguments {
    @Argument(help: "The destination's name.", completion: Completions.accounts)
    var destination: String

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: "Print the result as one JSON object.")
    var json = false

    /// Talks to the service.
    func ask(_ body: (ControlClient, String) async throws -> Void) async throws {
        guard destination.utf8.allSatisfy({ Self.nameCharacters.contains($0) }), !destination.isEmpty else {
            throw CommandFailure(.usage, "\(destination): expected the name of a destination")
        }
        let client = ControlClient(path: try service.socket())
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(client, destination))
        } catch let failure as ControlClient.Failure {
            result = .failure(CommandFailure(failure, path: client.path))
        } catch {
            result = .failure(error)
        }
        await client.close()
        try result.get()
    }

    /// Returns when the operator agrees.
    func confirm(_ sentence: String) throws(CommandFailure) {
        try Confirmation.ask(sentence, isGiven: yes)
    }

    /// Those of names in the configuration; none has a meaning in a path.
    private static let nameCharacters = Set(
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-".utf8))
}
