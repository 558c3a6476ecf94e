import FoundationEssentials

/// A file of conf.d with the entry of one device, as `ingestd add` writes it.
struct DevicePiece: Sendable {
    private static let firstLine = "# Written by ingestd add; ingestd remove deletes it."

    private let piece: ConfigurationPiece
    var path: String { piece.path }

    /// - Parameter name: of the device; the file's is made of its letters and digits.
    init(besideConfiguration configuration: String, named name: String) {
        piece = ConfigurationPiece(besideConfiguration: configuration, named: name)
    }

    /// A file that is there.
    init(at path: String, of configuration: String) {
        piece = ConfigurationPiece(at: path, of: configuration)
    }

    /// The whole configuration as it would be with this file.
    /// - Parameter item: of the list `peripherals`.
    func check(_ item: String) -> ConfigurationCheck { piece.check(Self.text(item)) }

    /// Writes the file, unless there is one or the configuration would be wrong with it.
    /// - Parameters:
    ///   - item: of the list `peripherals`.
    ///   - replaces: whether it takes the place of the entry that `add` wrote there.
    /// - Returns: what is suspicious in the new file.
    func write(_ item: String, replaces: Bool = false) throws(CommandFailure) -> [Diagnostic] {
        try piece.write(
            Self.text(item), replaces: replaces,
            wayOut: "ingestd remove takes a device out, or choose another --alias")
    }

    private static func text(_ item: String) -> String { "\(firstLine)\nperipherals:\n  \(item)\n" }

    /// Whether `add` wrote the file.
    static func isOurs(_ path: String) throws(CommandFailure) -> Bool {
        guard let bytes = try? BoundedFile.read(path, limit: 1 << 20) else {
            throw CommandFailure(.noPermission, "\(path): this user may not read it")
        }
        return bytes.starts(with: firstLine.utf8)
    }

    /// Deletes the file, unless the configuration would be wrong without it.
    static func delete(_ path: String, of configuration: String) throws(CommandFailure) {
        try ConfigurationPiece(at: path, of: configuration).delete()
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
}
