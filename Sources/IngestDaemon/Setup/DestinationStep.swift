import FoundationEssentials

/// The destination: asked for, tested, written, taken up by the service.
struct DestinationStep: Sendable {
    /// What was said on the command line.
    struct Answers: Sendable {
        var type: String?
        var name: String?
        /// In the form KEY=VALUE.
        var keys: [String] = []
        var url: String?
        var secret: String?
        /// Whether it is written although its test has failed.
        var isUntested = false

        /// Whether a destination is wanted, also beside one that is there.
        var areGiven: Bool { type != nil }
    }

    /// Keys that a type can do without and that decide who the gateway is there.
    private static let identityKeys = ["auth", "user"]

    let dialogue: Dialogue
    let service: any SetupService
    let clock: any GatewayClock
    let test: any DestinationTest
    let written: WrittenFiles
    /// Of the configuration; absolute.
    let path: String
    let answers: Answers

    func run(_ configuration: Configuration) async throws {
        if !configuration.destinations.isEmpty {
            let names = configuration.destinations.map { "\($0.name) (\($0.type.typeName))" }
            try dialogue.say("Destination: \(names.joined(separator: ", ")).")
            guard answers.areGiven else { return }
        } else {
            try dialogue.say("Destination: none yet. Where do readings go?")
        }
        var draft = DestinationDraft()
        var isFirst = true
        repeat {
            draft = try await ask(draft, beside: configuration, isFirst: isFirst)
            isFirst = false
        } while try await !isAccepted(draft)
        try write(draft)
        try await takeUp(draft.name)
    }

    // MARK: - Questions

    /// - Parameter draft: what was answered before; offered again.
    private func ask(
        _ draft: DestinationDraft, beside configuration: Configuration, isFirst: Bool
    ) async throws -> DestinationDraft {
        let given = isFirst ? answers : Answers()
        var draft = draft
        let type = try await type(given.type, isFirst ? nil : draft.type)
        let isNew = type != draft.type
        // Keys of another type have no effect.
        if isNew { draft.values.removeAll { $0.key != "url" } }
        draft.type = type
        if isFirst { try take(given, into: &draft) }
        let standard =
            isFirst ? Self.free(draft.type, among: configuration.destinations.map(\.name)) : draft.name
        draft.name = try await dialogue.ask(
            "Name of the destination", flag: "--destination-name", given: given.name, standard: standard
        ) { text throws(WrongAnswer) in
            guard TextForm.isName(text, limit: 64) else {
                throw WrongAnswer("expected 1 to 64 letters, digits, dots, dashes and underscores")
            }
            guard !configuration.destinations.contains(where: { $0.name == text }) else {
                throw WrongAnswer("there is a destination of this name")
            }
            return text
        }
        // What was answered is offered again, and so are keys that an answer makes necessary.
        let former = isFirst ? DestinationDraft() : draft
        for key in Self.keys where former[key] != nil && key != "credential" {
            draft[key] = try await value(of: key, "", draft, given: nil, standard: former[key])
        }
        draft = try await rest(draft, isNew: isNew)
        return try await secret(draft, given: given.secret, former: former.secret)
    }

    private func rest(_ draft: DestinationDraft, isNew: Bool) async throws -> DestinationDraft {
        var draft = draft
        for key in Self.identityKeys where isNew && draft[key] == nil {
            guard dialogue.asks, let description = Self.description(key, draft.type),
                !draft.needs().missing.contains(where: { $0.key == key })
            else { continue }
            let standard = Self.plain(description.defaultValue)
            let answer = try await value(
                of: key, Self.plain(description.type) + (standard == "none" ? " (Enter for none)" : ""),
                draft, given: nil, standard: standard == "none" ? "" : standard)
            draft[key] = answer.isEmpty || answer == standard ? nil : answer
        }
        while let next = draft.needs().missing.first(where: { $0.key != "credential" }) {
            draft[next.key] = try await value(of: next.key, next.what, draft, given: nil, standard: nil)
        }
        return draft
    }

    private func type(_ given: String?, _ former: String?) async throws -> String {
        let types = DestinationForms.all.map { $0.typeName }
        if dialogue.asks, given == nil {
            for (number, type) in types.enumerated() {
                let needs = DestinationDraft(type: type).needs().missing.map(\.key).joined(separator: ", ")
                try dialogue.say("  \(number + 1)  \(type), which needs: \(needs)")
            }
        }
        let standard = former.flatMap { types.firstIndex(of: $0) }.map { String($0 + 1) }
        return types[
            try await dialogue.choose(
                "Type, by its number", among: types, flag: "--destination-type", given: given,
                standard: standard)
        ]
    }

