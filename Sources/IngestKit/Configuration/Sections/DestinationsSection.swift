import Yams

extension ConfigurationKeys {
    /// The keys of every destination.
    static let destination = KeySection(
        "destinations[]",
        [
            KeyDescription(
                "name", "name", default: "required",
                "Unique; 1 to 64 letters, digits, dots, dashes, underscores."),
            KeyDescription(
                "type", TextForm.list(DestinationForms.all.map { "`\($0.typeName)`" }), default: "required",
                "What it is."),
            KeyDescription(
                "url", "URL",
                default:
                    "required for webhook, fhir, spike, mqtt; `https://api.v2.validic.com` for validic, "
                    + "`https://api.validic.com` with `api: v1`; by region and environment for junction",
                "`https://`, or `mqtts://` for mqtt; `http://` and `mqtt://` for loopback hosts alone."),
            KeyDescription(
                "credential", "credential", default: "none",
                "The token that requests carry; for mqtt the password, or a token."),
            KeyDescription("kinds", "list of record kinds", default: "all", "Only records of these kinds."),
            KeyDescription(
                "peripherals", "list of catalogue IDs or aliases", default: "all",
                "Only readings of these peripherals."),
            KeyDescription(
                "order", "`fresh` or `strict`", default: "`fresh`",
                "`fresh` lets new records pass a backlog, `strict` is first in, first out."),
            KeyDescription(
                "when_full", "`stop` or `drop-oldest`", default: "`stop`",
                "When records that wait for this destination fill the queue: `stop` reading until some are taken, or "
                    + "drop the oldest that no destination with `stop` needs."),
            KeyDescription(
                "ca_file", "absolute path", default: "the system's",
                "Authorities to trust instead of the system's, in PEM."),
            KeyDescription(
                "client_certificate", "credential", default: "none",
                "What the gateway shows a server that asks for a certificate, with its chain, in PEM; with "
                    + "`client_key`."),
            KeyDescription(
                "client_key", "credential", default: "none",
                "Its key, in PEM without a passphrase; with `client_certificate`."),
        ])

    /// What each type has beside them.
    static let destinationTypes = DestinationForms.all.map { form in
        KeySection("destinations[] of type \(form.typeName)", form.keys)
    }

    /// All that may stand in a destination, each name once.
    static let anyDestination: KeySection = {
        var names: Set<String> = []
        let keys = (destination.keys + destinationTypes.flatMap(\.keys)).filter {
            names.insert($0.name).inserted
        }
        return KeySection(destination.path, keys)
    }()

    static let batch = KeySection(
        "destinations[].batch",
        [
            KeyDescription("max_records", "1 to 1000", default: "`100`", "Records of one request at most."),
            KeyDescription(
                "max_wait", "duration, 0s to 5m", default: "`2s`", "How long a record waits for others."),
        ])
}

extension ConfigurationKeys {
    static let status = KeySection(
        "destinations[].status",
        [
            KeyDescription(
                "url", "URL", default: "required",
                "Where documents are sent by POST; `http://` for loopback hosts alone."),
            KeyDescription(
                "every", "duration, 1m to 1d", default: "`15m`",
                "How often at least. A receiver that has had none for three times as long may take the box for dead."
            ),
        ])
    static let oauth = KeySection(
        "destinations[].oauth",
        [
            KeyDescription(
                "token_url", "URL", default: "required",
                "The authorization server's token endpoint; `http://` for loopback hosts alone."),
            KeyDescription(
                "client_id", "text", default: "required", "What the authorization server calls the gateway."),
            KeyDescription(
                "scope", "text", default: "none", "What tokens are to allow, in the server's words."),
            KeyDescription(
                "secret", "credential", default: "none", "The client's secret; this or `private_key`."),
            KeyDescription(
                "private_key", "credential", default: "none",
                "The key that signs the client's assertions, in PEM: EC on the curve P-384 (ES384), or RSA (RS384)."
            ),
        ])
}

// The destinations.
extension ConfigurationReader {
    typealias Destination = DestinationSettings

    func readDestinations(_ reader: NodeReader?, aliases: [String]) -> [Entry<Destination>] {
        guard let reader, let items = reader.items() else { return [] }
        var names: [String: NodeReader] = [:]
        return items.compactMap { item in
            guard let entries = item.mapping(ConfigurationKeys.anyDestination)
            else { return nil }
            let name = entries.required("name", "a name")?.name("a name")
            if let name, let first = names.updateValue(item, forKey: name) {
                entries["name"]?.error("\(name) is already the name of \(first.place(from: item))")
            }
            return readDestination(entries, name: name, aliases: aliases).map {
                Entry(value: $0, reader: item)
            }
        }
    }

