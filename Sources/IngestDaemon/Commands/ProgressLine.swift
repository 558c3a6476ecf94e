import Glibc

/// A line on a terminal that shows how far something is; nothing anywhere else.
final class ProgressLine {
    private static let width = 20
    /// How often it changes.
    private static let interval = Duration.milliseconds(200)

    private let isShown = isatty(STDERR_FILENO) == 1
    private var last: ContinuousClock.Instant?
    private var isNoted = false
    private var pace: Pace?

    /// From now on the pace is measured.
    /// - Parameter share: what has been done already, from 0 to 1.
    func beginPace(at share: Double) {
        pace = Pace(from: .now, done: share)
    }

    /// - Parameter share: from 0 to 1.
    func show(_ share: Double, records: Int) {
        isNoted = false
        guard isShown, last.map({ ContinuousClock.now - $0 >= Self.interval }) ?? true else { return }
        last = .now
        let rate = pace?.rate(of: records, at: .now).map { ", \($0) a second" } ?? ""
        let left = pace?.secondsLeft(at: share, .now).map { ", \(Age(seconds: $0)) left" } ?? ""
        draw(share, records, rate + left)
    }

    private func draw(_ share: Double, _ records: Int, _ pace: String = "") {
        let full = Int(share * Double(Self.width))
        let bar = String(repeating: "#", count: full) + String(repeating: "-", count: Self.width - full)
        StandardError.draw(
            "\r[\(bar)] \(Int(share * 100)) %, \(records.counted("record"))\(pace)\u{1B}[K")
    }

    /// Says something once, until it goes on.
    func note(_ words: String) {
        guard !isNoted else { return }
        isNoted = true
        if isShown { StandardError.draw("\n") }
        StandardError.print("ingestd: \(words)")
    }

    /// - Parameter records: nil where it broke off, and the line stays as it is.
    func end(records: Int?) {
        guard isShown, last != nil else { return }
        if let records { draw(1, records) }
        StandardError.draw("\n")
    }
}
