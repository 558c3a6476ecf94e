/// Judges the box: the unit, the kernel, the clock, the disk and the files, by what was found of them.
struct BoxProbe: Sendable {
    /// What was found.
    struct Facts: Sendable {
        var unit: ServiceUnit.Answer
        var kernelDefect: KernelDefect?
        var clock: ClockEvidence
        /// Free bytes of the state directory's disk; nil if that cannot be told.
        var freeBytes: UInt64?
        /// Nil if the configuration cannot be read.
        var configuration: Configuration?
        /// The configuration's main file, then further files and the directories beside it; some may be missing.
        var files: [String]
        /// Nil if there is no such user, or none is known.
        var user: ServiceUser?
        var isRoot: Bool
    }

    /// What the system and the queue's own bookkeeping need beside the records, in bytes.
    private static let spareBytes: UInt64 = 64 << 20

    let facts: Facts

    var findings: [Finding] {
        [unit, kernel, clock] + [space].compactMap(\.self) + files + loadedCredentials
    }

    // MARK: - The unit

    private var unit: Finding {
        let journal = "journalctl -u ingestd -n 20 --no-pager"
        switch facts.unit {
        case .noSystemd:
            return .warning(
                .unit, "unit: no systemd runs here, so nothing starts the service",
                remedy: "start it by hand: ingestd run")
        case .noAnswer:
            return .warning(
                .unit, "unit: systemd does not answer over the system bus: not looked at",
                remedy: facts.isRoot ? "systemctl status dbus" : DestinationProbe.asRoot)
        case .known(let unit):
            switch (unit.loadState, unit.activeState) {
            case ("not-found", _):
                return .error(
                    .unit, "unit: ingestd.service is not installed", remedy: "install the package ingestd")
            case ("masked", _):
                return .error(
                    .unit, "unit: ingestd.service is masked",
                    remedy: "sudo systemctl unmask ingestd; sudo systemctl enable --now ingestd")
            case (let state, _) where state != "loaded":
                return .error(
                    .unit, "unit: ingestd.service cannot be loaded (\(state))",
                    remedy: "systemd-analyze verify ingestd.service")
            case (_, "failed"):
                return .error(
                    .unit, "unit: ingestd.service has failed (\(unit.result), status \(unit.exitStatus))",
                    remedy: "\(journal); then: sudo systemctl restart ingestd")
            case (_, "active"):
                let restarts = unit.restarts == 0 ? "" : ", \(unit.restarts.counted("restart"))"
                guard unit.fileState == "enabled" else {
                    return .warning(
                        .unit,
                        "unit: ingestd.service runs, but does not start with the box"
                            + restarts, remedy: "sudo systemctl enable ingestd")
                }
                return .ok(.unit, "unit: ingestd.service is enabled and active\(restarts)")
            case (_, "activating"), (_, "reloading"), (_, "deactivating"):
                return .warning(
                    .unit,
                    "unit: ingestd.service is \(unit.activeState), after \(unit.restarts.counted("restart")) "
                        + "(\(unit.result), status \(unit.exitStatus))", remedy: journal)
            default:
                return .error(
                    .unit, "unit: ingestd.service does not run", remedy: "sudo systemctl enable --now ingestd"
                )
            }
        }
    }

    // MARK: - Kernel, clock, disk

    private var kernel: Finding {
        guard let defect = facts.kernelDefect else {
            return .ok(.kernel, "kernel: no defect is known of it")
        }
        return .warning(
            .kernel, "kernel: Linux \(defect.version) crashes when some links break, and leaks memory",
            remedy: "sudo apt install linux-image-6.12-amd64 (or -arm64); sudo reboot")
    }

    private var clock: Finding {
        switch facts.clock.trust {
        case .configured: return .ok(.clock, "clock: trusted, because trust_clock says so")
        case .synchronized: return .ok(.clock, "clock: synchronised over the network")
        case .unchanged: return .ok(.clock, "clock: the service takes it as right")
        case .realTimeClock:
            return .ok(.clock, "clock: not synchronised, but kept by a real-time clock")
        case nil:
            return .warning(
                .clock, "clock: not synchronised; readings wait until it is",
                remedy: "timedatectl; sudo timedatectl set-ntp true")
        }
    }

    private var space: Finding? {
        guard let configuration = facts.configuration else { return nil }
        let directory = configuration.gateway.stateDirectory
        guard let free = facts.freeBytes else {
            return .warning(
                .space, "space: \(directory) is not there yet, or cannot be seen",
                remedy: facts.isRoot ? "sudo systemctl start ingestd makes it" : DestinationProbe.asRoot)
        }
        let needed = UInt64(clamping: configuration.queue.maximumSize) + Self.spareBytes
        let mebibytes = free >> 20
        guard free < needed else { return .ok(.space, "space: \(mebibytes) MiB are free in \(directory)") }
        return .warning(
            .space,
            "space: \(mebibytes) MiB are free in \(directory); the queue may take "
                + "\(configuration.queue.maximumSize >> 20) MiB",
            remedy: "df -h \(directory); free space there, or make queue.max_size smaller")
    }

    // MARK: - Files

