package import FoundationEssentials

/// A photograph of a display that somebody sends with an entry, by what it is.
package enum EntryImage: String, Sendable, Codable {
    case jpeg = "image/jpeg"
    case png = "image/png"

    /// The largest that is taken, in bytes: more than a phone's camera makes.
    package static let largest = 8 << 20

    /// Why a file is none.
    package enum Failure: Error, Equatable, CustomStringConvertible {
        case unreadable
        case tooLarge
        case notAnImage

        package var description: String {
            switch self {
            case .unreadable: "there is no such file, or it may not be read"
            case .tooLarge: "it is larger than \(EntryImage.largest >> 20) MiB"
            case .notAnImage: "it is neither JPEG nor PNG"
            }
        }
    }

    /// The bytes of a file that is one, and which.
    package static func read(path: String) throws(Failure) -> (type: Self, data: Data) {
        let bytes: [UInt8]
        do {
            bytes = try BoundedFile.read(path, limit: largest)
        } catch BoundedFile.Failure.tooLarge {
            throw .tooLarge
        } catch {
            throw .unreadable
        }
        guard let type = Self(bytes) else { throw .notAnImage }
        return (type, Data(bytes))
    }

    /// What a file is by its first bytes; nil for neither (ISO/IEC 10918-1 B.1.1.3; PNG 3rd edition 5.2).
    package init?(_ bytes: some Collection<UInt8>) {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else {
            return nil
        }
    }
}
