/// Looks at the files of a destination's credentials and certificates: whether they are there, and whether the service, under
/// its own user, may read them.
struct CredentialProbe: Sendable {
    let surroundings: DestinationProbe.Surroundings
    /// The lower nine bits of a file's mode; nil if it cannot be seen.
    let permissions: @Sendable (String) -> Int?

    /// - Returns: also whether all can be read.
    func findings(of settings: DestinationSettings) -> ([Finding], isComplete: Bool) {
        let name = settings.name
        let transport = settings.transport
        var findings: [Finding] = []
        var isComplete = true
        for credential in settings.credentials {
            do throws(CredentialError) {
                _ = try surroundings.credentials.read(credential)
                findings.append(readable(credential, at: name))
            } catch {
                isComplete = false
                findings.append(unreadable(error, at: name))
            }
        }
        let ofTLS = [transport.clientCertificate, transport.clientKey].compactMap(\.self)
        for credential in ofTLS where surroundings.credentials.path(of: credential) == nil {
            isComplete = false
            findings.append(unreadable(.noDirectory(credential), at: name))
        }
        for problem in TLSFiles.problems(transport, surroundings.credentials) {
            isComplete = false
            let message = "\(problem.key.rawValue): \(problem.message)"
            findings.append(
                surroundings.mayReadAll
                    ? .error(
                        .credential, message, at: name,
                        remedy: "put the right file there, then: ingestd reload")
                    : .warning(.credential, message, at: name, remedy: DestinationProbe.asRoot))
        }
        let others = ofTLS.compactMap { credential in
            if case .path(let path) = credential { path } else { nil as String? }
        }
        for path in others + [transport.caFile].compactMap(\.self) {
            if surroundings.user?.may(.read, path) == false { findings.append(notForService(path, at: name)) }
        }
        return (findings, isComplete)
    }

    private func notForService(_ path: String, at name: String) -> Finding {
        let user = surroundings.user?.name ?? "ingestd"
        return .error(
            .credential, "credential \(path): the service may not read it", at: name,
            remedy: surroundings.user?.obstacle(above: path).map {
                "move it below /etc/ingestd: \(user) may not enter \($0)"
            } ?? "sudo chgrp \(user) \(path) && sudo chmod g+r \(path)")
    }

    private func readable(_ credential: CredentialName, at name: String) -> Finding {
        if case .path(let path) = credential, surroundings.user?.may(.read, path) == false {
            return notForService(path, at: name)
        }
        if case .path(let path) = credential, let mode = permissions(path), mode & 0o004 != 0 {
            return .warning(
                .credential, "credential \(path) is readable for everybody", at: name,
                remedy: "sudo chmod o-r \(path)")
        }
        return .ok(.credential, "credential \(credential) can be read", at: name)
    }

    private func unreadable(_ error: CredentialError, at name: String) -> Finding {
        switch error {
        case .noDirectory(let credential) where !surroundings.mayReadAll,
            .missing(let credential) where !surroundings.mayReadAll,
            .unreadable(let credential) where !surroundings.mayReadAll:
            .warning(
                .credential, "credential \(credential) is missing, or not for you to read: not looked at",
                at: name, remedy: DestinationProbe.asRoot)
        case .noDirectory(.named(let text)) where surroundings.loaded.contains(text):
            .warning(
                .credential, "credential \(text): the unit loads it, but it cannot be read from here",
                at: name,
                remedy: "sudo systemctl restart ingestd; \(DestinationProbe.asRoot)")
        case .noDirectory(let credential),
            .missing(let credential) where credential.isNamed:
            .error(
                .credential, "credential \(credential) is not among those that the unit loads", at: name,
                remedy: "sudo systemctl edit ingestd, write [Service] and LoadCredential=\(credential):FILE, "
                    + "then: sudo systemctl restart ingestd")
        case .missing(let credential):
            .error(
                .credential, "credential \(credential): there is no such file", at: name,
                remedy: "sudo install -m 640 -g ingestd FILE \(credential)")
        case .unreadable(let credential):
            .error(
                .credential, "credential \(credential): the service may not read it", at: name,
                remedy: "sudo chgrp ingestd \(credential) && sudo chmod g+r \(credential)")
        case .notACredential(let credential):
            .error(
                .credential, "credential \(credential) is no regular file of at most 64 KiB", at: name,
                remedy: "put a file with the token alone there")
        case .empty(let credential):
            .error(
                .credential, "credential \(credential): the file is empty", at: name,
                remedy: "write the token into it, on one line")
        }
    }
}

extension CredentialName {
    /// Whether systemd hands it to the service.
    fileprivate var isNamed: Bool {
        if case .named = self { true } else { false }
    }
}