    private var files: [Finding] {
        guard let user = facts.user, let main = facts.files.first else { return [] }
        // That there is no configuration is told elsewhere.
        if user.rights(main) == nil {
            return facts.isRoot
                ? []
                : [
                    .warning(
                        .files, "files: \(main) is missing, or not for you to see: not looked at",
                        remedy: DestinationProbe.asRoot)
                ]
        }
        var findings: [Finding] = []
        for path in facts.files {
            guard user.rights(path) != nil else { continue }
            let isDirectory = user.rights(path)?.isDirectory ?? false
            let isFine =
                user.may(.read, path) == true && (!isDirectory || user.may(.enter, path) == true)
            if isFine { continue }
            findings.append(
                .error(
                    .files, "files: \(user.name) may not read \(path)",
                    remedy: Self.remedy(path, isDirectory, user)))
        }
        if let directory = facts.configuration?.gateway.stateDirectory, let rights = user.rights(directory) {
            let missing = [ServiceUser.Right.read, .write, .enter].contains {
                user.may($0, directory) != true
            }
            if missing {
                findings.append(
                    .error(
                        .files, "files: \(user.name) may not write in \(directory)",
                        remedy: user.obstacle(above: directory).map { "sudo chmod o+x \($0)" }
                            ?? "sudo chown -R \(user.name): \(directory) && sudo chmod u+rwx \(directory)"))
            } else if rights.permissions & 0o077 != 0 {
                findings.append(
                    .warning(
                        .files, "files: others than \(user.name) may look into \(directory)",
                        remedy: "sudo chmod 700 \(directory)"))
            }
        }
        if findings.isEmpty {
            findings = [.ok(.files, "files: \(user.name) may read the configuration and write its state")]
        }
        return findings
    }

    private static func remedy(_ path: String, _ isDirectory: Bool, _ user: ServiceUser) -> String {
        let group = user.name
        if let directory = user.obstacle(above: path) {
            return "sudo chgrp \(group) \(directory) && sudo chmod g+rx \(directory)"
        }
        return "sudo chgrp \(group) \(path) && sudo chmod g+r\(isDirectory ? "x" : "") \(path)"
    }

    // MARK: - Credentials of the unit

    private var loadedCredentials: [Finding] {
        guard let configuration = facts.configuration, case .known(let unit) = facts.unit,
            unit.loadState == "loaded"
        else { return [] }
        var findings: [Finding] = []
        for name in configuration.namedCredentials {
            guard let source = unit.credentials[name] else {
                findings.append(
                    .error(
                        .loadCredential,
                        "credential \(name): the configuration names it, the unit does not load it",
                        remedy: "sudo systemctl edit ingestd, write [Service] and "
                            + "LoadCredential=\(name):FILE, then: sudo systemctl restart ingestd"))
                continue
            }
            guard facts.isRoot else { continue }
            guard let path = CredentialSources.path(of: source, exists: { FileStatus($0) != nil }) else {
                findings.append(
                    .error(
                        .loadCredential,
                        "credential \(name): the file that the unit loads is missing "
                            + "(\(source.path))",
                        remedy: "sudo install -m 600 FILE "
                            + (source.path.hasPrefix("/") ? source.path : "/etc/credstore/\(source.path)")
                            + " && sudo systemctl restart ingestd"))
                continue
            }
            findings.append(.ok(.loadCredential, "credential \(name): the unit loads \(path)"))
        }
        return findings
    }
}

/// Where systemd takes the credentials of a unit from.
enum CredentialSources {
    /// Of the system's manager (systemd.exec(5), LoadCredential=), in the order in which it looks.
    private static let plain = [
        "/etc/credstore", "/run/credstore", "/usr/local/lib/credstore", "/usr/lib/credstore",
    ]
    private static let encrypted = plain.map { $0 + ".encrypted" }

    /// The file of a credential; nil if there is none.
    static func path(of source: ServiceUnit.Source, exists: (String) -> Bool) -> String? {
        if source.path.hasPrefix("/") { return exists(source.path) ? source.path : nil }
        return (source.isEncrypted ? encrypted + plain : plain).map { "\($0)/\(source.path)" }
            .first(where: exists)
    }

    /// How this process finds the service's credentials: in the directory that systemd has made for the service while it
    /// runs, else where systemd would take them from.
    static func credentials(of unit: ServiceUnit.Answer, environment: [String: String]) -> Credentials {
        guard environment["CREDENTIALS_DIRECTORY"]?.isEmpty ?? true, case .known(let unit) = unit else {
            return Credentials(environment: environment)
        }
        let directory = "/run/credentials/\(ServiceUnit.name)"
        var paths: [String: String] = [:]
        for (name, source) in unit.credentials {
            let loaded = "\(directory)/\(name)"
            // What is encrypted only the manager can read.
            paths[name] =
                FileStatus(loaded) != nil
                ? loaded : source.isEncrypted ? nil : path(of: source, exists: { FileStatus($0) != nil })
        }
        return Credentials(paths: paths)
    }
}

extension Configuration {
    /// The names of the credentials that systemd is to hand to the service, each once, in the order of the file.
    var namedCredentials: [String] {
        var seen: Set<String> = []
        return allCredentials.compactMap { name in
            guard case .named(let text) = name, seen.insert(text).inserted else { return nil }
            return text
        }
    }

    /// What the destinations and the entries of the allow-list name.
    var allCredentials: [CredentialName] {
        let ofDevices = peripherals.flatMap { [$0.passkey, $0.key].compactMap(\.self) }
            .compactMap { CredentialName($0) }
        return ofDevices
            + destinations.flatMap { destination in
                destination.credentials
                    + [destination.transport.clientCertificate, destination.transport.clientKey]
                    .compactMap(\.self)
            }
    }
}
