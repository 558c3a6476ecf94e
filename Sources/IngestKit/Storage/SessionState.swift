/// Where the session of a destination stands that files under one person.
package enum SessionState: Sendable, Equatable {
    /// Nobody was signed in yet.
    case none
    /// Signed in for this person; the number tells one session from the next.
    case open(account: String, number: Int64)
    /// Ended, so that the operator has to begin the next one; it was this person's. Nil where nobody knows whose it
    /// was, because that was lost with a damaged file.
    case ended(account: String?)

    package var account: String? {
        switch self {
        case .none: nil
        case .open(let account, _): account
        case .ended(let account): account
        }
    }

    /// Whether what was read until now may be another person's.
    package func mayBeAnothers(than account: String) -> Bool {
        self != .none && self.account != account
    }
}
