import FoundationEssentials

/// A file of conf.d with the entry of one device, as `ingestd add` writes it.
struct DevicePiece {
    private static let firstLine = "# Written by ingestd add; ingestd remove deletes it."

    let path: String
    private let configuration: String

    /// - Parameter name: of the device; the file's is made of its letters and digits.
    init(besideConfiguration configuration: String, named name: String) {
        let words = name.lowercased().unicodeScalars.split { scalar in
            !("a"..."z" ~= scalar || "0"..."9" ~= scalar)
        }
        let stem = words.isEmpty ? "device" : words.map { String($0) }.joined(separator: "-")
        self.configuration = configuration
        path = "\(ConfigurationPieces.directory(beside: configuration))/\(stem).yaml"
    }

    /// Writes the file, unless there is one or the configuration would be wrong with it.
    /// - Parameter item: of the list `peripherals`.
    /// - Returns: what is suspicious in the new file.
    func write(_ item: String) throws(CommandFailure) -> [Diagnostic] {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure(
                .cannotCreate,
                "\(path): there is such a file; ingestd remove takes a device out, or choose another --alias")
        }
        let text = "\(Self.firstLine)\nperipherals:\n  \(item)\n"
        let check = Self.check(configuration, (path, text))
        try Self.refuse(check)
        let directory = ConfigurationPieces.directory(beside: configuration)
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            // For the service's group as its directory is, and for nobody else: it says who has which device.
            let group = try FileManager.default.attributesOfItem(atPath: directory)[.groupOwnerAccountID]
            let hidden = "\(directory)/.\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: hidden) }
            guard
                FileManager.default.createFile(
                    atPath: hidden, contents: Data(text.utf8), attributes: [.posixPermissions: 0o640])
            else { throw CocoaError(.fileWriteNoPermission) }
            var attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o640]
            attributes[.groupOwnerAccountID] = group
            try FileManager.default.setAttributes(attributes, ofItemAtPath: hidden)
            try FileManager.default.moveItem(atPath: hidden, toPath: path)
        } catch {
            throw CommandFailure(
                .noPermission,
                "\(path) cannot be written: run it as root, or write the entry there yourself:\n\(text)")
        }
        return check.diagnostics.filter { $0.path == path }
    }

    /// Whether `add` wrote the file.
    static func isOurs(_ path: String) throws(CommandFailure) -> Bool {
        guard let bytes = try? BoundedFile.read(path, limit: 1 << 20) else {
            throw CommandFailure(.noPermission, "\(path): this user may not read it")
        }
        return bytes.starts(with: firstLine.utf8)
    }

    /// Deletes the file, unless the configuration would be wrong without it.
    static func delete(_ path: String, of configuration: String) throws(CommandFailure) {
        try refuse(check(configuration, (path, nil)))
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            throw CommandFailure(.noPermission, "\(path) cannot be deleted: run it as root")
        }
    }

    /// Has the running service take up the change; says so if none runs.
    static func reload(by service: ServiceOptions) async throws {
        let client = ControlClient(path: try service.socket())
        let result: Result<Void, ControlClient.Failure>
        do throws(ControlClient.Failure) {
            result = .success(try await client.reload())
        } catch {
            result = .failure(error)
        }
        await client.close()
        switch result {
        case .success: try StandardOutput.write("The service has taken it up.\n")
        case .failure(.noService):
            try StandardOutput.write("No service runs: systemctl start ingestd\n")
        case .failure(let failure): throw CommandFailure(failure, path: client.path)
        }
    }

    private static func check(
        _ path: String, _ change: (path: String, text: String?)
    ) -> ConfigurationCheck {
        ConfigurationCheck(
            path: path, change: change, readableProfiles: Profiles.names,
            host: .current(environment: ProcessInfo.processInfo.environment, fileSeverity: .warning))
    }

    private static func refuse(_ check: ConfigurationCheck) throws(CommandFailure) {
        guard check.configuration == nil else { return }
        let errors = check.diagnostics.filter { $0.severity == .error }.map(\.description)
        throw CommandFailure(.configuration, "nothing was changed:\n" + errors.joined(separator: "\n"))
    }
}
