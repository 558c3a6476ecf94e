import FoundationEssentials
import Glibc
import Synchronization

/// Where the running service takes commands.
enum ControlSocket {
    static let name = "control.sock"
    /// The unit's, with RuntimeDirectory=ingestd.
    static let installed = "/run/ingestd/" + name
    /// Below the length of sun_path, 108 bytes with the final zero (unix(7)), on all systems.
    static let longestPath = 103

    /// Where a service with this environment listens: in the directory that systemd has made for it,
    /// else in its state directory.
    static func path(environment: [String: String], stateDirectory: String) -> String {
        runtimePath(environment) ?? stateDirectory + "/" + name
    }

    /// In the directory that systemd has made for the service, which its own commands know too (ExecReload=).
    private static func runtimePath(_ environment: [String: String]) -> String? {
        environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first.map { "\($0)/\(name)" }
    }

    /// Where a command looks for the service of this configuration; the installed one's where that has
    /// none, or cannot be read.
    /// - Parameter isNamed: whether the operator has named the configuration. A socket that its service has left is
    ///   that service's still; by the installed configuration a service that somebody once ran by hand may have left
    ///   one, which must not hide the installed one.
    static func find(
        configuration: Configuration?, isNamed: Bool, environment: [String: String]
    ) -> String {
        var candidates = [runtimePath(environment)].compactMap(\.self)
        if let configuration { candidates.append(configuration.gateway.stateDirectory + "/" + name) }
        let found = candidates.filter { FileManager.default.fileExists(atPath: $0) }
        if isNamed { return found.first ?? installed }
        return found.first { !isLeft($0) } ?? installed
    }

    /// Makes room for a socket at `path`: one that a dead process left is removed.
    /// - Returns: false when somebody listens there.
    static func clear(_ path: String) -> Bool {
        if isAnswered(path) == true { return false }
        remove(path)
        return true
    }

    /// Removes a socket, or what is in its place: also a link that leads nowhere. A directory stays, with what it holds.
    static func remove(_ path: String) {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let attributes, attributes[.type] as? FileAttributeType != .typeDirectory else { return }
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Whether somebody listens there; nil where that may not be known.
    static func isAnswered(_ path: String) -> Bool? {
        do throws(SystemError) {
            try connect(path)
            return true
        } catch {
            return switch error.errno {
            case EACCES, EPERM: nil
            // More wait to be accepted than may.
            case EAGAIN: true
            default: false
            }
        }
    }

    /// Whether nobody listens at a socket that is there.
    private static func isLeft(_ path: String) -> Bool {
        do throws(SystemError) {
            try connect(path)
            return false
        } catch {
            return error.errno == ECONNREFUSED
        }
    }

    private static func connect(_ path: String) throws(SystemError) {
        close(try LocalSocket.connect(to: path, .stream))
    }
}

/// Whether the service can be asked.
final class ControlStanding: Sendable {
    private let current = Mutex<String?>(nil)

    /// Why it cannot; nil while it can.
    var obstacle: String? { current.withLock { $0 } }

    /// - Returns: whether this is new.
    @discardableResult
    func note(_ obstacle: String?) -> Bool {
        current.withLock { current in
            defer { current = obstacle }
            return current != obstacle
        }
    }
}
