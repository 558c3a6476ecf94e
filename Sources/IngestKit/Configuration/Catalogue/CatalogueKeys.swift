/// Every key of a catalogue file.
package enum CatalogueKeys {
    package static let all = [root, model, recognised, instructions]

    static let root = KeySection("", [KeyDescription("models", "list", default: "required", "The models.")])

    static let model = KeySection(
        "models[]",
        [
            KeyDescription(
                "id", "1 to 999999", default: "required",
                "Stable for ever; 10000 and up are free for your own models."),
            KeyDescription("name", "text", default: "required", "What people call it."),
            KeyDescription("type", "kebab-case word", default: "required", "What it is: `thermometer`."),
            KeyDescription("manufacturer", "text", default: "none", "Who makes it."),
            KeyDescription("model", "text", default: "none", "The maker's own name of the model."),
            KeyDescription("profile", "profile", default: "required", "How it is read."),
            KeyDescription(
                "recognised", "list of marks", default: "by address only",
                "Adverts of this model: any item suffices, and an item needs all its marks."),
            KeyDescription(
                "bonding", "`none` or `required`", default: "`none`",
                "Whether it gives readings to a bonded central only."),
            KeyDescription(
                "bonding_method", "`just-works`, `passkey-on-device` or `passkey-on-label`", default: "none",
                "How it is bonded: nothing to type, a code that it shows, or a code printed on it."),
            KeyDescription(
                "instructions", "mapping", default: "required", "Texts for installers and patients."),
            KeyDescription(
                "ready_before_measurement", "boolean", default: "`false`",
                "Whether it advertises before the measurement is taken."),
            KeyDescription(
                "rearm", "duration, 1s to 7d", default: "none",
                "For a model that never stops advertising: it is read again after this time."),
            KeyDescription(
                "quirks", "list of quirks", default: "none", "What is special about it (see Quirks)."),
            KeyDescription(
                "junction_provider",
                "`omron_ble`, `beurer_ble`, `accuchek_ble`, `contour_ble`, `onetouch_ble`, `freestyle_libre_ble` or `manual`",
                default: "`manual`", "What Junction calls the source of its readings."),
        ])

    static let recognised = KeySection(
        "models[].recognised[]",
        [
            KeyDescription(
                "service", "UUID of 4 or 32 hex digits", default: "none",
                "A service that it lists, or whose service data it sends."),
            KeyDescription("company", "4 hex digits", default: "none", "Company of its manufacturer data."),
            KeyDescription("name", "text", default: "none", "How its local name begins."),
            KeyDescription(
                "name_contains", "text", default: "none",
                "What its local name has in it, in capitals or not; needs another mark beside it."),
        ])

    static let instructions = KeySection(
        "models[].instructions",
        [
            KeyDescription("pairing", "text", default: "required", "How it is paired."),
            KeyDescription("before", "text", default: "required", "What to do before a measurement."),
            KeyDescription("during", "text", default: "required", "What to do during a measurement."),
        ])
}
