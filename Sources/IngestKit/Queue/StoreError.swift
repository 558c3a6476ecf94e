import GRDB

/// Why the queue could not be opened, read or written. Whatever was under way did not happen.
public struct StoreError: Error, Sendable, Equatable {
    public enum Kind: Sendable, Equatable {
        /// No room on the disk (SQLITE_FULL).
        case full
        /// No records are taken, because there is or will soon be no room for them.
        case noRoom(QueueKeeper.Level)
        /// The file or its directory cannot be written (SQLITE_READONLY, SQLITE_PERM).
        case readOnly
        /// Not what was written to it: SQLITE_CORRUPT, SQLITE_NOTADB, or a row whose checksum is
        /// wrong.
        case corrupt
        /// The disk failed (SQLITE_IOERR, a failed fsync among them). The file is not to be
        /// trusted before the process has started anew.
        case ioError
        /// The file or its directory cannot be opened (SQLITE_CANTOPEN).
        case cannotOpen
        /// Another process holds the file (SQLITE_BUSY, SQLITE_LOCKED).
        case busy
        /// A SQLite database, but another program's.
        case foreign
        /// Written by a later version of ingestd.
        case newerVersion(found: Int, supported: Int)
        /// Another result code of SQLite (sqlite.org/rescode.html).
        case other(code: Int32)
    }

    /// Whether the file is not to be trusted before the process has started anew.
    public var isFatal: Bool { kind == .ioError || kind == .corrupt }

    public let kind: Kind
    /// The database file.
    public let path: String

    init(_ kind: Kind, path: String) {
        self.kind = kind
        self.path = path
    }

    init(_ error: DatabaseError, path: String) {
        let kind: Kind =
            switch error.resultCode {
            case .SQLITE_FULL: .full
            case .SQLITE_READONLY, .SQLITE_PERM: .readOnly
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: .corrupt
            case .SQLITE_IOERR: .ioError
            case .SQLITE_CANTOPEN: .cannotOpen
            case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
            default: .other(code: error.extendedResultCode.rawValue)
            }
        self.init(kind, path: path)
    }

    /// An error of the database in our terms; another one as it is.
    static func of(_ error: any Error, path: String) -> any Error {
        (error as? DatabaseError).map { StoreError($0, path: path) } ?? error
    }
}

extension EventLog {
    /// Tells of an error of the queue, unless another event tells of it: `queue-full` says that there is no room.
    func emit(storeError error: any Error) {
        if case .noRoom? = (error as? StoreError)?.kind { return }
        emit(.storeError(error: "\(error)"))
    }
}

extension StoreError: CustomStringConvertible {
    /// What is wrong with which file, and the way out.
    public var description: String {
        switch kind {
        case .full:
            "\(path): no room on the disk; free some, delivery and reading go on by themselves"
        case .noRoom:
            "\(path): there is no room for more readings"
        case .readOnly:
            "\(path): cannot be written; the file and its directory must belong to the user of the service"
        case .corrupt:
            "\(path): damaged or not a queue; move it away with its -wal and -shm files to start with an empty one"
        case .ioError:
            "\(path): the disk reports an error; check the disk, then start the service again"
        case .cannotOpen:
            "\(path): cannot be opened; its directory must exist and belong to the user of the service"
        case .busy:
            "\(path): in use by another process; stop that one first"
        case .foreign:
            "\(path): belongs to another program; set another gateway.state_directory"
        case .newerVersion(let found, let supported):
            "\(path): written by a later ingestd (schema \(found), this one knows up to \(supported)); install that version again"
        case .other(let code):
            "\(path): SQLite reports code \(code)"
        }
    }
}
