/// The octet in front of each segment of a value that is sent in several (GATT Specification Supplement: Blood Pressure
/// Record, Live Health Observations, Stored Health Observations).
struct SegmentHeader {
    let isFirst: Bool
    let isLast: Bool
    /// Modulo 64.
    private let counter: UInt8

    init(_ octet: UInt8) {
        isFirst = octet & 1 << 0 != 0
        isLast = octet & 1 << 1 != 0
        counter = octet >> 2
    }

    private func follows(_ other: SegmentHeader) -> Bool {
        !isFirst && !other.isLast && counter == (other.counter &+ 1) & 0b11_1111
    }

    /// What segments make up, the newest last.
    enum Joined {
        /// All of the value, without the headers.
        case whole([UInt8])
        case incomplete
        /// The newest does not belong to those before it.
        case unrelated
    }

    /// - Parameter longest: bytes of the value.
    static func join(_ segments: [[UInt8]], longest: Int) throws(DecodeError) -> Joined {
        var previous: SegmentHeader?
        var value: [UInt8] = []
        for segment in segments {
            guard let octet = segment.first else { return .unrelated }
            let header = SegmentHeader(octet)
            if let previous, !header.follows(previous) { return .unrelated }
            previous = header
            value += segment.dropFirst()
            guard value.count <= longest else { throw .tooLong(count: value.count, limit: longest) }
        }
        return previous?.isLast == true ? .whole(value) : .incomplete
    }
}
