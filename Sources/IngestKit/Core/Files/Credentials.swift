import FoundationEssentials

/// How a configuration names a secret, which it never holds itself.
package enum CredentialName: Sendable, Hashable {
    /// A file in the directory of credentials that systemd made for the service.
    case named(String)
    /// A file of its own, by absolute path.
    case path(String)

    /// Reads a plain name, or an absolute path if there is a slash in it; nil for anything else.
    package init?(_ text: String) {
        if text.contains("/") {
            guard TextForm.isAbsolutePath(text), !text.hasSuffix("/") else { return nil }
            self = .path(text)
        } else {
            // systemd.exec(5) takes names that are file names; 255 is NAME_MAX.
            guard TextForm.isName(text, limit: 255) else { return nil }
            self = .named(text)
        }
    }
}

extension CredentialName: CustomStringConvertible {
    /// As the configuration writes it.
    package var description: String {
        switch self {
        case .named(let text), .path(let text): text
        }
    }
}

/// A secret. Neither description nor reflection shows it.
package struct Credential: Sendable, Equatable {
    /// The file's bytes without the newlines at its end.
    package let bytes: [UInt8]

    /// The secret as text; nil when it is not UTF-8.
    package var text: String? { String(validating: bytes, as: UTF8.self) }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Why a credential cannot be had.
package enum CredentialError: Error, Sendable, Equatable {
    /// It is named, but the service was given no directory of credentials.
    case noDirectory(CredentialName)
    case missing(CredentialName)
    case unreadable(CredentialName)
    /// Larger than `Credentials.maximumSize`, or not a regular file.
    case notACredential(CredentialName)
    case empty(CredentialName)
}

extension CredentialError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noDirectory(let name):
            "credential \(name): there is no $CREDENTIALS_DIRECTORY; add LoadCredential=\(name):PATH to the "
                + "unit, or give the path of the file in the configuration"
        case .missing(.named(let name)):
            "credential \(name): not among the service's credentials; add LoadCredential=\(name):PATH to "
                + "the unit and restart, or give the path of the file in the configuration"
        case .missing(.path(let path)):
            "credential \(path): there is no such file"
        case .unreadable(let name):
            "credential \(name): the service may not read it; give its group ingestd read permission, or "
                + "use LoadCredential= in the unit"
        case .notACredential(let name):
            "credential \(name): expected a regular file of at most 64 KiB"
        case .empty(let name):
            "credential \(name): the file is empty"
        }
    }
}

/// Finds the secrets that a configuration names (systemd.exec(5), LoadCredential=).
package struct Credentials: Sendable {
    /// In bytes; the longest of a TLS key with its chain is far below.
    package static let maximumSize = 64 * 1024

    private let directory: String?
    /// Files of plain names, where there is no directory of all.
    private let paths: [String: String]

    /// - Parameter environment: of the process; `CREDENTIALS_DIRECTORY` counts.
    package init(environment: [String: String]) {
        directory = environment["CREDENTIALS_DIRECTORY"].flatMap { $0.isEmpty ? nil : $0 }
        paths = [:]
    }

    /// For a process that systemd has given none, and that knows where the service's come from.
    /// - Parameter paths: the files of plain names.
    package init(paths: [String: String]) {
        directory = nil
        self.paths = paths
    }

    /// Where the credential's file is; nil for a plain name when there is no directory.
    package func path(of name: CredentialName) -> String? {
        switch name {
        case .named(let file): directory.map { $0 + "/" + file } ?? paths[file]
        case .path(let path): path
        }
    }

    /// Reads the secret anew. Blocks for as long as reading a small file takes.
    package func read(_ name: CredentialName) throws(CredentialError) -> Credential {
        guard let path = path(of: name) else { throw .noDirectory(name) }
        var bytes: [UInt8]
        do {
            bytes = try BoundedFile.read(path, limit: Self.maximumSize)
        } catch {
            switch error {
            case .missing: throw .missing(name)
            case .unreadable: throw .unreadable(name)
            case .notAFile, .tooLarge: throw .notACredential(name)
            }
        }
        while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
        guard !bytes.isEmpty else { throw .empty(name) }
        return Credential(bytes: bytes)
    }
}
