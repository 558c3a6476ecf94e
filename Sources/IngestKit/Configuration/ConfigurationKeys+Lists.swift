import IngestCore
import IngestDelivery

extension ConfigurationKeys {
    static let peripheral = KeySection(
        "peripherals[]",
        [
            KeyDescription(
                "id", "catalogue ID", default: "required", "The model (docs/peripherals.md)."),
            KeyDescription(
                "address", "Bluetooth address", default: "any device of the model",
                "Pins the entry to one device: its identity address, in quotes or without."),
            KeyDescription(
                "alias", "text, 1 to 64 characters", default: "none",
                "What you call it; unique, and not a number."),
            KeyDescription(
                "subject", "text, 1 to 128 characters", default: "`unassigned`",
                "Whose readings these are. Only beside `address`, and not beside `users`."),
            KeyDescription(
                "users", "mapping of slot (0 to 254) to subject", default: "none",
                "Whose readings these are, by the device's user slot. Only beside `address`."),
            KeyDescription(
                "subject_since", "date", default: "the moment the address first had the subject here",
                "Readings from before it belong to nobody."),
            KeyDescription(
                "history", "`all`, `none` or a duration", default: "`all`",
                "Which of the readings from before the gateway knew the device are taken; others stay in it."),
            KeyDescription(
                "destinations", "list of names", default: "all", "Where its readings go."),
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
