extension Configuration {
    package typealias Queue = QueueKeeper.Settings
}

extension ConfigurationKeys {
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
}

extension ConfigurationReader {
    func readQueue(_ reader: NodeReader?) -> Configuration.Queue {
        let entries = reader?.mapping(ConfigurationKeys.queue)
        return Configuration.Queue(
            maximumSize: entries?["max_size"]?.size(16 << 20...1 << 40) ?? 1 << 30,
            keepSubmitted: entries?["keep_submitted"]?.duration(.zero...days(3650)) ?? days(7))
    }
}
