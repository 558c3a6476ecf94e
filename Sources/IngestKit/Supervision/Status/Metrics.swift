/// The gateway's metrics in the text format of Prometheus (prometheus.io/docs/instrumenting/exposition_formats,
/// version 0.0.4). Moments are in seconds since 1970 by the system clock: when it is set, those of this run move with it.
/// docs/monitoring.md lists all.
package struct Metrics: Sendable {
    private enum Kind: String {
        case counter, gauge
    }

    private struct Sample {
        let labels: [(name: String, value: String)]
        let value: String
    }

    private let clocks: ClockReading?
    private var text = ""

    package init(_ status: GatewayStatus) {
        clocks = status.clocks
        family(
            "ingestd_build_info", .gauge, "The version that runs.", [Self.one(1, ("version", status.version))]
        )
        family(
            "ingestd_healthy", .gauge, "1 when nothing needs somebody.", [Self.one(status.isHealthy ? 1 : 0)])
        moment("ingestd_start_time_seconds", "When the service started.", status.startedAt)
        family(
            "ingestd_clock_right", .gauge, "1 when the system clock is known to be right.",
            [Self.one(status.isClockRight ? 1 : 0)])
        family(
            "ingestd_undated_readings", .gauge, "Readings that wait for the clock.",
            [Self.one(status.undated)])
        family(
            "ingestd_adapter_listening", .gauge, "1 when the adapter listens.",
            status.adapters.map { Self.one($0.isListening ? 1 : 0, ("adapter", $0.name)) })
        family(
            "ingestd_kernel_defect", .gauge, "1 when the running kernel is known to fail.",
            [Self.one(status.kernelDefect == nil ? 0 : 1)])
        family(
            "ingestd_config_last_reload_successful", .gauge, "0 when the last reload was rejected.",
            [Self.one(status.rejectedReload == nil ? 1 : 0)])
        moment(
            "ingestd_config_last_reload_success_timestamp_seconds",
            "When the configuration in force was read: the last reload that was taken, or the start.",
            status.activity.reloads.last ?? status.startedAt)
        add(status.activity)
        add(status.peripherals)
        add(status.destinations)
        add(status.queue)
    }

    package var description: String { text }

    private mutating func add(_ activity: Activity) {
        family(
            "ingestd_readings_total", .counter, "New records of peripherals.",
            [Self.one(activity.readings.count)])
        last("ingestd_last_reading_timestamp_seconds", activity.readings)
        family(
            "ingestd_read_failures_total", .counter, "Reads that failed.",
            [Self.one(activity.readFailures.count)])
        last("ingestd_last_read_failure_timestamp_seconds", activity.readFailures)
        family(
            "ingestd_decode_errors_total", .counter, "Payloads and broadcasts that could not be decoded.",
            [Self.one(activity.decodeErrors.count)])
        last("ingestd_last_decode_error_timestamp_seconds", activity.decodeErrors)
        family(
            "ingestd_config_reloads_total", .counter, "Reloads of the configuration.",
            [
                Self.one(activity.reloads.count, ("result", "taken")),
                Self.one(activity.rejectedReloads.count, ("result", "rejected")),
            ])
    }

    /// A metric that is always there, as Prometheus advises (prometheus.io/docs/practices/instrumentation, "Avoid missing
    /// metrics").
    private mutating func last(_ name: String, _ tally: Activity.Tally) {
        guard let clocks else { return }
        family(
            name, .gauge, "When the last one was; 0 before the first one since the start.",
            [Self.one(tally.last.map(clocks.wallSeconds) ?? 0)])
    }

    private mutating func moment(_ name: String, _ help: String, _ instant: MonotonicInstant?) {
        guard let clocks, let instant else { return }
        family(name, .gauge, help, [Self.one(clocks.wallSeconds(at: instant))])
    }

    private mutating func add(_ peripherals: [GatewayStatus.Peripheral]) {
        let heard = peripherals.filter { $0.address != nil }
        let clocks = clocks
        func samples(_ value: (GatewayStatus.Peripheral) -> Int?) -> [Sample] {
            heard.compactMap { peripheral in
                value(peripheral).map { Sample(labels: Self.labels(of: peripheral), value: "\($0)") }
            }
        }
        family(
            "ingestd_peripheral_last_seen_timestamp_seconds", .gauge,
            "When the peripheral was heard last.",
            samples { $0.seenAt.flatMap { clocks?.wallSeconds(at: $0) } })
        family(
            "ingestd_peripheral_last_reading_timestamp_seconds", .gauge,
            "When its newest record came.",
            samples { $0.readAt.map(Self.seconds) })
        family("ingestd_peripheral_signal_dbm", .gauge, "Its signal when it was heard.", samples(\.signal))
        family(
            "ingestd_peripheral_battery_ratio", .gauge, "Its battery, 0 to 1.",
            heard.compactMap { peripheral in
                peripheral.battery.map { percent in
                    let hundredths = percent % 100 < 10 ? "0\(percent % 100)" : "\(percent % 100)"
                    return Sample(
                        labels: Self.labels(of: peripheral), value: "\(percent / 100).\(hundredths)")
                }
            })
        family(
            "ingestd_peripheral_bond_missing", .gauge, "1 when it has to be paired.",
            samples { $0.state == .bondMissing ? 1 : 0 })
    }

    /// What tells a device from all others: an entry for a model stands for several, which its alias does not tell
    /// apart. Everybody may read it: it is the address's tag, and not the address.
    private static func labels(
        of peripheral: GatewayStatus.Peripheral
    ) -> [(name: String, value: String)] {
        let labels = [("id", String(peripheral.id)), ("peripheral", peripheral.publicLabel)]
        guard !peripheral.isPinned, let tag = peripheral.tag else { return labels }
        return labels + [("tag", tag)]
    }

    /// Up to whole 64 KiB. Everybody on the box may read the metrics, and a count to the byte tells how many digits a
    /// reading has.
    private static func rounded(_ bytes: UInt64) -> UInt64 {
        let unit: UInt64 = 64 << 10
        return (bytes + unit - 1) / unit * unit
    }

    private mutating func add(_ destinations: [GatewayStatus.Destination]) {
        func samples(_ value: (GatewayStatus.Destination) -> Int?) -> [Sample] {
            destinations.compactMap { destination in
                value(destination).map { Self.one($0, ("destination", destination.name)) }
            }
        }
        family(
            "ingestd_destination_up", .gauge, "1 when the destination answers as it should.",
            samples { $0.state == GatewayStatus.Destination.notConfigured ? nil : $0.state == "up" ? 1 : 0 })
        family("ingestd_records_pending", .gauge, "Records that it has not taken yet.", samples(\.pending))
        family(
            "ingestd_records_oldest_pending_timestamp_seconds", .gauge, "When the oldest of them came.",
            samples { $0.oldestAt.map(Self.seconds) })
        family(
            "ingestd_records_submitted_total", .counter, "Records that it has taken.", samples(\.submitted))
        family("ingestd_records_set_aside", .gauge, "Records that it does not take.", samples(\.failed))
        family("ingestd_records_without_form", .gauge, "Records that it has no form for.", samples(\.skipped))
    }

    private mutating func add(_ queue: GatewayStatus.Queue) {
        if let bytes = queue.bytes {
            family("ingestd_queue_bytes", .gauge, "What the queue holds.", [Self.one(bytes)])
        }
        family("ingestd_queue_max_bytes", .gauge, "What it may hold.", [Self.one(queue.maximumBytes)])
        family(
            "ingestd_queue_takes_readings", .gauge, "1 while there is room for readings.",
            [Self.one(queue.level == "normal" || queue.level == "high" ? 1 : 0)])
        if let strangers = queue.strangers {
            if let bytes = strangers.bytes {
                family(
                    "ingestd_queue_strangers_bytes", .gauge,
                    "What devices hold of it that the allow-list does not name by address, up to whole 64 KiB.",
                    [Self.one(Self.rounded(bytes))]
                )
            }
            family(
                "ingestd_queue_strangers_max_bytes", .gauge, "What they may hold.",
                [Self.one(strangers.maximumBytes)])
            family(
                "ingestd_queue_strangers_full", .gauge,
                "How many of them are not read because they hold as much as one may.",
                [Self.one(strangers.fullDevices)])
            family(
                "ingestd_queue_takes_strangers", .gauge,
                "1 while there is room for readings of such devices.",
                [Self.one(strangers.isFull ? 0 : 1)])
        }
        if let free = queue.diskFreeBytes {
            family("ingestd_disk_free_bytes", .gauge, "Free on the queue's disk.", [Self.one(free)])
        }
    }

    /// In whole seconds, from nanoseconds.
    private static func seconds(_ nanoseconds: Int64) -> Int { Int(nanoseconds / 1_000_000_000) }

    private static func one(_ value: some BinaryInteger, _ labels: (name: String, value: String)...) -> Sample
    {
        Sample(labels: labels, value: "\(value)")
    }

    /// A family without samples is left out.
    private mutating func family(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
        guard !samples.isEmpty else { return }
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        for sample in samples {
            let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }
            text += name + (labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}") + " \(sample.value)\n"
        }
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}

extension ClockReading {
    /// What the wall clock showed, or would have shown, at `instant`, in whole seconds since 1970.
    fileprivate func wallSeconds(at instant: MonotonicInstant) -> Int {
        Int(wallNanoseconds(at: instant) / 1_000_000_000)
    }
}
