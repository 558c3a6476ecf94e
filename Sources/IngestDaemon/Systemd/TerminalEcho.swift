import Glibc

/// Whether the terminal of standard input shows what is typed (termios(3)).
enum TerminalEcho {
    /// - Returns: whether standard input is a terminal that does so from now on.
    @discardableResult
    static func set(_ isShown: Bool) -> Bool {
        var settings = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return false }
        if isShown {
            settings.c_lflag |= tcflag_t(ECHO)
        } else {
            settings.c_lflag &= ~tcflag_t(ECHO)
        }
        return unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) == 0
    }
}
