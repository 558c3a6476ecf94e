/// The tables of the queue, each declared once. A test holds them against the file's, so that none is left out when a
/// damaged file is saved.
enum QueueTable: String, CaseIterable {
    case record
    case destination
    case batch
    case deadLetter = "dead_letter"
    case imageBatch = "image_batch"
    case ahead
    case device
    case unconfirmed
    case outbox
    case pendingPacket = "pending_packet"
    case acquaintance
    case spentPairing = "spent_pairing"
    case foundClock = "found_clock"
    case retained
    case assignment
    case counter
    case stranger
    case mending

    /// What becomes of its rows when the queue is copied out of a damaged file.
    enum Salvage: Equatable {
        /// They are taken as they are, in the order of these columns.
        case copied(by: String)
        /// Something is decided with them (`QueueSalvage`).
        case judged
        /// They are made anew: most follow from other rows.
        case derived
    }

    var salvage: Salvage {
        switch self {
        case .record, .destination, .batch, .deadLetter, .imageBatch, .ahead: .judged
        case .device: .copied(by: "address, address_type")
        case .unconfirmed: .copied(by: "address")
        case .outbox: .copied(by: "sequence")
        case .pendingPacket: .copied(by: "address, characteristic, ordinal")
        case .acquaintance: .copied(by: "key")
        case .spentPairing: .copied(by: "entry")
        case .foundClock: .copied(by: "boot_id")
        case .retained: .copied(by: "id")
        case .assignment: .copied(by: "record_seq, destination")
        case .counter, .stranger, .mending: .derived
        }
    }
}
