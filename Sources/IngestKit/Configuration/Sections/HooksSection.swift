extension ConfigurationKeys {
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
}

extension ConfigurationReader {
    func readHooks(_ reader: NodeReader?) -> HookSettings {
        let entries = reader?.mapping(ConfigurationKeys.hooks)
        return HookSettings(readyToRead: program(entries?["ready-to-read"]), read: program(entries?["read"]))
    }

    /// A program that cannot be run harms nothing, so what is wrong with it is a warning.
    private func program(_ reader: NodeReader?) -> String? {
        guard let reader, let path = reader.absolutePath("a program") else { return nil }
        guard let file = host.program(path) else {
            reader.warning("there is no \(path), so nothing is run")
            return path
        }
        if !file.isRegular {
            reader.warning("\(path) is no file, so nothing is run")
        } else if !file.isExecutable {
            reader.warning("\(path) is not executable, so nothing is run; chmod +x it")
        }
        if file.permissions & 0o002 != 0 {
            reader.warning("\(path) can be changed by everybody, and the service runs it; chmod o-w it")
        }
        return path
    }
}
