/// Tries a destination out, step by step: its credentials, the name of its host, TCP, TLS, and a request that leaves nothing
/// there. It stops at the first step that fails. `doctor` and `setup` use it.
struct DestinationProbe: Sendable {
    /// What a destination is tried out with.
    struct Surroundings: Sendable {
        /// The gateway's id.
        let gateway: String
        let stateDirectory: String
        /// By its name in the IANA database.
        let timeZone: String
        let catalogue: Catalogue
        let credentials: Credentials
        /// Whether this process may read whatever the service may. A file that it may not read is no error otherwise.
        let mayReadAll: Bool
        /// The service's, whose rights count instead of root's; nil if it is not known.
        var user: ServiceUser?
        /// The names of the credentials that the service's unit loads, as far as that is known.
        var loaded: Set<String>

        init(
            _ configuration: Configuration, credentials: Credentials, mayReadAll: Bool,
            user: ServiceUser? = nil, loaded: Set<String> = []
        ) {
            self.loaded = loaded
            self.user = user
            gateway = configuration.gateway.id
            stateDirectory = configuration.gateway.stateDirectory
            timeZone = configuration.timeZoneName
            catalogue = configuration.catalogue
            self.credentials = credentials
            self.mayReadAll = mayReadAll
        }
    }

    /// How long each step may take.
    static let limit = Duration.seconds(10)
    /// How long before its end a certificate is warned of, in seconds.
    static let certificateNotice: Int64 = 14 * 86_400

    var surroundings: Surroundings
    var network: any DestinationNetwork = SystemNetwork()
    var clock: any GatewayClock = SystemClock()
    /// The lower nine bits of a file's mode; nil if it cannot be seen.
    var permissions: @Sendable (String) -> Int? = { FileStatus($0)?.permissions }

    /// What a look at the destination finds, in the order of the steps. Nothing is delivered.
    func findings(of settings: DestinationSettings) async -> [Finding] {
        await withParts(of: settings) { parts in await look(settings, parts).findings }
    }

    /// The same, and what came of sending a marked test record of nobody to the destination.
    func sendTest(to settings: DestinationSettings) async -> [Finding] {
        await withParts(of: settings) { parts in
            let (findings, isSound) = await look(settings, parts)
            guard isSound else { return findings }
            return findings + [await deliverTest(to: settings, parts)]
        }
    }

    /// - Returns: also whether every step could be made and none failed.
    private func look(
        _ settings: DestinationSettings, _ parts: DestinationParts
    ) async -> (findings: [Finding], isSound: Bool) {
        let (credentials, isComplete) = CredentialProbe(surroundings: surroundings, permissions: permissions)
            .findings(of: settings)
        var findings = credentials + (await reach(settings, parts, asks: isComplete))
        for place in furtherPlaces(of: settings) { findings += await reach(place, settings, parts) }
        return (findings, isComplete && !findings.contains { $0.level == .error })
    }

    /// How to look at what others may not.
    static let asRoot = "sudo ingestd doctor"

    // MARK: - The network

    private struct Place {
        /// What says it in the configuration.
        let key: String
        let host: String
        let port: Int
        /// Nil without TLS. Only its host and port count.
        let tlsURL: String?
        let isHTTP: Bool

        init?(_ endpoint: String, key: String = "url") {
            guard let url = URLText(endpoint) else { return nil }
            self.key = key
            host = url.host
            isHTTP = url.scheme.hasPrefix("http")
            let isEncrypted = url.scheme == "https" || url.scheme == "mqtts"
            switch url.scheme {
            case "https": port = url.port ?? 443
            case "mqtts": port = url.port ?? 8883
            case "mqtt": port = url.port ?? 1883
            default: port = url.port ?? 80
            }
            let bracketed = host.contains(":") ? "[\(host)]" : host
            tlsURL = isEncrypted ? "https://\(bracketed):\(port)/" : nil
        }

        /// Behind the words of a finding, where another place has the same.
        var suffix: String { key == "url" ? "" : " (\(key))" }

        func isSameServer(as other: Place) -> Bool {
            host == other.host && port == other.port && tlsURL == other.tlsURL
        }
    }

    /// Other servers than the one that gets the records.
    private func furtherPlaces(of settings: DestinationSettings) -> [Place] {
        guard let first = Place(settings.form.endpoint) else { return [] }
        return settings.form.furtherURLs.compactMap { Place($0.url, key: $0.key) }
            .filter { !$0.isSameServer(as: first) }
    }

    /// The way to a place: all but the request.
    private func reach(
        _ place: Place, _ settings: DestinationSettings, _ parts: DestinationParts
    ) async -> [Finding] {
        let found = await connection(to: place, settings)
        guard found.isMade else { return found.findings }
        return found.findings + [await handshake(place, parts, at: settings.name)].compactMap(\.self)
    }

