package import IngestCore

/// Every key of the configuration, in the order of the reference.
package enum ConfigurationKeys {
    package static let all =
        [
            root, gateway, bluetooth, passive, peripheral, queue, destination, batch, events, hooks, logging,
        ] + destinationTypes

    static let root = KeySection(
        "",
        [
            KeyDescription("gateway", "mapping", default: "see its keys", "The box itself."),
            KeyDescription("bluetooth", "mapping", default: "see its keys", "The adapter and its scan."),
            KeyDescription("passive", "mapping", default: "see its keys", "When a device is read again."),
            KeyDescription(
                "peripherals", "list", default: "empty: nothing is read",
                "The allow-list. Devices that match no entry are never connected to."),
            KeyDescription("queue", "mapping", default: "see its keys", "The store of records."),
            KeyDescription(
                "destinations", "list", default: "empty: readings are kept", "Where readings are delivered."),
            KeyDescription("events", "mapping", default: "see its keys", "What events may say."),
            KeyDescription("hooks", "mapping", default: "none", "Programs run at events."),
            KeyDescription("logging", "mapping", default: "see its keys", "The program's log."),
        ])

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

    static let bluetooth = KeySection(
        "bluetooth",
        [
            KeyDescription(
                "adapter", "`any`, `hci0`, or an address", default: "`any`",
                "The adapter to use; `any` uses all."),
            KeyDescription(
                "scan_interval", "duration, 2.5ms to 10.24s", default: "the kernel's (60ms)",
                "Time from the start of one scan window to the next. Rounded down to a multiple of 0.625 ms."),
            KeyDescription(
                "scan_window", "duration, 2.5ms to `scan_interval`", default: "the kernel's (30ms)",
                "How long the radio listens in each interval. Rounded down to a multiple of 0.625 ms."),
        ])

    static let passive = KeySection(
        "passive",
        [
            KeyDescription(
                "quiet_period", "duration, 100ms to 10m", default: "`10s`",
                "A device that was silent for so long has ended its session."),
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

    static let queue = KeySection(
        "queue",
        [
            KeyDescription(
                "max_size", "size, 16MiB to 1TiB", default: "`1GiB`",
                "Largest size of the queue on disk. Delivered records go when it is reached; then nothing is read. "
                    + "Images of entries that are not delivered take a quarter at most; devices without `address` in the "
                    + "allow-list share a tenth, and one of them takes an eighth of that at most."
            ),
            KeyDescription(
                "keep_submitted", "duration, 0s to 3650d", default: "`7d`",
                "How long records are kept once every destination has them."),
        ])

    static let events = KeySection(
        "events",
        [
            KeyDescription(
                "values", "boolean", default: "`false`",
                "Lets events hold measured values and names of persons.", hasEffect: false)
        ])

    static let hooks = KeySection(
        "hooks",
        [
            KeyDescription(
                "ready-to-read", "absolute path", default: "none",
                "Run when a device can be used, with the peripheral ID as its argument, for 5 s at most."),
            KeyDescription(
                "read", "absolute path", default: "none",
                "Run when a reading is in, with the peripheral ID as its argument, for 5 s at most."),
        ])

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