    /// Nil where it cannot be made of what is there.
    private func readDestination(_ entries: MappingReader, name: String?, aliases: [String]) -> Destination? {
        let types = DestinationForms.all.map { $0.typeName }
        let type = entries.required("type", TextForm.list(types))?.choice(among: types)
            .flatMap(DestinationForms.named)
        let credential = credential(entries["credential"])
        let oauth = readOAuth(entries)
        let batch = entries["batch"].map(readBatch)
        let kinds = entries["kinds"]?.list("kind", mayBeEmpty: true) {
            $0.choice(among: Self.deliveredKinds)
        }
        let peripherals = entries["peripherals"]?.list("peripheral", mayBeEmpty: true) {
            selector($0, aliases: aliases)
        }
        // Not one whose items are all wrong.
        for key in ["kinds", "peripherals"] where entries[key]?.node.sequence?.isEmpty == true {
            entries[key]?.warning("is empty: nothing goes to \(name ?? "this destination")")
        }
        let order: DeliveryOrder? = entries["order"]?.choice()
        let whenFull: WhenFull? = entries["when_full"]?.choice()
        let form = type.flatMap { $0.read(DestinationReader(entries: entries, reader: self)) }
        let transport = readTransport(entries, to: form?.urls ?? [])
        readUnusedKeys(entries, type)
        guard let name, let form else { return nil }
        var destination = Destination(name: name, form: form)
        destination.credential = credential
        destination.oauth = destination.type.keys.contains { $0.name == "oauth" } ? oauth : nil
        destination.transport = transport
        destination.batch = batch ?? destination.batch
        destination.kinds = kinds
        destination.peripherals = peripherals
        destination.order = order ?? destination.order
        destination.whenFull = whenFull ?? destination.whenFull
        return destination
    }

    /// The kinds of records that destinations get: every measured kind.
    private static let deliveredKinds = RecordKind.allCases.filter(\.isDelivered)

    private func readBatch(_ reader: NodeReader) -> Destination.Batch {
        let entries = reader.mapping(ConfigurationKeys.batch)
        return Destination.Batch(
            maximumRecords: entries?["max_records"]?.integer(1...1000, "a number") ?? 100,
            maximumWait: entries?["max_wait"]?.duration(.zero...minutes(5)) ?? .seconds(2))
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

    /// The keys of other types have no effect. Their values are read all the same, by the first type that has the key: a
    /// wrong one is an error.
    private func readUnusedKeys(_ entries: MappingReader, _ type: (any DestinationForm.Type)?) {
        var seen = Set(type?.keys.map(\.name) ?? [])
        // More was never asked of these three, and files that have them still load.
        if !seen.contains("auth") { _ = entries["auth"]?.text(limit: 64) }
        let unread: Set = ["api", "auth", "user_id"]
        for other in DestinationForms.all {
            let unused = Set(other.keys.map(\.name)).subtracting(seen)
            seen.formUnion(unused)
            _ = other.read(UnusedEntries(all: entries, keys: unused.subtracting(unread), reader: self))
            guard let type else { continue }
            for key in unused { entries[key]?.warning("has no effect for type \(type.typeName)") }
        }
    }
}

/// A destination's entries, for its type.
private struct DestinationReader: DestinationEntries {
    let entries: MappingReader
    let reader: ConfigurationReader

    subscript(key: String) -> NodeReader? { entries[key] }

    func required(_ key: String, _ what: String) -> NodeReader? { entries.required(key, what) }
    func signingKey(_ key: String) -> CredentialName? { reader.signingKey(entries[key]) }
}

/// Those entries of a destination that its type does not have, for a type that has them. None is required.
private struct UnusedEntries: DestinationEntries {
    let all: MappingReader
    let keys: Set<String>
    let reader: ConfigurationReader

    subscript(key: String) -> NodeReader? {
        guard keys.contains(key), var value = all[key] else { return nil }
        value.isUnused = true
        return value
    }

    func required(_ key: String, _ what: String) -> NodeReader? { self[key] }

    func signingKey(_ key: String) -> CredentialName? {
        keys.contains(key) ? reader.signingKey(all[key]) : nil
    }
}
