import Crypto
import FoundationEssentials
import GRDB

/// What a row of the table `record` says, if it is what was written.
enum RecordRow {
    /// The condition of rows of the device that an operator names.
    static let isOfDevice = "(alias = ? OR address = ? OR peripheral_id = ?)"

    /// - Parameter name: an alias, an address or a catalogue ID.
    static func arguments(ofDevice name: String) -> [(any DatabaseValueConvertible)?] {
        [name, name.uppercased(), Int(name)]
    }

    /// The first bytes of the SHA-256 of what must not change unseen.
    /// - Parameters:
    ///   - undated: what decides its time, while that is not decided.
    ///   - route: what decides where it goes. Nil is for rows that earlier versions wrote, without it; they are told
    ///     by the length.
    static func checksum(
        id: String, kind: String, payload: Data, body: String, undated: String? = nil,
        route: RecordRoute? = nil
    ) -> Data {
        var hash = SHA256()
        // All but the payload, which may be an image, in two pieces: each by itself takes more than its hash.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(body.utf8.count + (undated?.utf8.count ?? 0) + 200)
        bytes += id.utf8
        bytes.append(0)
        bytes += kind.utf8
        bytes.append(0)
        hash.update(data: bytes)
        hash.update(data: payload)
        bytes.removeAll(keepingCapacity: true)
        bytes.append(0)
        bytes += body.utf8
        if let undated {
            bytes.append(0)
            bytes += undated.utf8
        }
        if let route {
            for part in [String(route.peripheralID), route.alias, route.destinations] {
                // What is absent is not the same as what is empty.
                bytes.append(0)
                bytes.append(part == nil ? 0 : 1)
                bytes += (part ?? "").utf8
            }
        }
        hash.update(data: bytes)
        return Data(hash.finalize().prefix(route == nil ? checksumLengthWithoutRoute : 20))
    }

    /// In bytes.
    static let checksumLengthWithoutRoute = 16

    /// Whether a row of the table `record` passes its checksum.
    static func isIntact(_ row: Row) -> Bool {
        guard let id: String = row.intact("id"), let kind: String = row.intact("kind"),
            let payload: Data = row.intact("payload"), let body: String = row.intact("body"),
            let found: Data = row.intact("checksum")
        else { return false }
        var route: RecordRoute?
        if found.count != checksumLengthWithoutRoute {
            guard let columns = RecordRoute(row) else { return false }
            route = columns
        }
        return found
            == checksum(
                id: id, kind: kind, payload: payload, body: body, undated: row.intact("undated"), route: route
            )
    }

    /// Whether a record fails its checksum, and how long its payload is.
    static func inspect(sequence: Int64, _ db: Database) throws -> (isDamaged: Bool, bytes: Int) {
        let row = try Row.fetchOne(
            try db.cachedStatement(sql: "SELECT * FROM record WHERE seq = ?"), arguments: [sequence])
        guard let row else { return (true, 0) }
        return (!isIntact(row), (row.intact("payload") as Data?)?.count ?? 0)
    }

    /// Its canonical JSON; nil where it fails its checksum.
    static func body(sequence: Int64, _ db: Database) throws -> String? {
        let row = try Row.fetchOne(
            try db.cachedStatement(sql: "SELECT * FROM record WHERE seq = ?"), arguments: [sequence])
        return row.flatMap { isIntact($0) ? $0.intact("body") : nil }
    }

    /// Nil when the row is not what was written.
    static func header(_ row: Row) -> RecordHeader? {
        guard let id: String = row.intact("id"), let kind: String = row.intact("kind"),
            let kind = RecordKind(rawValue: kind), let peripheralID: Int = row.intact("peripheral_id"),
            let text: String = row.intact("address"), let address = BluetoothAddress(text)
        else { return nil }
        let destinations: String? = row.intact("destinations")
        return RecordHeader(
            id: RecordID(text: id), kind: kind, peripheralID: peripheralID, address: address,
            alias: row.intact("alias"),
            destinations: destinations.map { Set($0.split(separator: "\n").map(String.init)) })
    }

    /// The record that a row of the table `record` is the image of; nil for a reading, and where it does not say so.
    static func imageOf(_ row: Row) -> RecordReference? {
        guard row.intact("kind") == RecordKind.image.rawValue else { return nil }
        return (row.intact("body") as String?).flatMap(RecordContent.init)?.imageOf
    }
}

extension RecordRoute {
    /// Nil when the row is not what was written.
    init?(_ row: Row) {
        guard let peripheralID: Int = row.intact("peripheral_id") else { return nil }
        self.init(
            peripheralID: peripheralID, alias: row.intact("alias"), destinations: row.intact("destinations"))
    }
}
