extension Configuration {
    package struct Events: Sendable, Equatable {
        /// Whether `read` and `submitted` hold the measurements.
        package var includesValues: Bool
    }
}

extension ConfigurationKeys {
    static let events = KeySection(
        "events",
        [
            KeyDescription(
                "values", "boolean", default: "`false`",
                "Adds the measurements to the events `read` and `submitted`: the journal holds health data then."
            )
        ])
}

extension ConfigurationReader {
    func readEvents(_ reader: NodeReader?) -> Configuration.Events {
        let entries = reader?.mapping(ConfigurationKeys.events)
        return Configuration.Events(includesValues: entries?["values"]?.boolean() ?? false)
    }
}
