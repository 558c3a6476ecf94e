import IngestCore
import IngestDelivery
import IngestPeripherals
import IngestRecords
import Yams

// The destinations.
extension ConfigurationReader {
    typealias Destination = DestinationSettings

    func readDestinations(_ reader: NodeReader?, aliases: [String]) -> [Entry<Destination>] {
        guard let reader, let items = reader.items() else { return [] }
        var names: [String: String] = [:]
        return items.compactMap { item in
            guard let entries = item.mapping(ConfigurationKeys.destination),
                let destination = readDestination(entries, aliases: aliases)
            else { return nil }
            if let first = names.updateValue(item.key, forKey: destination.name) {
                entries["name"]?.error("\(destination.name) is already the name of \(first)")
            }
            return Entry(value: destination, reader: item)
        }
    }

    /// Nil without a name; what has a name but is wrong otherwise still counts as a destination, so
    /// that what refers to it is not an error too.
    private func readDestination(_ entries: MappingReader, aliases: [String]) -> Destination? {
        let name = entries.required("name", "a name")?.name("a name")
        let type: Destination.Kind? = entries.required(
            "type", TextForm.list(Destination.Kind.allCases.map(\.rawValue)))?
            .choice()
        var destination = Destination(name: name ?? "", type: type ?? .webhook, url: url(entries, type))
        destination.credential = credential(entries["credential"])
        destination.batch = readBatch(entries["batch"], default: destination.batch)
        destination.kinds = entries["kinds"]?.list("kind", mayBeEmpty: true) {
            $0.choice(among: Self.deliveredKinds)
        }
        destination.peripherals = entries["peripherals"]?.list("peripheral", mayBeEmpty: true) {
            selector($0, aliases: aliases)
        }
        // Not one whose items are all wrong.
        for key in ["kinds", "peripherals"] where entries[key]?.node.sequence?.isEmpty == true {
            entries[key]?.warning("is empty: nothing goes to \(name ?? "this destination")")
        }
        destination.order = entries["order"]?.choice() ?? destination.order
        readRequest(entries, into: &destination)
        readAccount(entries, into: &destination)
        if type?.hasSession == true {
            _ = entries.required("user", "the person for whom to sign in")
        }
        if type == .validic { readValidic(entries, into: &destination) }
        if type == .junction { readJunction(entries, into: &destination) }
        if type == .spike { checkCallback(entries, destination) }
        if type == .fhir, let auth = destination.auth, FHIRSettings.Authentication(rawValue: auth) == nil {
            entries["auth"]?.error(expected: "bearer or basic")
        }
        checkPairs(entries)
        if let type { warnOfKeysWithoutEffect(entries, type) }
        return name == nil ? nil : destination
    }

    /// How requests are made.
    private func readRequest(_ entries: MappingReader, into destination: inout Destination) {
        destination.format = entries["format"]?.choice() ?? destination.format
        destination.compresses = entries["gzip"]?.boolean() ?? destination.compresses
        destination.headers = headers(entries["headers"])
        destination.signingKey = signingKey(entries["signing_key"])
        destination.caFile = entries["ca_file"]?.absolutePath("a file of certificates")
        // A certificate is no secret: who may read it does not matter.
        destination.clientCertificate = entries["client_certificate"]?.credential()
        destination.clientKey = credential(entries["client_key"], isOpened: true)
        destination.proxy = entries["proxy"].flatMap { proxy($0, to: destination.url) }
        checkFiles(entries, destination)
    }

    /// What the types beside webhook ask for.
    private func readAccount(_ entries: MappingReader, into destination: inout Destination) {
        destination.region = entries["region"]?.choice() ?? destination.region
        destination.environment = entries["environment"]?.choice() ?? destination.environment
        destination.patientSystem = entries["patient_system"]?.value("an absolute URI", absoluteURI)
        destination.user = entries["user"]?.text()
        if destination.type != .junction { destination.auth = entries["auth"]?.text(limit: 64) }
        destination.organization = entries["organization"]?.text()
        destination.applicationID = entries["application_id"]?.text()
        destination.mainCallbackURL = entries["main_callback_url"].flatMap {
            checkedURL($0, schemes: ["https"], onLoopback: ["http"])
        }
        destination.topic = topic(entries["topic"], TopicTemplate.Placeholder.allCases)
        destination.statusTopic = topic(entries["status_topic"], [.gateway])
    }

    private func readJunction(_ entries: MappingReader, into destination: inout Destination) {
        destination.junctionAuth = entries["auth"]?.choice() ?? destination.junctionAuth
        switch destination.junctionAuth {
        case .apiKey:
            _ = entries.required("credential", "the API key")
            entries["auth"]?.warning(
                "an API key opens every user of the team to who has this box: for trials; sign-in-token opens one"
            )
        case .signInToken:
            entries["credential"]?.warning("has no effect with auth: sign-in-token; auth: api-key uses it")
        }
    }

    private func readValidic(_ entries: MappingReader, into destination: inout Destination) {
        destination.validicAPI = entries["api"]?.choice() ?? destination.validicAPI
        destination.userID = entries["user_id"]?.text()
        _ = entries.required("credential", "the person's access token")
        let unused: [String]
        switch destination.validicAPI {
        case .inform: unused = ["organization", "user_id"]
        case .v1:
            _ = entries.required("organization", "the id of the organization")
            unused = ["application_id"]
        }
        for key in unused {
            entries[key]?.warning("has no effect with api: \(destination.validicAPI.rawValue)")
        }
    }