    private func take(_ given: Answers, into draft: inout DestinationDraft) throws {
        for pair in given.keys {
            guard let sign = pair.firstIndex(of: "="), sign != pair.startIndex else {
                throw CommandFailure(.usage, "--destination-key: expected KEY=VALUE")
            }
            let key = String(pair[..<sign])
            guard Self.keys(draft.type).contains(key) else {
                throw CommandFailure(
                    .usage,
                    "--destination-key: type \(draft.type) has no key \(TerminalText.line(key)); it has: "
                        + Self.keys(draft.type).joined(separator: ", "))
            }
            draft[key] = String(pair[pair.index(after: sign)...])
        }
        if let url = given.url { draft["url"] = url }
        for (key, value) in draft.values {
            let flag = key == "url" ? "--url" : "--destination-key \(key)"
            guard TextForm.isLine(value, limit: Dialogue.longestAnswer) else {
                throw CommandFailure(.usage, "\(flag): expected one line of text")
            }
            if let problem = problem(draft, key) { throw CommandFailure(.usage, "\(flag): \(problem)") }
        }
    }

    private func value(
        of key: String, _ what: String, _ draft: DestinationDraft, given: String?, standard: String?
    ) async throws -> String {
        let flag = key == "url" ? "--url" : "--destination-key \(key)=VALUE"
        return try await dialogue.ask(
            what.isEmpty ? key : "\(key), \(what)", flag: flag, given: given, standard: standard
        ) { text throws(WrongAnswer) in
            var tried = draft
            tried[key] = text.isEmpty ? nil : text
            if !text.isEmpty, let problem = problem(tried, key) { throw WrongAnswer(problem) }
            return text
        }
    }

    private func secret(
        _ draft: DestinationDraft, given: String?, former: String?
    ) async throws -> DestinationDraft {
        var draft = draft
        draft.secret = nil
        let needs = draft.needs()
        guard !needs.ignoresCredential else { return draft }
        let needed = needs.missing.first { $0.key == "credential" }?.what
        let question =
            (needed ?? "Token or password") + ", not shown while you type"
            + (former != nil ? " (Enter keeps the former one)" : needed == nil ? " (Enter for none)" : "")
        if !dialogue.asks, given == nil, needed == nil { return draft }
        let answer = try await dialogue.ask(
            question, flag: "--token-file", given: given,
            standard: former != nil || needed == nil ? "" : nil, isSecret: true
        ) { $0 }
        draft.secret = answer.isEmpty ? former : answer
        return draft
    }

    // MARK: - Checking and testing

    private var credentialDirectory: String {
        (path.lastIndex(of: "/").map { String(path[...$0]) } ?? "") + "credentials"
    }

    private func credentialPath(_ draft: DestinationDraft) -> String? {
        draft.secret == nil ? nil : "\(credentialDirectory)/\(draft.name)"
    }

    private func piece(_ draft: DestinationDraft) -> ConfigurationPiece {
        ConfigurationPiece(besideConfiguration: path, prefix: "destination-", named: draft.name)
    }

    /// What is wrong with the answer for a key, as `ingestd check` says it.
    private func problem(_ draft: DestinationDraft, _ key: String) -> String? {
        var draft = draft
        if draft.name.isEmpty { draft.name = "new" }
        let piece = piece(draft)
        return piece.check(draft.text(credential: nil)).diagnostics.first {
            $0.path == piece.path && $0.severity == .error && $0.key?.hasSuffix(".\(key)") == true
        }?.message
    }

    /// Whether it can be written: its test has succeeded, or the operator goes on in spite of it.
    private func isAccepted(_ draft: DestinationDraft) async throws -> Bool {
        try dialogue.say("Testing \(draft.name), up to a minute ...")
        let findings = try await findings(draft)
        // Where the secret lies for the test is nobody's business.
        for finding in findings where finding.check != .credential || finding.level != .ok {
            let mark =
                !finding.isTested ? "not tested" : finding.level == .ok ? "good" : finding.level.rawValue
            try dialogue.say("  \(mark): \(finding.message)" + (finding.remedy.map { "; \($0)" } ?? ""))
        }
        guard let error = findings.first(where: { $0.level == .error }) else { return true }
        if answers.isUntested { return true }
        guard dialogue.asks else {
            throw CommandFailure(
                .unavailable,
                "\(draft.name): the test failed, and nothing was written: \(error.message) (--untested writes it all "
                    + "the same)")
        }
        if try await dialogue.confirm("The test failed. Correct the answers?", standard: true) {
            return false
        }
        if try await dialogue.confirm("Write it all the same?", standard: false) { return true }
        throw CommandFailure(.interrupted, "the destination was not written")
    }

