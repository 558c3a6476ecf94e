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

    static let destination = KeySection(
        "destinations[]",
        [
            KeyDescription(
                "name", "name", default: "required",
                "Unique; 1 to 64 letters, digits, dots, dashes, underscores."),
            KeyDescription(
                "type", "`webhook`, `fhir`, `junction`, `validic`, `spike` or `mqtt`", default: "required",
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
            KeyDescription("batch", "mapping", default: "see its keys", "Records of one request."),
            KeyDescription("kinds", "list of record kinds", default: "all", "Only records of these kinds."),
            KeyDescription(
                "peripherals", "list of catalogue IDs or aliases", default: "all",
                "Only readings of these peripherals."),
            KeyDescription(
                "order", "`fresh` or `strict`", default: "`fresh`",
                "`fresh` lets new records pass a backlog, `strict` is first in, first out."),
            KeyDescription(
                "format", "`json` or `ndjson`", default: "`json`",
                "Form of a webhook's body: one object, or one record a line."),
            KeyDescription("gzip", "boolean", default: "`false`", "Compresses request bodies."),
            KeyDescription(
                "headers", "mapping of name to value", default: "none",
                "Further headers of each request. No secrets: those are credentials."),
            KeyDescription(
                "signing_key", "credential", default: "none",
                "Signs a webhook's requests by Standard Webhooks: one to four keys in base64, as `whsec_…`."),
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
            KeyDescription(
                "proxy", "URL, `http://HOST:PORT` or `socks5://HOST:PORT`", default: "none",
                "The way out. TLS goes through it to the destination."),
            KeyDescription(
                "patient_system", "absolute URI", default: "none",
                "System of the identifiers by which a fhir server knows subjects; without it they are the ids of its "
                    + "Patient resources."),
            KeyDescription(
                "region", "`us` or `eu`", default: "`us`", "Region of junction."),
            KeyDescription(
                "environment", "`production` or `sandbox`", default: "`production`",
                "Environment of junction. validic does not use it yet."),
            KeyDescription(
                "user", "text", default: "none; required for junction and validic",
                "The person for whom the gateway signs in at junction and validic, and whose records go there: a "
                    + "`subject`, or one of `users`, and at junction the `client_user_id`; the user name of mqtt. The "
                    + "other types do not use it yet."),
            KeyDescription(
                "auth", "`bearer` or `basic` for fhir, `sign-in-token` or `api-key` for junction",
                default: "`bearer` for fhir, `sign-in-token` for junction",
                "How requests authenticate: fhir's `credential` is a token, or `USER:PASSWORD`. The other types do not "
                    + "use it."),
            KeyDescription(
                "api", "`inform` or `v1`", default: "`inform`",
                "Which API of validic: the measurements of Inform Connect, or the record forms of the first one."
            ),
            KeyDescription(
                "organization", "text", default: "none; required for validic with `api: v1`",
                "Validic's id of the organization that the person belongs to."),
            KeyDescription(
                "user_id", "text", default: "`user`",
                "Validic's id of the person, with `api: v1`: the `_id` of the answer that made the user."),
            KeyDescription(
                "application_id", "text", default: "`ingestd` for validic, `ingestd-GATEWAY-NAME` for mqtt",
                "What validic calls the gateway as a source of records; the client identifier of mqtt."),
            KeyDescription(
                "main_callback_url", "URL", default: "none; required for spike",
                "The application's main callback URL at spike; `url` is this, or one under it."),
            KeyDescription(
                "topic", "text without `+` and `#`", default: "`ingestd/{gateway}/{kind}`",
                "The topic of mqtt that a record is published under. Its placeholders are in "
                    + "docs/destinations/mqtt.md."),
            KeyDescription(
                "status_topic", "text without `+` and `#`", default: "none",
                "The topic of mqtt under which the broker keeps whether the gateway is connected; may hold "
                    + "`{gateway}`."),
        ])

    static let batch = KeySection(
        "destinations[].batch",
        [
            KeyDescription("max_records", "1 to 1000", default: "`100`", "Records of one request at most."),
            KeyDescription(
                "max_wait", "duration, 0s to 5m", default: "`2s`", "How long a record waits for others."),
        ])

    /// Keys of a destination that mean something for some types only.
    static let typesOfKey: [String: [DestinationSettings.Kind]] = [
        "format": [.webhook],
        "signing_key": [.webhook],
        "auth": [.fhir, .junction],
        "user": [.junction, .validic, .mqtt],
        "patient_system": [.fhir],
        "region": [.junction],
        "environment": [.junction, .validic],
        "api": [.validic],
        "organization": [.validic],
        "user_id": [.validic],
        "application_id": [.validic, .mqtt],
        "main_callback_url": [.spike],
        "topic": [.mqtt],
        "status_topic": [.mqtt],
        "proxy": [.webhook, .fhir, .junction, .validic, .spike],
        "headers": [.webhook, .fhir],
        "batch": [.webhook, .fhir, .junction, .mqtt],
        "gzip": [.webhook, .fhir],
    ]
}
