extension Configuration {
    package struct Gateway: Sendable, Equatable {
        /// Names this box in records; 1 to 64 letters, digits, dots, dashes, underscores.
        package var id: String
        /// A name of the IANA database, such as `Europe/London`; nil is the system's zone.
        package var timeZone: String?
        /// Absolute path.
        package var stateDirectory: String
        /// Whether the system clock is taken as good without proof.
        package var trustsClock: Bool
    }
}

extension ConfigurationKeys {
    static let gateway = KeySection(
        "gateway",
        [
            KeyDescription(
                "id", "name", default: "derived from the machine id",
                "Names this box in records: 1 to 64 letters, digits, dots, dashes, underscores."),
            KeyDescription(
                "time_zone", "IANA name", default: "the system's",
                "Zone of the times in records: `Europe/London`."),
            KeyDescription(
                "state_directory", "absolute path", default: "`$STATE_DIRECTORY`, else `/var/lib/ingestd`",
                "Holds the queue."),
            KeyDescription(
                "trust_clock", "boolean", default: "`false`",
                "Takes the system clock as good without proof. For boxes whose clock is known to be right."),
        ])
}

extension ConfigurationReader {
    func readGateway(_ reader: NodeReader?) -> Configuration.Gateway {
        let entries = reader?.mapping(ConfigurationKeys.gateway)
        let inherited = host.environment["STATE_DIRECTORY"]?.split(separator: ":").first.map { String($0) }
        var gateway = Configuration.Gateway(
            id: host.gatewayID ?? "", timeZone: entries?["time_zone"].flatMap(timeZone),
            stateDirectory: entries?["state_directory"]?.absolutePath("a directory") ?? inherited
                ?? "/var/lib/ingestd",
            trustsClock: entries?["trust_clock"]?.boolean() ?? false)
        if let id = entries?["id"] {
            gateway.id = id.name("a name") ?? gateway.id
        } else if host.gatewayID == nil {
            log.error(
                at: reader?.mark, key: "gateway.id",
                expected: "a name, because this machine has no /etc/machine-id to derive one from")
        }
        return gateway
    }

    private func timeZone(_ reader: NodeReader) -> String? {
        let what = "a time zone of this machine such as Europe/London"
        guard
            let name = reader.value(
                what,
                { text in
                    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
                    let isName = parts.allSatisfy {
                        TextForm.isName($0.filter { $0 != "+" }, limit: 64)
                    }
                    return isName ? text : nil
                })
        else { return nil }
        guard host.hasTimeZone(name) ?? true else {
            reader.expected(what)
            return nil
        }
        return name
    }
}