    /// DNS and TCP.
    private func connection(
        to place: Place, _ settings: DestinationSettings
    ) async -> (findings: [Finding], isMade: Bool) {
        let name = settings.name
        let proxy = place.isHTTP ? settings.transport.proxy : nil
        let found = await resolve(
            proxy?.host ?? place.host, key: proxy == nil ? place.key : "proxy", at: name)
        guard !found.contains(where: { $0.level == .error }) else { return (found, false) }
        let connected = await connect(to: place, by: proxy, at: name)
        return (found + [connected], connected.level != .error)
    }

    /// - Parameter asks: whether the harmless request is made.
    private func reach(
        _ settings: DestinationSettings, _ parts: DestinationParts, asks: Bool
    ) async -> [Finding] {
        let name = settings.name
        guard let place = Place(settings.form.endpoint) else {
            return [.error(.dns, "url is no URL", at: name, remedy: "correct url in the configuration")]
        }
        let (findings, isConnected) = await connection(to: place, settings)
        guard isConnected else { return findings }
        // Without our side of TLS a handshake tells nothing of the server's.
        let handshake =
            asks || parts.transportSettings.clientKey == nil ? await handshake(place, parts, at: name) : nil
        // That of a broker is looked at as a web server's: its own client has the last word.
        if let handshake, handshake.level == .error, place.isHTTP || !asks { return findings + [handshake] }
        guard asks else { return findings + [handshake].compactMap(\.self) }
        let outcome =
            await bounded { [network] in await network.tryOut(settings.form, parts) }
            ?? .failed(Self.overdue)
        let asked = request(outcome, of: settings)
        if let handshake, handshake.level == .error {
            // Neither of the two: the connection fails, of which the handshake tells more.
            if case .failed(.unavailable(nil, _, _)) = outcome { return findings + [handshake] }
            return findings + [asked]
        }
        return findings + [handshake].compactMap(\.self) + [asked]
    }

    /// - Returns: nothing for an address.
    private func resolve(_ host: String, key: String, at name: String) async -> [Finding] {
        guard URLText("http://\(host.contains(":") ? "[\(host)]" : host)")?.isAddress != true else {
            return []
        }
        let remedy = "ip route; then, with the host of \(key): getent ahosts HOST"
        guard
            let result = await step({ [network] () throws(HTTPTransport.Failure) in
                try await network.resolve(host)
            })
        else {
            return [
                .error(
                    .dns, "DNS: the name servers do not answer within 10 s", at: name, remedy: remedy)
            ]
        }
        do {
            try result.get()
            return [.ok(.dns, "DNS: the host in \(key) is known", at: name)]
        } catch {
            return [.error(.dns, "DNS: the host in \(key) is not found", at: name, remedy: remedy)]
        }
    }

    private func connect(to place: Place, by proxy: ProxyAddress?, at name: String) async -> Finding {
        let isProxy = proxy != nil
        let key = isProxy ? "proxy" : place.key
        let (host, port) = (proxy?.host ?? place.host, proxy?.port ?? place.port)
        let remedy = "compare host and port of \(key) with those of the server; is a firewall between?"
        let result = await step { [network] () throws(HTTPTransport.Failure) in
            try await network.connect(to: host, port: port, isProxy: isProxy)
        }
        do {
            try (result ?? .failure(HTTPTransport.Failure(message: "no connection within 10 s"))).get()
            return .ok(
                .tcp, "TCP: \(isProxy ? "the proxy" : "the server") takes connections\(place.suffix)",
                at: name)
        } catch {
            return .error(.tcp, "TCP: \(error.message)\(place.suffix)", at: name, remedy: remedy)
        }
    }

    /// - Returns: nil without TLS.
    private func handshake(_ place: Place, _ parts: DestinationParts, at name: String) async -> Finding? {
        guard let url = place.tlsURL else { return nil }
        let result = await step { [network] () throws(HTTPTransport.Failure) in
            try await network.certificate(at: url, parts)
        }
        do {
            let dates = try (result ?? .failure(HTTPTransport.Failure(message: "no handshake within 10 s")))
                .get()
            let day = ReadingTime.text(dates.notAfter, offset: nil).prefix { $0 != "T" }
            let left = dates.notAfter - clock.wallNanoseconds / 1_000_000_000
            if left < Self.certificateNotice {
                return .warning(
                    .tls,
                    "TLS: the server's certificate ends on \(day), in \(max(0, left) / 86_400) days"
                        + place.suffix,
                    at: name, remedy: "ask the server's operator to renew it before")
            }
            return .ok(.tls, "TLS: the server's certificate is good, until \(day)\(place.suffix)", at: name)
        } catch {
            return .error(
                .tls, "TLS: \(error.message)\(place.suffix)", at: name,
                remedy: "openssl s_client -connect HOST:PORT -servername HOST < /dev/null shows what the "
                    + "server has; see ca_file in docs/configuration.md")
        }
    }

    // MARK: - The request

