/// What was meant by a word that is mistyped.
package enum Spelling {
    /// Of a word and of a candidate, in bytes: what is longer is no name.
    private static let longest = 64

    /// The candidate within the fewest edits, if those are at most a third of its letters (and
    /// two at least, so that short words can be mistyped too). Candidates may come out of a file: one that is too long
    /// for a name, or has control characters, is none.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let letters = Array(word.lowercased().utf8.prefix(longest))
        let names = candidates.filter {
            $0.utf8.count <= longest && !$0.unicodeScalars.contains(where: \.isControl)
        }
        let scored = names.map { ($0, distance(letters, Array($0.lowercased().utf8))) }
        guard let best = scored.min(by: { $0.1 < $1.1 }) else { return nil }
        return best.1 <= max(2, best.0.utf8.count / 3) && best.1 < best.0.utf8.count ? best.0 : nil
    }

    /// Damerau-Levenshtein distance with adjacent transpositions (optimal string alignment).
    static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
        var beforeLast = [Int](repeating: 0, count: b.count + 1)
        var last = Array(0...b.count)
        for i in 1...a.count {
            var row = [i] + [Int](repeating: 0, count: b.count)
            for j in 1...b.count {
                row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    row[j] = min(row[j], beforeLast[j - 2] + 1)
                }
            }
            beforeLast = last
            last = row
        }
        return last[b.count]
    }
}
