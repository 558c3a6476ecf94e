/// `ingestd status` for people: at most 80 columns, but for words that are longer. Nothing in it but its own colours moves
/// a terminal.
package struct StatusTable: Sendable {
    private let status: GatewayStatus
    private let usesColours: Bool

    /// - Parameter usesColours: whether what is well and what is not is coloured, as on a terminal.
    package init(_ status: GatewayStatus, usesColours: Bool) {
        self.status = status
        self.usesColours = usesColours
    }

    package var lines: [String] {
        var lines = [
            "ingestd \(TerminalText.line(status.version)) on \(TerminalText.line(status.gateway)), up \(Age(seconds: status.uptime)): "
                + (status.isHealthy ? colour("healthy", .green) : colour("not healthy", .red))
        ]
        lines += status.problems.flatMap {
            TerminalText.wrapped("  ! \(TerminalText.line($0))", indentation: 4)
        }
        lines.append("clock     \(clock)")
        lines.append("adapters  \(TerminalText.line(adapters))")
        lines.append("queue     \(TerminalText.line(queue))")
        lines.append("")
        lines += peripherals + tags
        lines.append("")
        lines += destinations
        return lines
    }

    private var clock: String {
        if status.isClockRight { return "right" }
        return "not known to be right; \(status.undated.counted("reading waits", "readings wait")) for it"
    }

    private var adapters: String {
        if status.adapters.isEmpty { return "none" }
        return status.adapters.map { adapter in
            guard adapter.isListening else {
                return "\(adapter.name) does not listen (\(adapter.reason ?? "unknown"))"
            }
            guard adapter.links < adapter.configuredLinks else { return "\(adapter.name) listens" }
            let links = adapter.links == 1 ? "1 link" : "\(adapter.links) links"
            return "\(adapter.name) listens (\(links) at a time: its controller refused more)"
        }.joined(separator: ", ")
    }

    private var queue: String {
        let free = status.queue.diskFreeBytes.map { "; \(Size(bytes: $0)) free on its disk" } ?? ""
        let used = status.queue.bytes.map { Size(bytes: $0).description } ?? "unknown"
        return "\(status.queue.level), \(used) of \(Size(bytes: status.queue.maximumBytes))\(free)"
    }

    private var peripherals: [String] {
        guard !status.peripherals.isEmpty else {
            return [
                "No peripherals: nothing is read. Name devices in the configuration",
                "(ingestd peripherals lists the models), then systemctl reload ingestd.",
            ]
        }
        let rows = status.peripherals.map { peripheral -> [String] in
            let signal = peripheral.signal.map { "\($0) dBm" } ?? "-"
            let battery = peripheral.battery.map { "\($0) %" } ?? "-"
            let bond = peripheral.isBonded.map { $0 ? "yes" : "no" } ?? "-"
            return [
                peripheral.label, peripheral.state.rawValue, Self.age(peripheral.lastSeen), signal,
                Self.age(peripheral.lastReading), battery, bond,
            ]
        }
        return Self.table(
            ["PERIPHERAL", "STATE", "SEEN", "SIGNAL", "READING", "BATTERY", "BOND"], rows, first: 21)
    }

    /// Which device a tag stands for in the metrics, where one does.
    private var tags: [String] {
        status.peripherals.compactMap { peripheral in
            guard peripheral.alias == nil || !peripheral.isPinned, let tag = peripheral.tag,
                let address = peripheral.address
            else { return nil }
            return "\(tag) in the metrics is \(address)"
        }
    }

    private var destinations: [String] {
        guard !status.destinations.isEmpty else {
            return [
                status.queue.bytes == nil
                    ? "Destinations are not shown: the queue cannot be asked."
                    : "No destinations: readings are kept."
            ]
        }
        let rows = status.destinations.map { destination -> [String] in
            [
                destination.name, destination.state, String(destination.pending),
                Self.age(destination.oldest), Self.age(destination.lastSubmit),
                Self.age(destination.nextTry), String(destination.failed),
            ]
        }
        var lines = Self.table(
            ["DESTINATION", "STATE", "WAITING", "OLDEST", "SUBMIT", "NEXT TRY", "FAILED"], rows, first: 19)
        for destination in status.destinations {
            if let user = destination.user {
                let was = destination.state == GatewayStatus.Destination.signedOut ? "was " : ""
                let id = destination.userID.map { " (\($0) there)" } ?? ""
                let how = ([user + id] + destination.authentication).joined(separator: ", by ")
                lines += TerminalText.wrapped(
                    TerminalText.line("\(destination.name): \(was)signed in for \(how)"), indentation: 2)
            }
            if let error = destination.lastError {
                lines += TerminalText.wrapped(
                    TerminalText.line("\(destination.name): \(error)"), indentation: 2)
            }
        }
        return lines
    }

    private static func age(_ seconds: Int?) -> String {
        seconds.map { Age(seconds: $0).description } ?? "-"
    }

    /// - Parameter first: the most columns of the first column; what is longer is cut.
    private static func table(_ heads: [String], _ rows: [[String]], first: Int) -> [String] {
        let rows = rows.map { $0.map { TerminalText.line($0) } }
        let all = [heads] + rows.map { [TerminalText.cut($0[0], to: first)] + $0.dropFirst() }
        let widths = heads.indices.map { column in
            all.map { TerminalText.width(of: $0[column]) }.max() ?? 0
        }
        return all.map { row in
            var line = ""
            for (text, width) in zip(row, widths) {
                line += TerminalText.padded(text, to: width + 2)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    private enum Colour: Int {
        case red = 31
        case green = 32
    }

    private func colour(_ text: String, _ colour: Colour) -> String {
        usesColours ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }
}

/// An amount of memory for people.
struct Size: CustomStringConvertible {
    let bytes: UInt64

    var description: String {
        var (amount, tenths, unit) = (bytes, UInt64(0), 0)
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        while amount >= 1024, unit + 1 < units.count {
            tenths = amount % 1024 * 10 / 1024
            amount /= 1024
            unit += 1
        }
        return unit == 0 || amount >= 100 ? "\(amount) \(units[unit])" : "\(amount).\(tenths) \(units[unit])"
    }
}
