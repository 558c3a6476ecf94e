extension ConfigurationKeys {
    static let peripheral = KeySection(
        "peripherals[]",
        [
            KeyDescription("id", "catalogue ID", default: "required", "The model (docs/peripherals.md)."),
            KeyDescription(
                "address", "Bluetooth address", default: "any device of the model",
                "Pins the entry to one device: its identity address, in quotes or without."),
            KeyDescription(
                "alias", "text, 1 to 64 characters", default: "none",
                "What you call it; unique, and not a number."),
            KeyDescription(
                "subject", "text, 1 to 128 characters", default: "`unassigned`",
                "Whose readings these are; no name begins with a vertical bar. Only beside `address`, and not beside "
                    + "`users`."),
            KeyDescription(
                "users", "mapping of slot (0 to 254) to subject", default: "none",
                "Whose readings these are, by the device's user slot. Only beside `address`."),
            KeyDescription(
                "subject_since", "date", default: "the moment the address first had the subject here",
                "Readings from before it belong to nobody."),
            KeyDescription(
                "history", "`all`, `none` or a duration", default: "`all`",
                "Which of the readings from before the gateway knew the device are taken; others stay in it."),
            KeyDescription("destinations", "list of names", default: "all", "Where its readings go."),
            KeyDescription(
                "require_bond", "boolean", default: "`false`",
                "Reads it over a link that is encrypted with the keys of a bond only."),
            KeyDescription(
                "pair", "`manual` or `auto`", default: "`manual`",
                "Who starts pairing: you, with `ingestd pair`; or the gateway, when a device that needs a bond and has none "
                    + "shows itself in pairing mode. One that sends under a private address is paired by "
                    + "`ingestd pair` alone."),
            KeyDescription(
                "passkey", "credential", default: "none",
                "The passkey for pairing, six digits. Without it `ingestd pair` asks for the device's. With `pair: auto` "
                    + "the gateway gives it once, then `ingestd pair` has to (docs/security.md says what each try "
                    + "shows to an impostor)."
            ),
            KeyDescription(
                "key", "credential", default: "none",
                "The bind key of an encrypted broadcast, 32 hexadecimal digits; what the device sends without encryption is not read then."
            ),
            KeyDescription(
                "clock", "`observe` or `set`", default: "`observe`",
                "Whether the device's clock is set, where it can be: when it is more than 60 s wrong, and on "
                    + "each link of a model that expects it. It is observed in any case."),
        ])
}

// The allow-list.
extension ConfigurationReader {
    func readPeripherals(_ reader: NodeReader?, destinations: [String]) -> [Entry<AllowedPeripheral>] {
        guard let reader, let items = reader.items() else { return [] }
        var addresses: [BluetoothAddress: NodeReader] = [:]
        var aliases: [String: NodeReader] = [:]
        var models: [Int: NodeReader] = [:]
        var unpinned: [(model: PeripheralModel, reader: NodeReader)] = []
        return items.compactMap { item in
            guard let entries = item.mapping(ConfigurationKeys.peripheral),
                let peripheral = readPeripheral(entries, destinations: destinations)
            else { return nil }
            if let address = peripheral.address {
                if let first = addresses.updateValue(item, forKey: address) {
                    entries["address"]?.error(
                        "\(address) is already the address of \(first.place(from: item))")
                }
            } else if let first = models.updateValue(item, forKey: peripheral.model.id) {
                item.warning(
                    "has no effect: \(first.place(from: item)) already allows any device of model \(peripheral.model.id)"
                )
            } else {
                if let first = unpinned.first(where: { $0.model.recognisesAll(of: peripheral.model) }) {
                    item.warning(
                        "has no effect: \(first.reader.place(from: item)) stands before it and recognises every device of model "
                            + "\(peripheral.model.id) as one of model \(first.model.id); put the special one first"
                    )
                }
                unpinned.append((peripheral.model, item))
            }
            if let alias = peripheral.alias, let first = aliases.updateValue(item, forKey: alias) {
                entries["alias"]?.error(
                    "\(NodeReader.quoted(alias)) is already the alias of \(first.place(from: item))")
            }
            return Entry(value: peripheral, reader: item)
        }
    }

    /// Nil when it is not known which model is meant; everything else that is wrong is in the log.
    private func readPeripheral(_ entries: MappingReader, destinations: [String]) -> AllowedPeripheral? {
        let model = entries.required("id", "a catalogue ID").flatMap(model)
        let address = entries["address"]?.address()
        let alias = entries["alias"]?.text("text", limit: 64)
        if let alias, Int(alias) != nil {
            entries["alias"]?.expected("a word, because numbers are catalogue IDs")
        }
        let owners = readSubjects(entries)
        let selected = entries["destinations"]?.list("destination") { item -> String? in
            destination(item, among: destinations)
        }
        let history = entries["history"].map(history)
        let requiresBond = entries["require_bond"]?.boolean()
        let pairing: AllowedPeripheral.Pairing? = entries["pair"]?.choice()
        let passkey = credential(entries["passkey"])
        let key = credential(entries["key"])
        let clock: AllowedPeripheral.ClockPolicy? = entries["clock"]?.choice()
        guard let model else { return nil }
        if entries["address"] == nil, model.recognised.isEmpty, !model.has(.notReadable) {
            entries["id"]?.warning("\(model.name) can be recognised by its address only; add address")
        }
        if model.has(.expectsClock), clock != .set {
            entries["id"]?.warning(
                "\(model.name) expects its clock to be set; add `clock: set`, or its times may be wrong")
        }
        warnOfKeysWithoutEffect(entries, model, requiresBond: requiresBond ?? false)
        return AllowedPeripheral(
            model: model, address: address, alias: alias, subject: owners.subject, users: owners.users,
            subjectSince: owners.since, history: history ?? .all, destinations: selected,
            requiresBond: requiresBond ?? false, pairing: pairing ?? .manual, passkey: passkey?.description,
            key: key?.description, clock: clock ?? .observe)
    }

