import FoundationEssentials
import Glibc

/// The evidence for a bug report as one text: no reading, no secret, no address, no person.
struct DoctorReport: Sendable {
    /// A part of the report; its lines are redacted before they are shown.
    struct Section: Sendable {
        let title: String
        let lines: [String]
    }

    /// Of the whole text, in bytes.
    static let limit = 256 << 10
    /// Of the journal.
    private static let mostEntries = 200

    private let configuration: RedactedConfiguration
    private let secrets: [String]

    /// - Parameter secrets: the contents of credentials.
    init(configuration: RedactedConfiguration, secrets: [String]) {
        self.configuration = configuration
        self.secrets = secrets
    }

    init(_ examination: Examination) {
        let credentials = examination.credentials
        self.init(
            configuration: RedactedConfiguration(path: examination.path),
            secrets: examination.check.configuration.map { configuration in
                configuration.allCredentials.compactMap { try? credentials.read($0).text }
                    // A key in PEM has lines; so may others have.
                    .flatMap { [$0] + $0.split(whereSeparator: \.isWhitespace).map(String.init) }
            } ?? [])
    }

    /// The whole text, at most 256 KiB: of the longest part, the journal, which comes last, the end is kept.
    func text(_ sections: [Section], journal: Section) -> String {
        var text = """
            Report of ingestd doctor, for a bug report.
            It holds no readings. The journal's lines name records and devices by tags; they hold no
            measured values, by design. Secrets, addresses, aliases, subjects and the URLs of the
            configuration were taken out: [removed]. Look through it before you send it.

            """
        for section in sections { text += shown(section) }
        text = Self.prefix(of: text, bytes: Self.limit / 2)
        let room = Self.limit - text.utf8.count - 100
        var kept: [String] = []
        var bytes = 0
        for line in journal.lines.reversed() {
            let line = redacted(line)
            bytes += line.utf8.count + 1
            guard bytes <= room else { break }
            kept.append(line)
        }
        return text + "\n== \(journal.title) ==\n" + kept.reversed().map { $0 + "\n" }.joined()
    }

    private func shown(_ section: Section) -> String {
        "\n== \(section.title) ==\n" + section.lines.map { redacted($0) + "\n" }.joined()
    }

    private func redacted(_ line: String) -> String {
        TerminalText.line(configuration.redacted(line, secrets: secrets))
    }

    /// As many whole lines as fit.
    private static func prefix(of text: String, bytes: Int) -> String {
        guard text.utf8.count > bytes else { return text }
        let kept = String(decoding: Array(text.utf8.prefix(bytes)), as: UTF8.self)
        return (kept.lastIndex(of: "\n").map { String(kept[...$0]) } ?? "")
            + "(the rest of this part is left out)\n"
    }

    // MARK: - The parts

    /// Everything but the journal.
    func sections(_ examination: Examination, _ findings: [Finding]) -> [Section] {
        let redactedFindings = findings.map { finding in
            Finding(
                check: finding.check, level: finding.level, destination: finding.destination,
                message: redacted(finding.message), remedy: finding.remedy.map(redacted))
        }
        return [
            Section(title: "Versions", lines: Self.versions),
            Section(title: "Findings", lines: FindingList(findings: redactedFindings).lines),
            Section(title: "Unit", lines: Self.lines(examination.unit)),
            Section(title: "Status", lines: examination.status.map(Self.lines) ?? ["no service answers"]),
            Section(title: "Check", lines: examination.check.diagnostics.prefix(200).map(\.eventText)),
            Section(title: "Configuration", lines: configuration.lines),
        ]
    }

    static func journal() -> Section {
        let entries = JournalTail.read(unit: ServiceUnit.name, count: mostEntries)
        return Section(
            title: "Journal of \(ServiceUnit.name)",
            lines: entries.map { entries in
                entries.map { "\(ReadingTime.text($0.seconds, offset: nil)) \($0.message)" }
            } ?? ["there is none, or not for this user"])
    }

    private static var versions: [String] {
        func first(_ path: String) -> String {
            let bytes = (try? BoundedFile.read(path, limit: 64 << 10)) ?? []
            return String(String(decoding: bytes, as: UTF8.self).prefix { $0 != "\n" })
        }
        let system = (try? BoundedFile.read("/etc/os-release", limit: 64 << 10)).map {
            String(decoding: $0, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }
                ?? ""
        }
        return [
            "ingestd \(Version.current)", first("/proc/version"), String(system ?? ""),
        ]
    }

    private static func lines(_ unit: ServiceUnit.Answer) -> [String] {
        switch unit {
        case .noSystemd: ["no systemd"]
        case .noAnswer: ["systemd does not answer"]
        case .known(let unit):
            [
                "LoadState=\(unit.loadState)", "UnitFileState=\(unit.fileState)",
                "ActiveState=\(unit.activeState)", "Result=\(unit.result)",
                "ExecMainStatus=\(unit.exitStatus)", "NRestarts=\(unit.restarts)", "User=\(unit.user)",
            ] + unit.credentials.keys.sorted().map { "LoadCredential=\($0)" }
        }
    }

    /// Counters, without what names a device or a person.
    private static func lines(_ status: GatewayStatus) -> [String] {
        var lines = [
            "version \(status.version), up \(status.uptime) s, clock right \(status.isClockRight), undated "
                + "\(status.undated)",
            "queue \(status.queue.level), \(status.queue.bytes ?? 0) of \(status.queue.maximumBytes) bytes, disk "
                + "\(status.queue.diskFreeBytes ?? 0) bytes free",
        ]
        lines += status.adapters.map {
            "\($0.name) listening \($0.isListening), links \($0.links) of \($0.configuredLinks), resets \($0.resets)"
                + ($0.reason.map { ", \($0)" } ?? "")
        }
        lines += status.peripherals.prefix(500).map { peripheral in
            let ages =
                "seen \(peripheral.lastSeen.map(String.init) ?? "-") s ago, read "
                + "\(peripheral.lastReading.map(String.init) ?? "-") s ago"
            return "device of model \(peripheral.id) \(peripheral.state.rawValue), \(ages), failures "
                + "\(peripheral.failures ?? 0), bonded \(peripheral.isBonded.map(String.init) ?? "-")"
        }
        lines += status.destinations.map {
            "\($0.name) \($0.state), pending \($0.pending), submitted \($0.submitted), failed \($0.failed), skipped "
                + "\($0.skipped)" + ($0.lastError.map { ", \($0)" } ?? "")
        }
        return lines
    }
}
