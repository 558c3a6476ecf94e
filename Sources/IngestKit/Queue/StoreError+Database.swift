import FoundationEssentials
import GRDB
import SystemPackage

extension StoreError {
    init(_ error: DatabaseError, path: String) {
        let kind: Kind =
            switch error.resultCode {
            case .SQLITE_FULL: .full
            case .SQLITE_READONLY, .SQLITE_PERM: .readOnly
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: .corrupt
            // A row with a value of another type than its column has, found when another column of it is set.
            case .SQLITE_CONSTRAINT where error.extendedResultCode == .SQLITE_CONSTRAINT_DATATYPE: .corrupt
            // Some file systems turn read-only by themselves. What was synced before is there all the same.
            case .SQLITE_IOERR
            where error.extendedResultCode == .SQLITE_IOERR_WRITE
                && !FileManager.default.isWritableFile(atPath: path):
                .readOnly
            case .SQLITE_IOERR: .ioError
            case .SQLITE_CANTOPEN: .cannotOpen
            case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
            default: .other(code: error.extendedResultCode.rawValue)
            }
        self.init(kind, path: path)
    }

    /// What the system said of a file beside the queue's.
    init(_ error: Errno, path: String) {
        let kind: Kind =
            switch error {
            case .noSpace, .diskQuotaExceeded: .full
            case .readOnlyFileSystem, .permissionDenied, .notPermitted: .readOnly
            case .ioError: .ioError
            default: .other(code: error.rawValue)
            }
        self.init(kind, path: path)
    }

    /// An error of the database in our terms; another one as it is.
    static func of(_ error: any Error, path: String) -> any Error {
        // A value of another type than was written.
        if error is RowDecodingError { return StoreError(.corrupt, path: path) }
        if let error = error as? Errno { return StoreError(error, path: path) }
        return (error as? DatabaseError).map { StoreError($0, path: path) } ?? error
    }
}
