/// Every key of the configuration.
package enum ConfigurationKeys {
    package static let all =
        [
            root, gateway, bluetooth, passive, peripheral, queue, destination, oauth, batch, status, events,
            hooks,
            logging,
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
}
