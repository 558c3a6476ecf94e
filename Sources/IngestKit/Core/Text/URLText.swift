/// The parts of an absolute URL that decide whether it may be used (RFC 3986, without user
/// information and fragment).
package struct URLText {
    package let scheme: String
    /// In lower case; an IPv6 address without its brackets.
    package let host: String
    package let port: Int?
    package let hasUserInformation: Bool
    /// Path and query, from the slash or question mark on; may be empty.
    package let rest: String

    /// Nil for anything but `scheme://host[:port][/path][?query]` in printable ASCII.
    package init?(_ text: String) {
        guard text.utf8.count <= 2048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !text.contains("#"), !text.contains("\\"), let separator = text.firstRange(of: "://")
        else { return nil }
        scheme = text[..<separator.lowerBound].lowercased()
        var authority = text[separator.upperBound...].prefix { $0 != "/" && $0 != "?" }
        rest = String(text[authority.endIndex...])
        hasUserInformation = authority.contains("@")
        if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
        let end: Substring
        if authority.hasPrefix("[") {
            guard let bracket = authority.firstIndex(of: "]") else { return nil }
            let address = authority[authority.index(after: authority.startIndex)..<bracket]
            guard address.contains(":"),
                address.utf8.allSatisfy({ $0.isHexDigit || $0 == 0x3A || $0 == 0x2E })
            else { return nil }
            host = address.lowercased()
            end = authority[authority.index(after: bracket)...]
        } else {
            let name = authority.prefix { $0 != ":" }
            guard !name.isEmpty, name.utf8.count <= 253, name.allSatisfy(Self.isHostCharacter) else {
                return nil
            }
            host = name.lowercased()
            end = authority[name.endIndex...]
        }
        if end.isEmpty {
            port = nil
        } else {
            guard end.first == ":", end.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }),
                let number = Int(end.dropFirst()), (1...65_535).contains(number)
            else { return nil }
            port = number
        }
    }

    /// A text as a part of a path, or a value of a form: what is not unreserved is encoded (RFC 3986 section 2.3).
    package static func percentEncoded(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                String(UnicodeScalar(byte))
            default: "%" + Hex.text([byte]).uppercased()
            }
        }.joined()
    }

    /// `localhost` (RFC 6761), 127.0.0.0/8 (RFC 1122) or ::1.
    package var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        return octets.count == 4 && octets[0] == "127"
            && octets.allSatisfy { octet in
                // With a zero in front it is no address to some, but a name, which a resolver may send anywhere.
                UInt8(octet).map(String.init) == String(octet)
            }
    }

    /// Whether it is `other`, or one under it: the same scheme, host and port, and a path that goes on from the other's.
    package func isUnder(_ other: URLText) -> Bool {
        func path(_ url: URLText) -> String {
            let path = url.rest.prefix { $0 != "?" }
            return path.hasSuffix("/") ? String(path) : path + "/"
        }
        func port(_ url: URLText) -> Int { url.port ?? (url.scheme == "https" ? 443 : 80) }
        let steps = path(self).lowercased().replacing("%2e", with: ".").split(separator: "/")
        return scheme == other.scheme && host == other.host && port(self) == port(other)
            && path(self).hasPrefix(path(other)) && !steps.contains("..") && !steps.contains(".")
    }

    /// Whether the host is an address and not a name.
    package var isAddress: Bool {
        host.contains(":") || host.allSatisfy { $0 == "." || $0.isNumber }
    }

    private static func isHostCharacter(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "-._".contains(character))
    }
}