    /// What destinations are sent: everything that was measured.
    private static let deliveredKinds = RecordKind.allCases.filter(\.isDelivered)

    private func readBatch(_ reader: NodeReader?, default usual: Destination.Batch) -> Destination.Batch {
        let entries = reader?.mapping(ConfigurationKeys.batch)
        return Destination.Batch(
            maximumRecords: entries?["max_records"]?.integer(1...1000, "a number") ?? usual.maximumRecords,
            maximumWait: entries?["max_wait"]?.duration(.zero...minutes(5)) ?? usual.maximumWait)
    }

    private func selector(_ reader: NodeReader, aliases: [String]) -> PeripheralSelector? {
        guard let text = reader.text("a catalogue ID or an alias", limit: 64) else { return nil }
        if let id = Int(text) {
            if catalogue[id] == nil { reader.error("no model of the catalogue has ID \(id)") }
            return .model(id)
        }
        if !aliases.contains(text) {
            let near = reader.nearest(to: text, among: aliases).map { "; did you mean \($0)?" }
            reader.error(
                "\(NodeReader.quoted(text)) is neither a catalogue ID nor an alias of the allow-list"
                    + (near ?? ""))
        }
        return .alias(text)
    }

    /// An address of the destination: encrypted, or on this machine.
    private func url(_ entries: MappingReader, _ type: Destination.Kind?) -> String? {
        guard let type else { return nil }
        let isRequired = [.webhook, .fhir, .spike, .mqtt].contains(type)
        guard let reader = isRequired ? entries.required("url", "a URL") : entries["url"] else { return nil }
        return type == .mqtt
            ? brokerURL(reader) : checkedURL(reader, schemes: ["https"], onLoopback: ["http"])
    }

    func checkedURL(_ reader: NodeReader, schemes: [String], onLoopback: [String] = []) -> String? {
        let prefixes = TextForm.list(schemes.map { $0 + "://" })
        guard let text = reader.node.scalar?.string, let url = URLText(text) else {
            // A URL may hold a secret, so it is not repeated.
            reader.error(expected: "a URL that begins with \(prefixes)")
            return nil
        }
        if url.hasUserInformation {
            reader.error(expected: "a URL without user and password; use credential")
            return nil
        }
        if onLoopback.contains(url.scheme) {
            guard url.isLoopback else {
                reader.error(
                    expected:
                        "\(prefixes): \(url.scheme):// is for this machine only (localhost, 127.0.0.1, ::1)"
                )
                return nil
            }
        } else if !schemes.contains(url.scheme) {
            reader.error(expected: "a URL that begins with \(prefixes)")
            return nil
        }
        return text
    }

    /// Spike's rule: a callback URL is one under the application's main one.
    private func checkCallback(_ entries: MappingReader, _ destination: Destination) {
        _ = entries.required("credential", "the application's secret token")
        _ = entries.required("main_callback_url", "the application's main callback URL")
        guard let main = destination.mainCallbackURL.flatMap({ URLText($0) }),
            let url = destination.url.flatMap({ URLText($0) }), !url.isUnder(main)
        else { return }
        // A URL may hold a secret, so it is not repeated.
        entries["url"]?.error(expected: "main_callback_url, or a URL under it")
    }

    /// A scheme and something after it (RFC 3986 3).
    private func absoluteURI(_ text: String) -> String? {
        let scheme = text.prefix { $0 != ":" }
        let isURI =
            scheme.first?.isLetter == true && scheme.utf8.count + 1 < text.utf8.count
            && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
            && text.utf8.count <= 1024 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return isURI ? text : nil
    }

    private func headers(_ reader: NodeReader?) -> [HTTPHeader] {
        var names: Set<String> = []
        return (reader?.pairs() ?? []).compactMap { name, mark, value in
            // Field names are tokens (RFC 9110 5.6.2); these letters are all that is in use.
            guard TextForm.isName(name, limit: 64) else {
                log.error(at: mark, key: value.key, expected: "the name of a header")
                return nil
            }
            guard names.insert(name.lowercased()).inserted else {
                log.error(at: mark, key: value.key, "this header stands here twice: case does not count")
                return nil
            }
            switch name.lowercased() {
            case "authorization", "proxy-authorization", "cookie":
                log.error(at: mark, key: value.key, expected: "no secrets here; use credential")
                return nil
            case "host", "content-length", "content-type", "content-encoding", "transfer-encoding",
                "connection", "idempotency-key", "webhook-id", "webhook-timestamp", "webhook-signature",
                "expect", "te", "trailer", "upgrade":
                log.error(at: mark, key: value.key, "this header is the gateway's own")
                return nil
            default:
                guard let text = value.text(limit: 1024) else { return nil }
                return HTTPHeader(name: name, value: text)
            }
        }
    }

    private func checkPairs(_ entries: MappingReader) {
        for (key, other) in [("client_certificate", "client_key"), ("client_key", "client_certificate")]
        where entries[other] == nil {
            entries[key]?.error(expected: "\(other) beside it")
        }
    }

    private func warnOfKeysWithoutEffect(_ entries: MappingReader, _ type: Destination.Kind) {
        for (key, types) in ConfigurationKeys.typesOfKey where !types.contains(type) {
            entries[key]?.warning("has no effect for type \(type.rawValue)")
        }
    }
}
