import BlueZBridge
import TestSupport

extension DrivenClock {
    /// Moves the clock, and has the loop look at it.
    func advance(by duration: Duration, _ loop: RadioLoop) async {
        // What the test waited for was told in the middle of a turn: the deadline that the same turn sets is one from
        // before the move.
        await loop.turned()
        advance(by: duration)
        // Deadlines are looked at after the work at hand; with the second turn they are done.
        await loop.turned()
        await loop.turned()
    }
}
