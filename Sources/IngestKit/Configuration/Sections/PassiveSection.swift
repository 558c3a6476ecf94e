extension Configuration {
    package struct Passive: Sendable, Equatable {
        /// Silence after which a device may be read again.
        package var quietPeriod: Duration
        /// Pause between that silence and the next read.
        package var cooldown: Duration
        /// Time between the records of a streaming profile.
        package var streamInterval: Duration
        /// Longest time that a streaming profile holds its link.
        package var streamMaximum: Duration
    }
}

extension ConfigurationKeys {
    static let passive = KeySection(
        "passive",
        [
            KeyDescription(
                "quiet_period", "duration, 100ms to 10m", default: "`10s`",
                "A device that was silent for so long has ended its session; three times as long where nothing else advertises."
            ),
            KeyDescription(
                "cooldown", "duration, 0s to 10m", default: "`5s`",
                "Pause after the silence, before the device may be read again."),
            KeyDescription(
                "stream_interval", "duration, 1s to 1h", default: "`60s`",
                "Time between the records of a streaming profile."),
            KeyDescription(
                "stream_max", "duration, 10s to 24h", default: "`10m`",
                "Longest time that a streaming profile holds its link."),
        ])
}

extension ConfigurationReader {
    func readPassive(_ reader: NodeReader?) -> Configuration.Passive {
        let entries = reader?.mapping(ConfigurationKeys.passive)
        return Configuration.Passive(
            quietPeriod: entries?["quiet_period"]?.duration(.milliseconds(100)...minutes(10)) ?? .seconds(10),
            cooldown: entries?["cooldown"]?.duration(.zero...minutes(10)) ?? .seconds(5),
            streamInterval: entries?["stream_interval"]?.duration(.seconds(1)...minutes(60)) ?? .seconds(60),
            streamMaximum: entries?["stream_max"]?.duration(.seconds(10)...days(1)) ?? minutes(10))
    }
}