    private func warnOfKeysWithoutEffect(
        _ entries: MappingReader, _ model: PeripheralModel, requiresBond: Bool
    ) {
        guard BroadcastFormats.named(model.profile) == nil else {
            for key in ["require_bond", "pair", "passkey", "clock", "history"] {
                entries[key]?.warning(
                    "has no effect: \(model.name) is read from what it broadcasts, "
                        + "without a link")
            }
            return
        }
        entries["key"]?.warning("has no effect: \(model.name) broadcasts no readings")
        if !requiresBond, model.bonding != .required, entries["pair"]?.isText("auto") == true {
            entries["pair"]?.warning(
                "has no effect: \(model.name) needs no bond; add `require_bond: true` "
                    + "to have one")
        }
    }

    private func model(_ reader: NodeReader) -> PeripheralModel? {
        guard let id = reader.integer(Catalogue.identifiers, "a catalogue ID") else { return nil }
        guard let model = catalogue[id] else {
            // It may be one of those that could not be read, which is told.
            guard !catalogue.isPartial else { return nil }
            reader.error("no model of the catalogue has ID \(id); `ingestd peripherals` lists them")
            return nil
        }
        if model.has(.notReadable) || model.has(.vendorService) {
            reader.warning("\(model.name) cannot be read: see `ingestd peripherals \(id)`")
        } else if !readableProfiles.contains(model.profile) {
            reader.warning("this version cannot read \(model.name): it knows no profile \(model.profile)")
        }
        return model
    }

    private func readSubjects(_ entries: MappingReader) -> (
        subject: String?, users: [Int: String], since: String?
    ) {
        let subject = entries["subject"].flatMap(subject)
        var users: [Int: String] = [:]
        for (name, mark, value) in entries["users"]?.pairs() ?? [] {
            // 255 is the unknown user (Blood Pressure Service 3.1.1.6).
            guard name.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let slot = Int(name),
                (0...254).contains(slot)
            else {
                value.log.error(at: mark, key: value.key, expected: "a user slot from 0 to 254")
                continue
            }
            guard users[slot] == nil else {
                value.log.error(at: mark, key: value.key, "user slot \(slot) stands here twice")
                continue
            }
            users[slot] = self.subject(value)
        }
        if let reader = entries["users"], entries["subject"] != nil {
            reader.error(expected: "subject or users, not both")
        }
        for name in ["subject", "users"] where entries["address"] == nil {
            entries[name]?.error(expected: "an address beside it: only a known device has a known user")
        }
        let since = entries["subject_since"]?.value("a date such as 2026-11-01") {
            TextForm.isDate($0) ? $0 : nil
        }
        if entries["subject"] == nil, entries["users"] == nil {
            entries["subject_since"]?.warning("has no effect without subject or users")
        }
        return (subject, users, since)
    }

    private func subject(_ reader: NodeReader) -> String? {
        guard let subject = reader.text() else { return nil }
        guard subject != Subject.unassigned else {
            reader.error(expected: "somebody: unassigned is what readings of nobody are")
            return nil
        }
        guard Subject.isName(subject) else {
            reader.error(expected: "a name that does not begin with |")
            return nil
        }
        return subject
    }

    private func destination(_ reader: NodeReader, among names: [String]) -> String? {
        guard let name = reader.text("the name of a destination", limit: 64) else { return nil }
        guard names.contains(name) else {
            let near = reader.nearest(to: name, among: names).map { "; did you mean \($0)?" }
            reader.error("there is no destination \(NodeReader.quoted(name))" + (near ?? ""))
            return nil
        }
        return name
    }

    private func history(_ reader: NodeReader) -> AllowedPeripheral.History {
        reader.value("all, none or a duration such as 90d") { text in
            switch text {
            case "all": .all
            case "none": AllowedPeripheral.History.none
            default: DurationText.read(text).map { .within($0) }
            }
        } ?? .all
    }
}

extension PeripheralModel {
    /// Whether every advert of `other` is taken as one of this model too. A model that is read from
    /// its adverts takes those alone that hold its format, and leaves the others.
    fileprivate func recognisesAll(of other: PeripheralModel) -> Bool {
        guard BroadcastFormats.named(profile) == nil || profile == other.profile else { return false }
        return !other.recognised.isEmpty
            && other.recognised.allSatisfy { marks in
                recognised.contains { !$0.isEmpty && Set($0).isSubset(of: marks) }
            }
    }
}
