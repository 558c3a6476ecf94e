import FoundationEssentials

/// What a configuration takes from the machine that it is read on.
package struct ConfigurationHost: Sendable {
    package var environment: [String: String]
    /// Names the gateway when the file does not; nil when the machine has no id.
    package var gatewayID: String?
    /// Whether the machine knows a time zone; nil when it has no list of them.
    package var hasTimeZone: @Sendable (String) -> Bool?
    /// The lower nine bits of a file's mode; nil when it cannot be seen.
    package var permissions: @Sendable (String) -> Int?
    /// What can be said of a program that a hook names; nil when it is not there.
    package var program: @Sendable (String) -> ProgramFile?
    /// With what the files of destinations are looked at; nil: they are not.
    package var credentials: Credentials?
    /// What a file that cannot be used is: a gateway that runs reads its peripherals all the same,
    /// and the destination is down.
    package var fileSeverity: Diagnostic.Severity
    /// The service, seen by another user's process; nil where nothing is known of it.
    package var service: ConfigurationService?

    package init(
        environment: [String: String], gatewayID: String?,
        hasTimeZone: @escaping @Sendable (String) -> Bool?,
        permissions: @escaping @Sendable (String) -> Int?,
        program: @escaping @Sendable (String) -> ProgramFile?, credentials: Credentials? = nil,
        fileSeverity: Diagnostic.Severity = .error
    ) {
        self.environment = environment
        self.gatewayID = gatewayID
        self.hasTimeZone = hasTimeZone
        self.permissions = permissions
        self.program = program
        self.credentials = credentials
        self.fileSeverity = fileSeverity
    }

    /// This machine.
    /// - Parameters:
    ///   - environment: of the process.
    ///   - fileSeverity: what a file of a destination is that cannot be used.
    package static func current(
        environment: [String: String], fileSeverity: Diagnostic.Severity = .error
    ) -> ConfigurationHost {
        ConfigurationHost(
            environment: environment,
            gatewayID: (try? BoundedFile.read("/etc/machine-id", limit: 64)).flatMap {
                GatewayIdentity.name(machineID: String(decoding: $0, as: UTF8.self))
            },
            hasTimeZone: { name in
                let directory = "/usr/share/zoneinfo"
                guard FileStatus("\(directory)/UTC") != nil else { return nil }
                return FileStatus("\(directory)/\(name)")?.isRegular ?? false
            },
            permissions: { FileStatus($0)?.permissions }, program: { ProgramFile($0) },
            credentials: Credentials(environment: environment), fileSeverity: fileSeverity)
    }
}

/// The service that a configuration is for, as root finds it.
package struct ConfigurationService: Sendable {
    /// The name of its user.
    package let user: String
    /// Whether its user may read a file; nil if there is none.
    package let mayRead: @Sendable (String) -> Bool?
    /// The names of the credentials that its unit loads.
    package let credentials: Set<String>

    package init(
        user: String, credentials: Set<String>, mayRead: @escaping @Sendable (String) -> Bool?
    ) {
        self.user = user
        self.credentials = credentials
        self.mayRead = mayRead
    }

    /// Says of a file that the service may not read it; nil if it may.
    func obstacle(_ path: String) -> String? {
        guard mayRead(path) == false else { return nil }
        return
            "\(path): the service's user \(user) may not read it; chgrp \(user) it and chmod g+r it, and look at the "
            + "directories above it"
    }
}

/// A file that is meant to be run.
package struct ProgramFile: Sendable {
    package var isRegular: Bool
    /// By this user, or for root by anybody.
    package var isExecutable: Bool
    /// The lower nine bits of its mode.
    package var permissions: Int

    package init(isRegular: Bool, isExecutable: Bool, permissions: Int) {
        self.isRegular = isRegular
        self.isExecutable = isExecutable
        self.permissions = permissions
    }

    init?(_ path: String) {
        guard let status = FileStatus(path) else { return nil }
        isRegular = status.isRegular
        isExecutable = FileManager.default.isExecutableFile(atPath: path)
        permissions = status.permissions
    }
}
