extension Configuration {
    package struct Events: Sendable, Equatable {
        /// Whether events may hold measured values.
        package var includesValues: Bool
    }
}

extension ConfigurationKeys {
    static let events = KeySection(
        "events",
        [
            KeyDescription(
                "values", "boolean", default: "`false`",
                "Lets events hold measured values and names of persons.", hasEffect: false)
        ])
}

extension ConfigurationReader {
    func readEvents(_ reader: NodeReader?) -> Configuration.Events {
        let entries = reader?.mapping(ConfigurationKeys.events)
        return Configuration.Events(includesValues: entries?["values"]?.boolean() ?? false)
    }
}
