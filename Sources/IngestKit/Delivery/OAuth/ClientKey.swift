internal import Crypto
internal import CryptoExtras
import FoundationEssentials

/// The private key by which a client shows an authorization server who it is.
package struct ClientKey: Sendable {
    private enum Key: Sendable {
        case p384(P384.Signing.PrivateKey)
        case rsa(_RSA.Signing.PrivateKey)
    }

    /// SMART wants RSA keys of at least so many bits.
    private static let leastBits = 2_048
    /// How long an assertion can be used, in seconds: five minutes are the most that SMART allows.
    private static let lifetime: Int64 = 240

    private let key: Key
    /// By which the server finds the public key in the client's key set: the thumbprint of RFC 7638.
    package let identifier: String

    /// Reads PEM: PKCS #8, SEC 1 or PKCS #1. Nil for what is no key of a kind that SMART names.
    package init?(pem: String) {
        let members: [(String, [UInt8])]
        if let p384 = try? P384.Signing.PrivateKey(pemRepresentation: pem) {
            key = .p384(p384)
            // 04, x, y (SEC 1, section 2.3.3).
            let point = Array(p384.publicKey.x963Representation.dropFirst())
            members = [
                ("crv", Array("P-384".utf8)), ("kty", Array("EC".utf8)), ("x", Array(point.prefix(48))),
                ("y", Array(point.suffix(48))),
            ]
        } else if let rsa = try? _RSA.Signing.PrivateKey(pemRepresentation: pem),
            rsa.keySizeInBits >= Self.leastBits, let primitives = try? rsa.publicKey.getKeyPrimitives()
        {
            key = .rsa(rsa)
            members = [
                ("e", Array(primitives.publicExponent)), ("kty", Array("RSA".utf8)),
                ("n", Array(primitives.modulus)),
            ]
        } else {
            return nil
        }
        // Required members alone, in the order of their names, without blanks (RFC 7638, section 3).
        let text = members.map { name, value in
            let isText = name == "crv" || name == "kty"
            return
                "\"\(name)\":\"\(isText ? String(decoding: value, as: UTF8.self) : Self.base64URL(value))\""
        }
        let thumbprint = SHA256.hash(data: Data("{\(text.joined(separator: ","))}".utf8))
        identifier = Self.base64URL(Array(thumbprint))
    }

    /// RFC 7518, section 3.1.
    private var algorithm: String {
        switch key {
        case .p384: "ES384"
        case .rsa: "RS384"
        }
    }

    /// An assertion of this client for the server that issues tokens there (RFC 7523 section 3).
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - identifier: of the assertion, never used before.
    /// - Throws: what the library throws if it cannot sign.
    package func assertion(
        of clientID: String, for tokenURL: String, at now: Int64, identifier number: String
    ) throws -> String {
        var header = JSONText()
        header.beginObject()
        header.member("alg", algorithm)
        header.member("kid", identifier)
        header.member("typ", "JWT")
        header.endObject()
        var claims = JSONText()
        claims.beginObject()
        claims.member("iss", clientID)
        claims.member("sub", clientID)
        claims.member("aud", tokenURL)
        claims.member("exp", Int(now + Self.lifetime))
        claims.member("iat", Int(now))
        claims.member("jti", number)
        claims.endObject()
        let signed = Self.base64URL(header.bytes) + "." + Self.base64URL(claims.bytes)
        return signed + "." + Self.base64URL(try signature(of: Data(signed.utf8)))
    }

    private func signature(of data: Data) throws -> [UInt8] {
        switch key {
        case .p384(let key): Array(try key.signature(for: data).rawRepresentation)
        case .rsa(let key):
            Array(
                try key.signature(for: SHA384.hash(data: data), padding: .insecurePKCS1v1_5)
                    .rawRepresentation)
        }
    }

    /// RFC 4648, section 5, without padding.
    private static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}

extension Credentials {
    /// Reads a client's key anew; nil where the credential is something else.
    package func clientKey(_ name: CredentialName) throws(CredentialError) -> ClientKey? {
        try read(name).text.flatMap { ClientKey(pem: $0) }
    }
}
