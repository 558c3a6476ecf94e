/// Tells which samples of a document are alone with their name, in the same little memory whatever the document is:
/// the names are counted in a table that holds no names. Two names can share a place, which makes them samples that may
/// have equals. A sample that shares its name is never taken for one that is alone.
struct SampleCensus {
    /// What is known of a name when the document is read again.
    enum Standing {
        /// No other sample has it.
        case alone
        case mayHaveEquals
        /// It was not there when they were counted, or not so often.
        case unknown
    }

    private enum Mark {
        static let none: UInt8 = 0
        static let once: UInt8 = 1
        static let more: UInt8 = 2
        /// Was there once, and was asked for.
        static let given: UInt8 = 3
    }

    private let places: Int
    private var marks: [UInt8]

    /// - Parameter places: of two bits each, a power of two. By default they take 16 MiB: of 4,000,000 different names
    ///   six in a hundred share a place.
    init(places: Int = 1 << 26) {
        self.places = places
        marks = [UInt8](repeating: 0, count: places / 4)
    }

    /// Counts a sample.
    mutating func count(_ name: String) {
        let place = place(of: name)
        self[place] = self[place] == Mark.none ? Mark.once : Mark.more
    }

    /// Asks for a sample's standing, once for each sample that was counted.
    mutating func standing(of name: String) -> Standing {
        let place = place(of: name)
        switch self[place] {
        case Mark.once:
            self[place] = Mark.given
            return .alone
        case Mark.more: return .mayHaveEquals
        default: return .unknown
        }
    }

    private subscript(place: Int) -> UInt8 {
        get { marks[place / 4] >> (place % 4 * 2) & 3 }
        set {
            let shift = place % 4 * 2
            marks[place / 4] = marks[place / 4] & ~(3 << shift) | newValue << shift
        }
    }

    /// By a hash that differs in each run, so that no document can be made for it.
    private func place(of name: String) -> Int { name.hashValue & (places - 1) }
}
