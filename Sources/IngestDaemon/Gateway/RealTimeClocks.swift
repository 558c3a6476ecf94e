import FoundationEssentials

/// The box's real-time clocks. /dev/rtc* is not there for the hardened unit; their times are in /sys.
enum RealTimeClocks {
    static let directory = "/sys/class/rtc"

    /// What each shows, in seconds since 1970. One that has lost its time gives none.
    static func times(in directory: String = directory) -> [Int64] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.compactMap { name in
            guard
                let text = try? String(contentsOfFile: "\(directory)/\(name)/since_epoch", encoding: .utf8)
            else { return nil }
            return Int64(text.filter { !$0.isWhitespace })
        }
    }
}
