package import IngestEvents

/// Why the queue could not be opened, read or written. Whatever was under way did not happen.
package struct StoreError: Error, Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// No room on the disk (SQLITE_FULL).
        case full
        /// No records are taken, because there is or will soon be no room for them.
        case noRoom(QueueLevel)
        /// What devices may hold that the allow-list does not name by address (`StrangerShare`) is taken. No fault of
        /// the disk, so `StoreWatch` does not tell of it: `ingestd status` does.
        case strangersFull
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
        /// The file, or one of the two beside it, was deleted or replaced while it was open.
        case replaced
        /// A SQLite database, but another program's.
        case foreign
        /// Written by a later version of ingestd.
        case newerVersion(found: Int, supported: Int)
        /// There is no such file.
        case missing
        /// Written by an earlier version of ingestd, and not brought up to date yet.
        case olderVersion
        /// A directory, or anything else than a file, is in the place of this one.
        case notAFile(String)
        /// Another result code of SQLite (sqlite.org/rescode.html).
        case other(code: Int32)
    }

    /// Whether the file is not to be trusted before the process has started anew.
    package var isFatal: Bool { kind == .ioError || kind == .corrupt || kind == .replaced }

    /// Whether what is in the way may go away by itself, and the same is to be tried again later.
    package var isPassing: Bool { kind == .full || kind == .readOnly || kind == .busy }

    /// Whether `StoreWatch` tells of it, once for all who meet it.
    package var isWatched: Bool { isFatal || isPassing }

    package let kind: Kind
    /// The database file.
    package let path: String

    package init(_ kind: Kind, path: String) {
        self.kind = kind
        self.path = path
    }
}

extension EventLog {
    /// Tells of an error of the queue, unless that is told elsewhere: by `StoreWatch`, or by `queue-full`, which says
    /// that there is no room. That the strangers' share is full is the status' matter.
    package func emit(storeError error: any Error) {
        if case .noRoom? = (error as? StoreError)?.kind { return }
        if (error as? StoreError)?.kind == .strangersFull { return }
        if (error as? StoreError)?.isWatched == true || error is CancellationError { return }
        emit(.storeError(error: "\(error)"))
    }
}

extension StoreError: CustomStringConvertible {
    /// What is wrong with which file, and the way out.
    package var description: String {
        switch kind {
        case .full:
            "\(path): no room on the disk; free some, delivery and reading go on by themselves"
        case .noRoom:
            "\(path): there is no room for more readings"
        case .strangersFull:
            "\(path): devices without an address in the allow-list have no more room in it (a tenth of queue.max_size for all of them, an eighth of that for one); name the device by its address, or see why a destination does not take its readings"
        case .readOnly:
            "\(path): cannot be written; it and its directory must belong to the user of the service, on a file system that is not read-only"
        case .corrupt:
            "\(path): damaged; the service starts again and goes on with what can be read of it"
        case .ioError:
            "\(path): the disk reports an error; the service starts again, check the disk"
        case .cannotOpen:
            "\(path): cannot be opened; its directory must exist and belong to the user of the service"
        case .busy:
            "\(path): in use by another process; stop that one first"
        case .replaced:
            "\(path): deleted or replaced while in use; it is written anew from what is open, and the service starts again"
        case .foreign:
            "\(path): belongs to another program; set another gateway.state_directory"
        case .newerVersion(let found, let supported):
            "\(path): written by a later ingestd (schema \(found), this one knows up to \(supported)); install that version again"
        case .missing:
            "\(path): there is no queue; it is made when the service first starts"
        case .olderVersion:
            "\(path): written by an earlier ingestd; start the service once, which brings it up to date"
        case .notAFile(let name):
            "\(name): expected a file of the queue, and something else is in its place; move that away"
        case .other(let code):
            "\(path): SQLite reports code \(code)"
        }
    }
}
