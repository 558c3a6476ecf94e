/// Reports the progress of a session, each step once. The scheduler needs it to decide whether the session keeps its link
/// when another device waits.
final class ReadProgress {
    private let report: @Sendable (ReadScheduler.Progress) async -> Void
    private var told: Set<ReadScheduler.Progress> = []

    init(_ report: @escaping @Sendable (ReadScheduler.Progress) async -> Void) {
        self.report = report
    }

    func tell(_ progress: ReadScheduler.Progress) async {
        guard told.insert(progress).inserted else { return }
        await report(progress)
    }
}
