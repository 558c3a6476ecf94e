/// All findings of the doctor, as they are shown.
struct FindingList: Sendable, Equatable {
    let findings: [Finding]

    var errors: Int { findings.count { $0.level == .error } }
    var warnings: Int { findings.count { $0.level == .warning } }

    /// Lines of at most 80 columns, in groups. Each finding begins a line; its remedy begins another, below it.
    var lines: [String] {
        var lines: [String] = []
        for group in Finding.Group.allCases {
            let members = findings.filter { $0.check.group == group }
            guard !members.isEmpty else { continue }
            lines.append(group.title)
            for finding in members {
                let subject = finding.destination.map { "\($0): " } ?? ""
                let level = TerminalText.padded(finding.level.rawValue, to: 8)
                lines += TerminalText.wrapped(
                    "  \(level)" + TerminalText.line(subject + finding.message), indentation: 10)
                if let remedy = finding.remedy {
                    lines += TerminalText.wrapped(
                        "          do: " + TerminalText.line(remedy), indentation: 14)
                }
            }
        }
        return lines + [summary]
    }

    /// One line with the sums.
    var summary: String {
        "\(errors == 0 ? "good" : "not good"): \(errors.counted("error")), \(warnings.counted("warning")), "
            + "\(findings.count - errors - warnings) ok"
    }

    /// One JSON object.
    var json: String {
        struct Item: Encodable {
            let group: String
            let check: String
            let level: String
            let destination: String?
            let message: String
            let remedy: String?
        }
        struct Whole: Encodable {
            let ok: Bool
            let errors: Int
            let warnings: Int
            let findings: [Item]
        }
        return JSONLine.encode(
            Whole(
                ok: errors == 0, errors: errors, warnings: warnings,
                findings: findings.map {
                    Item(
                        group: $0.check.group.rawValue, check: $0.check.rawValue, level: $0.level.rawValue,
                        destination: $0.destination, message: $0.message, remedy: $0.remedy)
                }))
    }
}

extension Finding.Group {
    fileprivate var title: String {
        switch self {
        case .box: "Box"
        case .bluetooth: "Bluetooth"
        case .configuration: "Configuration"
        case .destinations: "Destinations"
        }
    }
}
