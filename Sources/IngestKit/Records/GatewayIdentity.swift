import Crypto

/// The name of a gateway that was given none.
package enum GatewayIdentity {
    /// Stable for a machine, and not its machine id, which is not to leave the machine
    /// (machine-id(5)): `gateway-` and 16 hexadecimal digits.
    /// - Parameter machineID: the text of /etc/machine-id, 32 hexadecimal digits.
    /// - Returns: Nil when the text is no machine id.
    package static func name(machineID: some StringProtocol) -> String? {
        let digits = machineID.utf8.prefix { $0 != 0x0A }
        guard let key = Hex.bytes(String(decoding: digits, as: UTF8.self)), key.count == 16 else {
            return nil
        }
        let code = HMAC<SHA256>.authenticationCode(for: application, using: SymmetricKey(data: key))
        return "gateway-" + Hex.text(Array(code.prefix(8)))
    }

    /// 2f297f72-ab04-4fd3-adef-828615632791, drawn at random for this program.
    private static let application: [UInt8] = [
        0x2F, 0x29, 0x7F, 0x72, 0xAB, 0x04, 0x4F, 0xD3, 0xAD, 0xEF, 0x82, 0x86, 0x15, 0x63, 0x27, 0x91,
    ]
}
