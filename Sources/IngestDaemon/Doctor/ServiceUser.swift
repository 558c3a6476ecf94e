import FoundationEssentials
import SystemPackage

/// Whose a file is, and who may do what with it.
struct FileRights: Sendable, Equatable {
    var owner: UInt32
    var group: UInt32
    /// The lower nine bits of the mode.
    var permissions: Int
    var isDirectory: Bool

    init(owner: UInt32, group: UInt32, permissions: Int, isDirectory: Bool) {
        self.owner = owner
        self.group = group
        self.permissions = permissions
        self.isDirectory = isDirectory
    }

    /// Nil if there is no file, or none that can be seen (stat(2)).
    init?(_ path: String) {
        guard let status = try? Stat(FilePath(path)) else { return nil }
        owner = UInt32(status.userID.rawValue)
        group = UInt32(status.groupID.rawValue)
        permissions = Int(status.permissions.rawValue & 0o777)
        isDirectory = status.type == .directory
    }
}

/// The user that the service runs as, and what that user may do by owner, group and mode. Access control lists are not
/// looked at.
struct ServiceUser: Sendable {
    /// Of a mode's bits for one class.
    enum Right: Int, Sendable {
        case read = 4
        case write = 2
        case enter = 1
    }

    /// In bytes, of passwd and group each.
    private static let accountsLimit = 1 << 20

    let name: String
    let id: UInt32
    let groups: Set<UInt32>
    let rights: @Sendable (String) -> FileRights?

    init(
        name: String, id: UInt32, groups: Set<UInt32>,
        rights: @escaping @Sendable (String) -> FileRights? = { FileRights($0) }
    ) {
        self.name = name
        self.id = id
        self.groups = groups
        self.rights = rights
    }

    /// - Parameters:
    ///   - name: an empty one stands for root.
    ///   - group: of the unit; an empty one is the user's own.
    ///   - supplementary: further groups of the unit.
    ///   - passwd: the text of passwd(5).
    ///   - groupFile: the text of group(5).
    /// - Returns: nil if there is no such user.
    init?(
        named name: String, group: String, supplementary: [String], passwd: String, groupFile: String,
        rights: @escaping @Sendable (String) -> FileRights? = { FileRights($0) }
    ) {
        let name = name.isEmpty ? "root" : name
        func rows(_ text: String) -> [[Substring]] {
            text.split(separator: "\n").map { $0.split(separator: ":", omittingEmptySubsequences: false) }
        }
        guard let user = rows(passwd).first(where: { $0.count >= 4 && $0[0] == name }),
            let id = UInt32(user[2]), let own = UInt32(user[3])
        else { return nil }
        var groups: Set<UInt32> = []
        for row in rows(groupFile) where row.count >= 4 {
            guard let number = UInt32(row[2]) else { continue }
            let isMember = row[3].split(separator: ",").contains { $0 == name }
            if isMember || row[0] == group || supplementary.contains(String(row[0])) { groups.insert(number) }
        }
        if group.isEmpty { groups.insert(own) }
        self.init(name: name, id: id, groups: groups, rights: rights)
    }

    /// The service's user on this machine; nil if there is none.
    init?(of unit: ServiceUnit) {
        func text(_ path: String) -> String? {
            (try? BoundedFile.read(path, limit: Self.accountsLimit)).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        guard let passwd = text("/etc/passwd"), let groups = text("/etc/group") else { return nil }
        self.init(
            named: unit.user, group: unit.group, supplementary: unit.supplementaryGroups, passwd: passwd,
            groupFile: groups)
    }

    /// Whether the user has the right at a file, the directories above it included. Nil if there is no such file, or it
    /// cannot be seen.
    func may(_ right: Right, _ path: String) -> Bool? {
        guard let file = rights(path) else { return nil }
        guard id != 0 else { return true }
        return obstacle(above: path) == nil && has(right, file)
    }

    /// The topmost directory above the file that the user may not enter.
    func obstacle(above path: String) -> String? {
        guard id != 0 else { return nil }
        var directory = ""
        for part in ["/"] + path.split(separator: "/").dropLast().map(String.init) {
            directory = part == "/" ? "/" : (directory == "/" ? "/" : directory + "/") + part
            if let rights = rights(directory), !has(.enter, rights) { return directory }
        }
        return nil
    }

    private func has(_ right: Right, _ file: FileRights) -> Bool {
        let shift = file.owner == id ? 6 : groups.contains(file.group) ? 3 : 0
        return file.permissions >> shift & right.rawValue != 0
    }
}