    private func request(_ outcome: TrialOutcome, of settings: DestinationSettings) -> Finding {
        let name = settings.name
        let type = settings.type.typeName
        switch outcome {
        case .accepted:
            return .ok(.request, "request: a question that leaves nothing there was answered", at: name)
        case .none:
            let untested =
                settings.credentials.isEmpty
                ? "" : ": the first reading shows whether it takes the credential"
            return .untested(
                .request,
                "request: a \(type) has none that leaves nothing there\(untested)", at: name)
        case .notAllowed(let status):
            return .warning(
                .request,
                "request: the server does not answer a search (HTTP \(status)); whether it takes "
                    + "records is not known", at: name,
                remedy: "take a reading, then: ingestd status")
        case .failed(let answer):
            return .error(
                .request, "request: \(answer.doctorMessage)", at: name, remedy: remedy(answer, settings))
        }
    }

    private func remedy(_ answer: DeliveryAnswer, _ settings: DestinationSettings) -> String {
        switch answer {
        case .unauthorized, .sessionEnded:
            let place = settings.credential.map { "credential \($0)" } ?? "its entry in the configuration"
            return "compare user and token with the server's (\(place)), then: ingestd reload"
        case .misplaced: return "compare url with what the server's operator gave you, then: ingestd reload"
        case .taken, .inProgress, .refused, .unfit, .tooLarge, .busy, .unavailable, .failing:
            return "ask the server's operator; then again: ingestd doctor"
        }
    }

    private func deliverTest(to settings: DestinationSettings, _ parts: DestinationParts) async -> Finding {
        let name = settings.name
        let remedy = "what was tested instead stands above; to see a record arrive: ingestd read DEVICE"
        guard settings.deliveredKinds?.contains(TestRecord.kind) ?? true else {
            return .warning(
                .testRecord,
                "test record: none was sent, because this destination takes no "
                    + TestRecord.kind.rawValue, at: name, remedy: remedy)
        }
        let test = TestRecord(gateway: surroundings.gateway, clock: clock)
        let batch = test.batch(of: surroundings.gateway)
        let answer = await bounded { [network] in
            await network.deliver(batch, to: settings.form, parts)
        }
        switch answer ?? Self.overdue {
        case .taken:
            return .ok(
                .testRecord, "test record: \(test.record.id), of nobody and marked as simulated, was taken",
                at: name)
        case .unfit:
            return .warning(
                .testRecord,
                "test record: none was sent, because type \(settings.type.typeName) takes "
                    + "nothing of nobody", at: name, remedy: remedy)
        case let answer:
            return .error(
                .testRecord, "test record: \(test.record.id) was not taken: \(answer.doctorMessage)",
                at: name,
                remedy: self.remedy(answer, settings))
        }
    }

    // MARK: - Bounds

    private static let overdue = DeliveryAnswer.unavailable(
        httpStatus: nil, error: "no answer within 10 s", retryAfter: nil)

    /// Nil if it takes longer than a step may; it is cancelled then.
    private func bounded<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value? {
        let task = Task { await body() }
        let result = await task.result(within: Self.limit, by: clock)
        if result == nil { task.cancel() }
        guard case .success(let value)? = result else { return nil }
        return value
    }

    private func step<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(HTTPTransport.Failure) -> Value
    ) async -> Result<Value, HTTPTransport.Failure>? {
        await bounded {
            do throws(HTTPTransport.Failure) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
    }

    private func withParts<Value: Sendable>(
        of settings: DestinationSettings, _ body: (DestinationParts) async -> Value
    ) async -> Value {
        var travel = settings.transport
        // For a broker the key has no effect.
        if Place(settings.form.endpoint)?.isHTTP == false { travel.proxy = nil }
        let transport = HTTPTransport(settings: travel, credentials: surroundings.credentials)
        let parts = DestinationParts(
            settings, gateway: surroundings.gateway,
            vault: JunctionVault(
                destination: settings.name, stateDirectory: surroundings.stateDirectory),
            timeZone: surroundings.timeZone, credentials: surroundings.credentials, transport: transport,
            clock: clock, catalogue: surroundings.catalogue, publisher: { MQTTPublisher($0) },
            told: { _ in }, isTrial: true)
        let value = await body(parts)
        try? await transport.shutdown()
        return value
    }
}

extension DeliveryAnswer {
    /// Why a request was not taken, in our words alone.
    fileprivate var doctorMessage: String {
        func with(_ status: Int?) -> String { status.map { " (HTTP \($0))" } ?? "" }
        return switch self {
        case .taken: "taken"
        case .inProgress(let status, _): "the same request is still worked on (HTTP \(status))"
        case .refused(_, let error, _): "the server refuses it (\(error))"
        case .unfit(let reason): "the record \(reason.text)"
        case .tooLarge(let status): "the server takes nothing that large" + with(status)
        case .unauthorized(let status, nil): "the server does not accept the credential" + with(status)
        case .unauthorized(let status, let error?): "the server \(error)" + with(status)
        case .sessionEnded(let status): "the session is over (HTTP \(status))"
        case .misplaced(nil, let error): error
        case .misplaced(_?, let error): "the server \(error)"
        case .busy(_, let error, _): "the server is busy (\(error))"
        case .unavailable(_, let error, _): error
        case .failing(let error): "the server \(error)"
        }
    }
}
