/// What is told of a device's clock that is wrong (`clock-skew`). Pure.
struct ClockSkew: Equatable {
    /// What becomes of the clock.
    enum Remedy {
        case wasSet
        case cannotBeSet
        /// The gateway could not set it on that link.
        case isSetNext
        /// The gateway is not to set it.
        case byHand
        /// The gateway could not, if it were to.
        case byHandAlone
    }

    /// Told once in this time of each device, in seconds.
    static let interval: Int64 = 86_400

    let message: String

    /// Nil where the clock is right enough.
    /// - Parameter observed: nil for a clock that shows no date.
    init?(_ observed: ClockObservation?, _ remedy: Remedy) {
        let offset = observed?.offsetSeconds
        if let offset, abs(offset) <= ClockObservation.noticedSeconds { return nil }
        let difference =
            offset.map { "it is \(Self.length($0)) \($0 > 0 ? "ahead" : "behind")" } ?? "it shows no date"
        let consequence =
            switch remedy {
            case .wasSet: "it was set"
            case .cannotBeSet: "the peripheral does not let itself be set"
            case .isSetNext: "it is set at its next reading"
            case .byHand: "set it as its manual says, or with \"clock: set\""
            case .byHandAlone: "set it as its manual says"
            }
        message = "\(difference); \(consequence)"
    }

    /// Whether this was within the last day; what lies ahead was noted by a clock that has been set since.
    /// - Parameters:
    ///   - moment: in seconds since 1970; nil for never.
    ///   - seconds: now.
    static func isRecent(_ moment: Int64?, at seconds: Int64) -> Bool {
        moment.map { (0..<interval).contains(seconds - $0) } ?? false
    }

    private static func length(_ seconds: Int) -> String {
        // To the nearest: clocks show whole seconds, so that an hour is read as a second less, or more.
        let minutes = (seconds.magnitude + 30) / 60
        return switch minutes {
        case ..<120: "\(minutes) min"
        case ..<2_880: "\(minutes / 60) h"
        default: "\(minutes / 1_440) days"
        }
    }
}
