extension ConfigurationKeys {
    static let logging = KeySection(
        "logging",
        [
            KeyDescription(
                "level", "`trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`",
                default: "`info`", "The least severe messages that are logged."),
            KeyDescription(
                "subsystems", "mapping of subsystem to level", default: "none",
                "Levels that differ, by subsystem: `bluetooth`, `passive`, `profiles`, `records`, `queue`, "
                    + "`delivery`, `control`."),
        ])
}

extension ConfigurationReader {
    func readLogging(_ reader: NodeReader?) -> LogSettings {
        let entries = reader?.mapping(ConfigurationKeys.logging)
        var levels: [Subsystem: LogLevel] = [:]
        for (name, mark, value) in entries?["subsystems"]?.pairs() ?? [] {
            guard let subsystem = Subsystem(rawValue: name) else {
                let known = Subsystem.allCases.map(\.rawValue)
                let near = value.nearest(to: name, among: known).map { "did you mean \($0)?" }
                value.log.error(
                    at: mark, key: value.key,
                    "unknown subsystem; " + (near ?? "expected \(TextForm.list(known))"))
                continue
            }
            levels[subsystem] = value.choice()
        }
        return LogSettings(level: entries?["level"]?.choice() ?? .info, subsystems: levels)
    }
}