    private func findings(_ draft: DestinationDraft) async throws -> [Finding] {
        // The secret has no file yet that the code which delivers could read.
        let directory = "\(Self.privateDirectory)/ingestd-setup-\(UUID().uuidString)"
        var trial: String?
        defer { if trial != nil { try? FileManager.default.removeItem(atPath: directory) } }
        if let secret = draft.secret {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            let file = directory + "/secret"
            trial = file
            guard
                FileManager.default.createFile(
                    atPath: file, contents: Data(secret.utf8), attributes: [.posixPermissions: 0o600])
            else { throw CommandFailure(.cannotCreate, "\(file) cannot be written") }
        }
        let check = piece(draft).check(draft.text(credential: trial))
        guard let configuration = check.configuration,
            let settings = configuration.destinations.first(where: { $0.name == draft.name })
        else {
            return check.diagnostics.filter { $0.severity == .error }
                .map { Finding.error(.configuration, $0.description, remedy: "correct the answers") }
        }
        return await test.findings(of: settings, in: configuration)
    }

    /// In memory, if there is such a directory.
    private static var privateDirectory: String {
        FileManager.default.isWritableFile(atPath: "/run") ? "/run" : "/tmp"
    }

    // MARK: - Writing

    private func write(_ draft: DestinationDraft) throws {
        let piece = piece(draft)
        let credential = credentialPath(draft)
        if let credential, let secret = draft.secret {
            guard !FileManager.default.fileExists(atPath: credential) else {
                throw CommandFailure(
                    .cannotCreate, "\(credential): there is such a file; delete it, or choose another name")
            }
            do {
                try SharedFile.write(Data((secret + "\n").utf8), to: credential, replaces: false)
            } catch {
                throw CommandFailure(.noPermission, "\(credential) cannot be written: run it as root")
            }
        }
        do throws(CommandFailure) {
            _ = try piece.write(draft.text(credential: credential), wayOut: "choose another name")
        } catch {
            // Nothing names it.
            if let credential { try? FileManager.default.removeItem(atPath: credential) }
            throw error
        }
        for path in [credential, piece.path].compactMap(\.self) {
            written.add(path)
            try dialogue.say("Wrote \(path)")
        }
    }

    /// Has the service deliver there, which needs a restart.
    private func takeUp(_ name: String) async throws {
        let order = "systemctl restart ingestd"
        if service.isRoot, service.isInstalled {
            try dialogue.say("Restarting the service, so that it delivers there (\(order)) ...")
            guard await service.restart() else {
                throw CommandFailure(.unavailable, "\(order) failed: systemctl status ingestd says why")
            }
        } else if dialogue.asks {
            try dialogue.say("The service delivers there after a restart. Restart it now: \(order)")
            _ = try await dialogue.ask("Enter, when that is done", flag: nil, standard: "done") { $0 }
        } else {
            throw CommandFailure(
                .tryAgain,
                "the service delivers to \(name) after a restart: \(order); then run this again for the device"
            )
        }
        let status = try await BoxStep.answer(of: service, by: clock) { status in
            status.destinations.contains {
                $0.name == name && $0.state != GatewayStatus.Destination.notConfigured
            }
        }
        let state = status.destinations.first { $0.name == name }?.state
        if state == GatewayStatus.Destination.signedOut {
            try dialogue.say(
                "\(name) is signed out: nothing is delivered there until ingestd sign-in \(name) --token FILE"
            )
        }
    }

    // MARK: - Keys

    /// Those that are offered again, in the order of the questions.
    private static let keys = ["url", "main_callback_url", "auth", "user", "organization"]

    private static func keys(_ type: String) -> [String] {
        let own = DestinationForms.named(type)?.keys.map(\.name) ?? []
        // Those whose values are no text are for an editor.
        return ["url", "order", "when_full", "ca_file"] + own.filter { $0 != "batch" && $0 != "headers" }
    }

    private static func description(_ key: String, _ type: String) -> KeyDescription? {
        DestinationForms.named(type)?.keys.first { $0.name == key }
    }

    /// Without the marks of a document.
    private static func plain(_ text: String) -> String { text.filter { $0 != "`" } }

    /// The name, or the name with the first number that makes it a new one.
    static func free(_ name: String, among names: [String]) -> String {
        guard names.contains(name) else { return name }
        return (2...).lazy.map { "\(name)-\($0)" }.first { !names.contains($0) } ?? name
    }
}
