import FoundationEssentials
import Synchronization

/// Who may use the page: whoever opens, first and once, the address that the command has printed.
final class ConsoleSession: Sendable {
    /// Why a key opens nothing.
    enum Refusal: Error {
        case unknown
        /// Somebody has used it.
        case used
    }

    private struct State {
        var isKeyUsed = false
        var lastRequest: MonotonicInstant
    }

    private static let cookieName = "ingestd-console"

    /// What stands behind the # of the address, so that no browser sends it with a request of its own.
    let key: String
    private let secret: String
    private let clock: any GatewayClock
    private let state: Mutex<State>

    init(clock: any GatewayClock) {
        self.clock = clock
        key = Self.random()
        secret = Self.random()
        state = Mutex(State(lastRequest: clock.now))
    }

    /// When the last request came that was let in; the start before the first.
    var lastRequest: MonotonicInstant { state.withLock { $0.lastRequest } }

    /// - Returns: the header Set-Cookie for the one who has the key.
    func open(with text: String) throws(Refusal) -> String {
        guard Self.isEqual(text, key) else { throw .unknown }
        let wasUsed = state.withLock { state in
            defer { state.isKeyUsed = true }
            return state.isKeyUsed
        }
        guard !wasUsed else { throw .used }
        note()
        return "\(Self.cookieName)=\(secret); Path=/; HttpOnly; SameSite=Strict"
    }

    /// Whether a request has the cookie, which counts as use of the page.
    /// - Parameter cookies: the header Cookie.
    func isOpen(to cookies: String?) -> Bool {
        let isOpen = (cookies ?? "").split(separator: ";").contains { pair in
            let parts = pair.split(separator: "=", maxSplits: 1)
            return parts.count == 2 && parts[0].drop(while: { $0 == " " }) == Self.cookieName
                && Self.isEqual(String(parts[1]), secret)
        }
        if isOpen { note() }
        return isOpen
    }

    private func note() {
        let now = clock.now
        state.withLock { $0.lastRequest = now }
    }

    /// 128 bits of the system's random numbers.
    private static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return Hex.text((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// Takes as long for a text that is right at its beginning as for any other of its length.
    private static func isEqual(_ one: String, _ other: String) -> Bool {
        guard one.utf8.count == other.utf8.count else { return false }
        return zip(one.utf8, other.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
