/// What a session tells of how far it is, each thing once: the scheduler decides by it whether the link is worth more
/// than that of a device that waits.
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
