internal import Crypto
internal import CryptoExtras

/// AES-CCM (RFC 3610) with keys of 128 bits, for messages as short as an advert: the counter mode
/// and the check value that BTHome and MiBeacon use, on the AES block of swift-crypto, which offers
/// no CCM.
package enum AESCCM {
    /// In bytes, of a key and of a block.
    package static let blockLength = 16
    /// Bytes of a nonce (RFC 3610 section 2: 15 less the size of the length field, which is 2 to 8).
    static let nonceLengths = 7...13
    /// Bytes of a check value (section 2: M).
    static let tagLengths = [4, 6, 8, 10, 12, 14, 16]
    /// Longer messages and longer additional data would need length fields that adverts never do.
    static let longestPart = 4_096

    /// The message, if the check value fits it; nil otherwise, and for parts of a wrong length.
    package static func open(
        _ ciphertext: [UInt8], tag: [UInt8], key: [UInt8], nonce: [UInt8], authenticating data: [UInt8] = []
    ) -> [UInt8]? {
        guard let cipher = Cipher(key: key, nonce: nonce, tagLength: tag.count, data: data) else {
            return nil
        }
        guard let message = cipher.applyingKeystream(to: ciphertext),
            let expected = cipher.tag(of: message, data: data)
        else { return nil }
        // Every byte is looked at, so that the time taken says nothing of where they differ.
        let difference = zip(expected, tag).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
        return difference == 0 ? message : nil
    }

    /// The encrypted message and its check value; nil for parts of a wrong length.
    package static func seal(
        _ message: [UInt8], tagLength: Int, key: [UInt8], nonce: [UInt8],
        authenticating data: [UInt8] = []
    ) -> (ciphertext: [UInt8], tag: [UInt8])? {
        guard let cipher = Cipher(key: key, nonce: nonce, tagLength: tagLength, data: data),
            let ciphertext = cipher.applyingKeystream(to: message),
            let tag = cipher.tag(of: message, data: data)
        else { return nil }
        return (ciphertext, tag)
    }

    /// One message's key, nonce and sizes.
    private struct Cipher {
        let key: SymmetricKey
        let nonce: [UInt8]
        let tagLength: Int

        init?(key: [UInt8], nonce: [UInt8], tagLength: Int, data: [UInt8]) {
            guard key.count == blockLength, nonceLengths.contains(nonce.count),
                tagLengths.contains(tagLength), data.count <= longestPart
            else { return nil }
            self.key = SymmetricKey(data: key)
            self.nonce = nonce
            self.tagLength = tagLength
        }

        /// A first byte, the nonce, and a number that fills the rest of the block, most significant
        /// octet first: how B_0 and all A_i are made (sections 2.2 and 2.3).
        private func block(first: UInt8, number: Int) -> [UInt8] {
            let width = blockLength - 1 - nonce.count
            let octets = (0..<width).reversed().map { octet in
                // Numbers here are below 2^16; the octets above are zero.
                octet < 8 ? UInt8(truncatingIfNeeded: number >> (octet * 8)) : 0
            }
            return [first] + nonce + octets
        }

        /// The size of the length field less 1, in the lower bits of every first byte.
        private var lengthCode: UInt8 { UInt8(truncatingIfNeeded: blockLength - 2 - nonce.count) }

        private func encrypted(_ block: [UInt8]) -> [UInt8]? {
            var block = block
            do {
                try AES.permute(&block, key: key)
            } catch {
                return nil
            }
            return block
        }

        /// The message with the key stream's blocks from 1 on put over it, which is both ways the
        /// same (section 2.3).
        func applyingKeystream(to message: [UInt8]) -> [UInt8]? {
            guard message.count <= longestPart else { return nil }
            var result: [UInt8] = []
            result.reserveCapacity(message.count)
            var rest = message[...]
            var number = 0
            while !rest.isEmpty {
                number += 1
                guard let stream = encrypted(block(first: lengthCode, number: number)) else { return nil }
                result += zip(rest, stream).map { $0 ^ $1 }
                rest = rest.dropFirst(blockLength)
            }
            return result
        }

        /// The check value of a message (section 2.2), encrypted with the key stream's block 0.
        func tag(of message: [UInt8], data: [UInt8]) -> [UInt8]? {
            let sizes = UInt8(truncatingIfNeeded: (tagLength - 2) / 2) << 3 | lengthCode
            let flags: UInt8 = data.isEmpty ? sizes : sizes | 0x40
            var parts = block(first: flags, number: message.count)
            if !data.isEmpty {
                let length = UInt16(truncatingIfNeeded: data.count)
                parts += padded(
                    [UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)] + data)
            }
            parts += padded(message)
            var state = [UInt8](repeating: 0, count: blockLength)
            var rest = parts[...]
            while !rest.isEmpty {
                guard let next = encrypted(zip(state, rest).map { $0 ^ $1 }) else { return nil }
                state = next
                rest = rest.dropFirst(blockLength)
            }
            guard let stream = encrypted(block(first: lengthCode, number: 0)) else { return nil }
            return zip(state, stream).prefix(tagLength).map { $0 ^ $1 }
        }

        /// Zeros up to a whole block.
        private func padded(_ bytes: [UInt8]) -> [UInt8] {
            let excess = bytes.count % blockLength
            return excess == 0 ? bytes : bytes + [UInt8](repeating: 0, count: blockLength - excess)
        }
    }
}
