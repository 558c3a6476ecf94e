/// What stands in front of the first element of an export. Apple's has a document type that is no good XML from iOS 16
/// on, and says nothing that is needed: it is left out.
package struct HealthExportProlog: Sendable {
    package enum Failure: Error, Equatable {
        /// There is no such element.
        case noExport
        /// It defines entities, which no export of Apple's does.
        case entities
    }

    /// Apple's is 12 kB.
    private static let longest = 256 << 10
    private static let element = Array("<HealthData".utf8)
    private static let entity = Array("<!ENTITY".utf8)

    private var held: [UInt8] = []
    private var isOver = false
    /// How many lines it had.
    package private(set) var lines = 0

    package init() {}

    /// What of the next bytes is the document: nothing while the first element has not come, then all.
    /// - Parameter isLast: whether no more come.
    package mutating func pass(_ bytes: ArraySlice<UInt8>, isLast: Bool) throws(Failure) -> ArraySlice<UInt8>
    {
        if isOver { return bytes }
        held += bytes
        guard let start = held.firstRange(of: Self.element)?.lowerBound else {
            if isLast || held.count > Self.longest { throw .noExport }
            return []
        }
        guard held[..<start].firstRange(of: Self.entity) == nil else { throw .entities }
        lines = held[..<start].count { $0 == UInt8(ascii: "\n") }
        isOver = true
        defer { held = [] }
        return held[start...]
    }
}

extension UInt8 {
    /// Control characters, which XML does not allow and notes in exports have: a blank in their place.
    package var allowedInXML: UInt8 {
        self < 0x20 && self != 0x09 && self != 0x0A && self != 0x0D ? 0x20 : self
    }
}
