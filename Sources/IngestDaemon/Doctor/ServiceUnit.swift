import FoundationEssentials

/// What systemd says of the service's unit (org.freedesktop.systemd1).
struct ServiceUnit: Sendable, Equatable {
    /// What systemd said of the unit.
    enum Answer: Sendable, Equatable {
        case known(ServiceUnit)
        /// No systemd runs on this machine.
        case noSystemd
        /// There is one, which did not answer, or not this user.
        case noAnswer
    }

    /// Where a credential of LoadCredential= comes from.
    struct Source: Sendable, Equatable {
        /// Absolute, or a name that systemd looks for in its own directories.
        let path: String
        let isEncrypted: Bool
    }

    static let name = "ingestd.service"

    /// `loaded`, `not-found`, `masked`, `bad-setting` or `error`.
    var loadState: String
    /// `enabled`, `disabled`, `static`, `masked` and others; empty if there is no file.
    var fileState: String
    /// `active`, `inactive`, `failed`, `activating` and others.
    var activeState: String
    /// `success`, or why it ended last: `exit-code`, `signal`, `watchdog`, `oom-kill` and others.
    var result: String
    /// Of the last end of its process.
    var exitStatus: Int
    /// How often systemd has started it anew since it was started.
    var restarts: Int
    /// Of User= and Group=; empty if they are not set.
    var user: String
    var group: String
    var supplementaryGroups: [String]
    /// By the names of the credentials.
    var credentials: [String: Source]

    /// Asks systemd over the system bus.
    static func ask(_ inquiry: BusInquiry = BusInquiry()) async -> Answer {
        // sd_booted(3) looks for the same directory.
        guard
            FileStatus("/run/systemd/system") != nil
                || ProcessInfo.processInfo.environment["DBUS_SYSTEM_BUS_ADDRESS"] != nil
        else { return .noSystemd }
        let manager = "org.freedesktop.systemd1"
        let answer = await inquiry.perform { bus throws(BusError) -> ServiceUnit in
            let loaded = try await bus.ask(
                BusCall(
                    to: manager, "/org/freedesktop/systemd1", "\(manager).Manager", "LoadUnit",
                    [.string(name)]))
            guard let path = loaded.first?.text else { throw .malformed }
            func property(_ name: String, of interface: String) async throws(BusError) -> BusValue? {
                do throws(BusError) {
                    return try await bus.ask(
                        .get(name, of: "\(manager).\(interface)", at: path, from: manager)
                    )
                    .first?.unwrapped
                } catch .remote {
                    // An older systemd does not have it.
                    return nil
                }
            }
            var credentials = pairs(try await property("LoadCredential", of: "Service"), isEncrypted: false)
            credentials.merge(
                pairs(try await property("LoadCredentialEncrypted", of: "Service"), isEncrypted: true)
            ) { first, _ in first }
            return ServiceUnit(
                loadState: try await property("LoadState", of: "Unit")?.text ?? "",
                fileState: try await property("UnitFileState", of: "Unit")?.text ?? "",
                activeState: try await property("ActiveState", of: "Unit")?.text ?? "",
                result: try await property("Result", of: "Service")?.text ?? "",
                exitStatus: number(try await property("ExecMainStatus", of: "Service")),
                restarts: number(try await property("NRestarts", of: "Service")),
                user: try await property("User", of: "Service")?.text ?? "",
                group: try await property("Group", of: "Service")?.text ?? "",
                supplementaryGroups: try await property("SupplementaryGroups", of: "Service")?.elements?
                    .compactMap(\.text) ?? [],
                credentials: credentials)
        }
        return answer.map { .known($0) } ?? .noAnswer
    }

    private static func number(_ value: BusValue?) -> Int {
        switch value {
        case .int32(let number): Int(number)
        case .uint32(let number): Int(number)
        default: 0
        }
    }

    /// - Parameter value: a(ss), each an identifier and a path.
    private static func pairs(_ value: BusValue?, isEncrypted: Bool) -> [String: Source] {
        let pairs = (value?.elements ?? []).prefix(256).compactMap { element -> (String, Source)? in
            guard case .structure(let fields) = element, fields.count == 2, let name = fields[0].text,
                let path = fields[1].text
            else { return nil }
            return (name, Source(path: path, isEncrypted: isEncrypted))
        }
        return Dictionary(pairs) { first, _ in first }
    }
}
