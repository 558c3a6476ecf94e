import FoundationEssentials
import Glibc

/// Looks at this machine and the configuration, for the doctor.
struct Examination: Sendable {
    let path: String
    let environment: [String: String]
    let socket: String?
    let isRoot: Bool
    let unit: ServiceUnit.Answer
    let user: ServiceUser?
    let check: ConfigurationCheck
    let credentials: Credentials
    /// What the running service says of itself; nil if none answers, or not this user.
    let status: GatewayStatus?

    /// - Parameter socket: where the service listens; nil if that is not known.
    init(path: String, socket: String?, environment: [String: String]) async {
        self.path = path
        self.environment = environment
        self.socket = socket
        isRoot = geteuid() == 0
        unit = await ServiceUnit.ask()
        let service = ServiceView(unit: unit, isRoot: geteuid() == 0, environment: environment)
        user = service.user
        credentials = service.credentials
        check = ConfigurationCheck(
            path: path, readableProfiles: Profiles.names, host: service.host(fileSeverity: .warning))
        status = await Self.status(at: socket)
    }

    private static func status(at socket: String?) async -> GatewayStatus? {
        guard let socket else { return nil }
        let client = ControlClient(path: socket)
        let task = Task { try? await client.status() }
        let result = await task.result(within: DestinationProbe.limit, by: SystemClock())
        task.cancel()
        await client.close()
        guard case .success(let status)? = result else { return nil }
        return status
    }

    /// All findings; every destination at the same time.
    func findings() async -> [Finding] {
        async let destinations = destinationFindings()
        async let bluetooth = BluetoothProbe.Facts.ofMachine(service: status?.adapters)
        let box = BoxProbe(facts: await boxFacts()).findings
        return await box + BluetoothProbe(facts: bluetooth).findings + [configuration] + destinations
    }

    /// What came of sending a test record to a destination of this name; nil if there is none.
    func sendTest(to name: String) async -> [Finding]? {
        guard let configuration = check.configuration,
            let destination = configuration.destinations.first(where: { $0.name == name })
        else { return nil }
        return await probe(configuration).sendTest(to: destination)
    }

    // MARK: - The parts

    private func probe(_ configuration: Configuration) -> DestinationProbe {
        DestinationProbe(
            surroundings: DestinationProbe.Surroundings(
                configuration, credentials: credentials, mayReadAll: isRoot, user: user, loaded: loaded))
    }

    private var loaded: Set<String> {
        if case .known(let unit) = unit { Set(unit.credentials.keys) } else { [] }
    }

    private func destinationFindings() async -> [Finding] {
        guard let configuration = check.configuration else { return [] }
        let probe = probe(configuration)
        return await withTaskGroup(of: (Int, [Finding]).self) { group in
            for (index, destination) in configuration.destinations.enumerated() {
                group.addTask { (index, await probe.findings(of: destination)) }
            }
            var found: [Int: [Finding]] = [:]
            for await (index, findings) in group { found[index] = findings }
            return configuration.destinations.indices.flatMap { found[$0] ?? [] }
        }
    }

    private var configuration: Finding {
        let remedy = "ingestd check\(path == Configuration.defaultPath ? "" : " --config \(path)")"
        guard check.configuration != nil else {
            let isHidden = !isRoot && !FileManager.default.isReadableFile(atPath: path)
            return isHidden
                ? .warning(
                    .configuration, "check: \(path) is not for you to read, or missing: not looked at",
                    remedy: DestinationProbe.asRoot)
                : .error(.configuration, "check: \(check.summary)", remedy: remedy)
        }
        return check.diagnostics.isEmpty
            ? .ok(.configuration, "check: \(check.summary)")
            : .warning(.configuration, "check: \(check.summary)", remedy: remedy)
    }

    private func boxFacts() async -> BoxProbe.Facts {
        let directory = check.configuration?.gateway.stateDirectory
        let clock = SystemClock()
        return BoxProbe.Facts(
            unit: unit, kernelDefect: KernelDefect.ofRunningKernel(),
            clock: ClockEvidence(
                wall: clock.wallNanoseconds / 1_000_000_000,
                isConfigured: check.configuration?.gateway.trustsClock ?? false,
                isSynchronized: await SystemBus.isTimeSynchronized(),
                // The service remembers what it found before.
                isUnchanged: status?.isClockRight ?? false,
                realTimeClocks: RealTimeClocks.times(), released: Version.released),
            freeBytes: directory.flatMap { try? DirectorySpace(directory: $0).freeBytes() },
            configuration: check.configuration, files: files, user: user, isRoot: isRoot)
    }

    /// The configuration's files and directories.
    private var files: [String] {
        let pieces = ConfigurationPieces.directory(beside: path)
        let models = Catalogue.additions(besideConfiguration: path)
        return [path]
            + [pieces, models].flatMap { directory in
                let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
                return [directory]
                    + names.filter { $0.hasSuffix(".yaml") && !$0.hasPrefix(".") }.sorted().prefix(1_000)
                    .map { "\(directory)/\($0)" }
            }
    }
}
