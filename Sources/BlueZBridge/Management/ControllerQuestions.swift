/// Whether a controller answers, told by how long each of some questions took. The kernel gives an answer
/// HCI_CMD_TIMEOUT, 2 s, and the end of a question is the same with and without one.
///
/// One quick end says nothing: the timer of a command that was not answered before may run out a moment after that, and
/// ends the next (net/bluetooth/hci_core.c, hci_cmd_timeout), whose own timer then ends the one behind it a little early.
/// Seen on Linux 6.12, 34 ms after the command before, which was a question or a part of a power off. Two in a row are
/// answers.
struct ControllerQuestions {
    /// What no answer takes. Controllers were seen to take 1.1 s.
    private static let late = Duration.milliseconds(1_500)

    /// Nil: another question tells.
    private(set) var answers: Bool?
    private var lateCount = 0
    private var wasQuick = false

    mutating func ended(after time: Duration) {
        if time >= Self.late {
            lateCount += 1
            wasQuick = false
            if lateCount == 2 { answers = false }
        } else {
            if wasQuick { answers = true }
            wasQuick = true
        }
    }
}
