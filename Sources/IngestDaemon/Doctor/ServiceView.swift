import FoundationEssentials

/// The configuration's files and credentials as the service finds them, for a command that root runs.
struct ServiceView: Sendable {
    /// Nil if no unit is installed, or there is no such user.
    let user: ServiceUser?
    let credentials: Credentials
    private let unit: ServiceUnit.Answer
    private let environment: [String: String]
    private let isRoot: Bool

    init(unit: ServiceUnit.Answer, isRoot: Bool, environment: [String: String]) {
        self.unit = unit
        self.isRoot = isRoot
        self.environment = environment
        if case .known(let known) = unit, known.loadState == "loaded" {
            user = ServiceUser(of: known)
        } else {
            user = nil
        }
        credentials =
            isRoot
            ? CredentialSources.credentials(of: unit, environment: environment)
            : Credentials(environment: environment)
    }

    /// What a configuration is checked on: for root with the rights of the service's user and the unit's credentials.
    func host(fileSeverity: Diagnostic.Severity) -> ConfigurationHost {
        var host = ConfigurationHost.current(environment: environment, fileSeverity: fileSeverity)
        host.credentials = credentials
        guard isRoot, let user, case .known(let known) = unit else { return host }
        host.service = ConfigurationService(user: user.name, credentials: Set(known.credentials.keys)) {
            path in
            user.may(.read, path)
        }
        return host
    }
}
