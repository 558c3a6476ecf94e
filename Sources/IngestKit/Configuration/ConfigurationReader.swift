/// Turns the nodes of a configuration's files into its values. Everything that is wrong goes into the log of its file; what
/// could not be read keeps its default, so that the rest can be checked too.
struct ConfigurationReader {
    let log: DiagnosticLog
    let catalogue: Catalogue
    let readableProfiles: Set<String>
    let host: ConfigurationHost

    func read(_ root: NodeReader) -> (Configuration, [Configuration.EntryPlace]) {
        let entries = root.mapping(ConfigurationKeys.root)
        // The two lists refer to each other by names, which therefore are looked up first.
        let names = entries?["destinations"]?.texts(of: "name") ?? []
        let aliases = entries?["peripherals"]?.texts(of: "alias") ?? []
        let destinations = readDestinations(entries?["destinations"], aliases: aliases)
        let peripherals = readPeripherals(entries?["peripherals"], destinations: names)
        let configuration = Configuration(
            gateway: readGateway(entries?["gateway"]),
            bluetooth: readBluetooth(entries?["bluetooth"]),
            passive: readPassive(entries?["passive"]),
            peripherals: peripherals.map(\.value),
            queue: readQueue(entries?["queue"]),
            destinations: destinations.map(\.value),
            events: readEvents(entries?["events"]),
            hooks: readHooks(entries?["hooks"]),
            logging: readLogging(entries?["logging"]), catalogue: catalogue)
        warn(root, entries, peripherals, destinations)
        let places = peripherals.map { entry in
            Configuration.EntryPlace(path: entry.reader.log.path, line: entry.reader.line)
        }
        return (configuration, places)
    }

    /// A credential; warns when its file is not there, or can be seen and anybody may read it.
    /// - Parameter isOpened: whether the file is opened later on, which tells whether it is there.
    func credential(_ reader: NodeReader?, isOpened: Bool = false) -> CredentialName? {
        guard let reader, let name = reader.credential() else { return nil }
        // The directory of systemd is readable for the service alone, whatever the files' modes.
        if case .named(let text) = name, let service = host.service, !service.credentials.contains(text) {
            reader.warning(
                "the unit loads no credential \(text); systemctl edit ingestd, and add LoadCredential=\(text):FILE"
            )
        }
        guard case .path(let path) = name else { return name }
        if let obstacle = host.service?.obstacle(path) { reader.warning(obstacle) }
        if let mode = host.permissions(path) {
            if mode & 0o004 != 0 { reader.warning("\(path) is readable for everybody; chmod o-r it") }
        } else if !isOpened {
            reader.warning("\(path): there is no such file, or you may not see it")
        }
        return name
    }

    func minutes(_ count: Int) -> Duration { .seconds(60 * count) }

    func days(_ count: Int) -> Duration { .seconds(86_400 * count) }

    private func warn(
        _ root: NodeReader, _ entries: MappingReader?, _ peripherals: [Entry<AllowedPeripheral>],
        _ destinations: [Entry<DestinationSettings>]
    ) {
        // What is no mapping, or no list, has been told.
        guard let entries else { return }
        let list = entries["peripherals"]
        if peripherals.isEmpty, list?.isEmptyList ?? true {
            (list ?? root).log.warning(
                at: (list ?? root).mark, key: "peripherals",
                "the allow-list is empty, so nothing is read; `ingestd peripherals` lists the models to add")
        }
        let places = entries["destinations"]
        if destinations.isEmpty, places?.isEmptyList ?? true {
            (places ?? root).log.warning(
                at: (places ?? root).mark, key: "destinations",
                "there is no destination, so readings are kept and delivered to nobody")
        }
        guard !peripherals.isEmpty else { return }
        for destination in destinations
        where !peripherals.contains(where: { destination.value.accepts($0.value) }) {
            destination.reader.warning("no peripheral of the allow-list feeds \(destination.value.name)")
        }
        for destination in destinations where destination.value.getsNothing(from: peripherals.map(\.value)) {
            destination.reader.warning(
                "no peripheral that feeds \(destination.value.name) gives records of a kind that it takes")
        }
        for destination in destinations
        where !destination.value.hasOwn(peripherals.map(\.value)) {
            destination.reader.warning(
                "no peripheral that feeds \(destination.value.name) has its user as a subject; what others measure "
                    + "is set aside there")
        }
    }
}

/// A value of a list, and where it stands.
struct Entry<Value> {
    let value: Value
    let reader: NodeReader
}
