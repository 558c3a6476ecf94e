import FoundationEssentials
import TestSupport
import Testing

@testable import IngestSupervision

@Suite struct StatusTests {
    private static func status(
        adapters: [GatewayStatus.Adapter] = [.init(name: "hci0", isListening: true)],
        peripherals: [GatewayStatus.Peripheral] = [cuff],
        destinations: [GatewayStatus.Destination] = [clinic],
        level: String = "normal", isClockRight: Bool = true, undated: Int = 0,
        strangers: FullStrangers? = nil
    ) -> GatewayStatus {
        var status = GatewayStatus(
            version: "1.2.3", gateway: "ward-3-box-1", uptime: 273_600, isClockRight: isClockRight,
            undated: undated, adapters: adapters, peripherals: peripherals, destinations: destinations,
            queue: .init(
                bytes: 4_299_161, maximumBytes: 1 << 30, level: level, diskFreeBytes: 13_099_650_252,
                strangers: strangers.map {
                    .init(bytes: 1_000_000, share: StrangerShare(maximumSize: 1 << 30), full: $0)
                }))
        status.clocks = clocks
        status.startedAt = MonotonicInstant(nanoseconds: 0)
        return status
    }

    private static let clocks = ClockReading(
        instant: MonotonicInstant(nanoseconds: 273_600_000_000_000), wallNanoseconds: DrivenClock.morning)
    private static let cuff = {
        var cuff = GatewayStatus.Peripheral(
            id: 1001, alias: "kitchen cuff", address: "F1:F1:F1:F1:F1:F1", isPinned: true, state: .quieting,
            lastSeen: 3, signal: -61, lastReading: 7_300, battery: 5, isBonded: true)
        cuff.seenAt = MonotonicInstant(nanoseconds: 273_597_000_000_000)
        cuff.readAt = DrivenClock.morning - 7_300_000_000_000
        return cuff
    }()
    private static let clinic = {
        var clinic = GatewayStatus.Destination(
            name: "clinic", state: "up", pending: 0, submitted: 1_203, failed: 0, lastSubmit: 130)
        clinic.oldestAt = DrivenClock.morning - 60_000_000_000
        return clinic
    }()

    @Test func anAdapterWhoseControllerTakesFewerLinksSaysSo() {
        for (links, words) in [
            (3, "hci0 listens"), (1, "hci0 listens (1 link at a time: its controller refused more)"),
        ] {
            let status = Self.status(adapters: [.init(name: "hci0", isListening: true, links: links)])
            #expect(StatusTable(status, usesColours: false).lines.contains("adapters  \(words)"))
        }
    }

    @Test func forWhomItIsSignedInIsSaid() {
        var junction = GatewayStatus.Destination(
            name: "junction", state: "up", pending: 0, submitted: 1, failed: 0, user: "patient-17",
            userID: "7a3f", authentication: ["sign-in-token"])
        let lines = { StatusTable(Self.status(destinations: [junction]), usesColours: false).lines }
        #expect(lines().contains("junction: signed in for patient-17 (7a3f there), by sign-in-token"))
        junction.state = GatewayStatus.Destination.signedOut
        junction.userID = nil
        #expect(lines().contains("junction: was signed in for patient-17, by sign-in-token"))
    }

    @Test func aHealthyGatewayFitsEightyColumns() {
        var long = Self.cuff
        long.alias = "the blood pressure monitor of the second floor"
        long.state = .bondMissing
        let status = Self.status(peripherals: [Self.cuff, long])
        let lines = StatusTable(Self.status(), usesColours: false).lines
        #expect(
            lines == [
                "ingestd 1.2.3 on ward-3-box-1, up 3 d: healthy",
                "clock     right",
                "adapters  hci0 listens",
                "queue     normal, 4.0 MiB of 1.0 GiB; 12.1 GiB free on its disk",
                "",
                "PERIPHERAL    STATE     SEEN  SIGNAL   READING  BATTERY  BOND",
                "kitchen cuff  quieting  3 s   -61 dBm  2 h      5 %      yes",
                "",
                "DESTINATION  STATE  WAITING  OLDEST  SUBMIT  NEXT TRY  FAILED",
                "clinic       up     0        -       2 min   -         0",
            ])
        let table = StatusTable(status, usesColours: false).lines
        #expect(table.allSatisfy { $0.count <= 80 })
        #expect(table[1].hasPrefix("  ! the blood pressure") && table[2].hasPrefix("    "))
    }

    @Test func aKernelWithADefectIsAProblemAndAMetric() {
        let status = GatewayStatus(
            version: "1.2.3", gateway: "box", uptime: 1, isClockRight: true, undated: 0, adapters: [],
            peripherals: [], destinations: [], queue: .init(bytes: 1, maximumBytes: 2, level: "normal"),
            kernelDefect: "6.1.192-2", troubles: ["Linux 6.1.192-2 crashes"])
        #expect(status.problems == ["Linux 6.1.192-2 crashes"])
        #expect(Metrics(status).description.contains("\ningestd_kernel_defect 1\n"))
        #expect(Metrics(Self.status()).description.contains("\ningestd_kernel_defect 0\n"))
    }

    @Test func aRejectedReloadIsAProblemAndAMetric() throws {
        let status = GatewayStatus(
            version: "1.2.3", gateway: "box", uptime: 1, isClockRight: true, undated: 0, adapters: [],
            peripherals: [], destinations: [], queue: .init(bytes: 1, maximumBytes: 2, level: "normal"),
            rejectedReload: "c.yaml:1:1: pasive", troubles: ["the last reload was rejected"])
        #expect(!status.isHealthy && status.problems == ["the last reload was rejected"])
        #expect(Metrics(status).description.contains("\ningestd_config_last_reload_successful 0\n"))
        #expect(Metrics(Self.status()).description.contains("\ningestd_config_last_reload_successful 1\n"))
        let json = String(decoding: try JSONEncoder().encode(status), as: UTF8.self)
        #expect(json.contains(#""rejected_reload":"c.yaml:1:1: pasive""#))
    }

    /// Two columns each on a terminal.
    @Test func wideCharactersKeepTheTableStraight() throws {
        var wide = Self.cuff
        wide.alias = "台所の血圧計"
        let lines = StatusTable(Self.status(peripherals: [Self.cuff, wide]), usesColours: false).lines
        let rows = lines.filter { $0.contains("quieting") }
        let columns = try rows.map { row in
            let place = try #require(row.firstRange(of: "quieting"))
            return TerminalText.width(of: row[..<place.lowerBound])
        }
        #expect(columns == [14, 14])
        #expect(TerminalText.cut("台所の血圧計", to: 6) == "台所…")
    }

    @Test func strangersWithoutRoomNeedSomebodyAndAreInTheMetrics() throws {
        let way =
            "name your own by address, and see which destination has not taken their readings"
        let device = DeviceAddress.device(1).address
        let cases: [(FullStrangers, String?)] = [
            (FullStrangers(), nil),
            (
                FullStrangers(devices: [device]),
                "a device without an address in the allow-list fills its share of the queue and is not read: \(way)"
            ),
            (
                FullStrangers(isAll: true, devices: [device]),
                "devices without an address in the allow-list fill their tenth of the queue and are not read: \(way)"
            ),
        ]
        for (full, problem) in cases {
            let status = Self.status(strangers: full)
            #expect(status.problems == [problem].compactMap(\.self))
            let metrics = Metrics(status).description
            #expect(metrics.contains("\ningestd_queue_strangers_bytes 1048576\n"))
            #expect(metrics.contains("\ningestd_queue_strangers_max_bytes 107374182\n"))
            #expect(metrics.contains("\ningestd_queue_strangers_full \(full.devices.count)\n"))
            #expect(metrics.contains("\ningestd_queue_takes_strangers \(full.isAll ? 0 : 1)\n"))
            let text = String(decoding: try JSONEncoder().encode(status), as: UTF8.self)
            #expect(text.contains(#""full_devices":\#(full.devices.count)"#))
        }
    }

    @Test func coloursAreForTerminalsAlone() {
        #expect(StatusTable(Self.status(), usesColours: true).lines[0].contains("\u{1B}[32mhealthy"))
        #expect(!StatusTable(Self.status(), usesColours: false).lines.joined().contains("\u{1B}"))
    }

    @Test func whatNeedsSomebodyIsAProblem() {
        var lost = Self.cuff
        lost.state = .bondMissing
        func problems(_ status: GatewayStatus) -> [String] {
            #expect(status.isHealthy == status.problems.isEmpty)
            return status.problems
        }
        func destination(_ state: String) -> [String] {
            var changed = Self.clinic
            changed.state = state
            return problems(Self.status(destinations: [changed]))
        }
        #expect(problems(Self.status()) == [])
        #expect(
            problems(Self.status(adapters: [.init(name: "hci0", isListening: false, reason: "powered off")]))
                == ["no Bluetooth adapter listens: hci0 powered off"])
        #expect(problems(Self.status(adapters: [])) == ["no Bluetooth adapter listens"])
        #expect(
            problems(Self.status(peripherals: [lost]))
                == ["kitchen cuff must be paired: ingestd pair F1:F1:F1:F1:F1:F1"])
        var mute = Self.cuff
        mute.failures = 9
        #expect(problems(Self.status(peripherals: [mute])) == [])
        mute.failures = 10
        #expect(
            problems(Self.status(peripherals: [mute]))
                == ["kitchen cuff could not be read 10 times in a row: journalctl INGEST_EVENT=read-failed"])
        #expect(problems(Self.status(level: "high")) == ["the queue is nearly full"])
        #expect(problems(Self.status(level: "full")) == ["the queue is full: nothing is read"])
        #expect(problems(Self.status(level: "disk-full")) == ["the disk is full: nothing is read"])
        #expect(
            problems(Self.status(isClockRight: false, undated: 2))
                == ["the system clock is not known to be right, and 2 readings wait for it"])
        #expect(
            problems(Self.status(isClockRight: false, undated: 1))
                == ["the system clock is not known to be right, and a reading waits for it"])
        #expect(problems(Self.status(isClockRight: false)) == [])
        #expect(destination("down") == ["clinic is down: it is tried again by itself"])
        #expect(
            destination("auth-rejected") == ["clinic rejects the credential: replace it, then ingestd reload"]
        )
        #expect(destination("signed-out") == ["clinic is not signed in: ingestd sign-in clinic"])
        #expect(
            destination("misconfigured")
                == ["clinic does not take requests there: see its url in the configuration"])
        var behind = Self.clinic
        (behind.state, behind.pending, behind.lastError) = ("down", 12, "HTTP 503")
        #expect(
            problems(Self.status(destinations: [behind]))
                == ["clinic is down (HTTP 503), 12 waiting: it is tried again by itself"])
        #expect(
            Self.status(destinations: [behind]).line.hasPrefix(
                "needs somebody: clinic is down, 12 waiting: it is tried again by itself; listening"))
        var refusing = Self.clinic
        refusing.failed = 1
        #expect(
            problems(Self.status(destinations: [refusing])) == ["clinic refused a record: ingestd failed"])
        refusing.failed = 3
        #expect(
            problems(Self.status(destinations: [refusing])) == ["clinic refused 3 records: ingestd failed"])
    }

    /// Its records are kept, and delivered when it is back: that is for whoever looks, and no trouble.
    @Test func aDestinationThatWasTakenOutIsShown() {
        let gone = GatewayStatus.Destination(
            name: "trial", state: GatewayStatus.Destination.notConfigured, pending: 7, submitted: 3, failed: 0
        )
        let status = Self.status(destinations: [Self.clinic, gone])
        #expect(status.isHealthy)
        #expect(
            StatusTable(status, usesColours: false).lines.contains { $0.hasPrefix("trial        not-conf") })
        let metrics = Metrics(status).description
        #expect(metrics.contains(#"ingestd_records_pending{destination="trial"} 7"#))
        #expect(!metrics.contains(#"ingestd_destination_up{destination="trial"}"#))
    }

    /// Of what is not known nothing is told, in the metrics too.
    @Test func aQueueThatCannotBeAskedIsNotWell() {
        let status = GatewayStatus(
            version: "1.2.3", gateway: "ward-3-box-1", uptime: 9, isClockRight: true, undated: 0,
            adapters: [.init(name: "hci0", isListening: true)], peripherals: [], destinations: [],
            queue: .init(bytes: nil, maximumBytes: 1 << 30, level: "normal"),
            troubles: ["the queue cannot be asked: the disk reports an error"])
        #expect(!status.isHealthy)
        #expect(status.problems == ["the queue cannot be asked: the disk reports an error"])
        #expect(status.line.contains("the disk reports an error"))
        #expect(
            StatusTable(status, usesColours: false).lines.contains("queue     normal, unknown of 1.0 GiB"))
        #expect(
            StatusTable(status, usesColours: false).lines.contains(
                "Destinations are not shown: the queue cannot be asked."))
        #expect(!Metrics(status).description.contains("ingestd_queue_bytes"))
    }

    /// As shipped: it is well, and says how to go on.
    @Test func anEmptyAllowListIsHealthy() {
        let status = Self.status(peripherals: [], destinations: [])
        #expect(status.isHealthy)
        #expect(status.line.contains("the allow-list is empty"))
        #expect(StatusTable(status, usesColours: false).lines.contains { $0.contains("nothing is read") })
        // Without a reason to listen an adapter that is missing is no trouble, and is not waited for.
        let idle = Self.status(adapters: [], peripherals: [], destinations: [])
        #expect(idle.isHealthy)
        #expect(
            idle.line
                == "the allow-list is empty, so nothing is read: name devices in the configuration, then "
                + "systemctl reload ingestd")
    }

    @Test func theLineBeginsWithWhatNeedsSomebody() {
        #expect(Self.status().line == "listening on 1 adapter; 1 device; clinic up, 0 waiting")
        let lost = Self.status(adapters: [.init(name: "hci0", isListening: false, reason: "powered off")])
        #expect(
            lost.line == "needs somebody: no Bluetooth adapter listens: hci0 powered off; 1 device; "
                + "clinic up, 0 waiting")
    }

    @Test func metricsAreInTheTextFormat() {
        var named = Self.cuff
        named.alias = "a \"b\" \\"
        let lines = Metrics(Self.status(peripherals: [named])).description.split(separator: "\n")
        #expect(lines.contains("# TYPE ingestd_records_submitted_total counter"))
        #expect(lines.contains(#"ingestd_records_submitted_total{destination="clinic"} 1203"#))
        #expect(lines.contains(#"ingestd_peripheral_battery_ratio{id="1001",peripheral="a \"b\" \\"} 0.05"#))
        #expect(lines.contains("ingestd_healthy 1"))
        let labels = #"{id="1001",peripheral="a \"b\" \\"}"#
        #expect(lines.contains("ingestd_peripheral_last_seen_timestamp_seconds\(labels) 1795166097"))
        #expect(lines.contains("ingestd_peripheral_last_reading_timestamp_seconds\(labels) 1795158800"))
        #expect(
            lines.contains(
                #"ingestd_records_oldest_pending_timestamp_seconds{destination="clinic"} 1795166040"#))
        #expect(lines.contains("ingestd_start_time_seconds 1794892500"))
        #expect(lines.contains("ingestd_queue_max_bytes 1073741824"))
        // Each family is announced once, before its samples.
        let announced = lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
        #expect(Set(announced).count == announced.count)
        for line in lines where !line.hasPrefix("#") {
            let name = line.prefix { $0 != "{" && $0 != " " }
            #expect(announced.contains(name), "\(line)")
        }
    }

    /// Prometheus refuses all of what it is given when one series occurs twice.
    @Test func devicesOfOneEntryAreDifferentSeries() {
        var (first, second) = (Self.cuff, Self.cuff)
        (first.isPinned, second.isPinned) = (false, false)
        second.address = "F1:F1:F1:F1:F1:F2"
        (first.tag, second.tag) = ("ea8ca072", "0a1b2c3d")
        let lines = Metrics(Self.status(peripherals: [first, second])).description.split(separator: "\n")
        let series = lines.filter { !$0.hasPrefix("#") }.map {
            $0.split(separator: " ").dropLast().joined(separator: " ")
        }
        #expect(Set(series).count == series.count)
        #expect(series.contains { $0.contains(#"peripheral="kitchen cuff",tag="ea8ca072""#) })
        let pinned = Metrics(Self.status()).description
        #expect(!pinned.contains("tag="), "its alias tells it apart")
    }

    /// Everybody on the box may read the metrics, and what the service manager shows.
    @Test(arguments: [true, false], [nil, "ea8ca072"])
    func noAddressIsWhereEverybodyMayRead(isPinned: Bool, tag: String?) {
        var (nameless, mute) = (Self.cuff, Self.cuff)
        nameless.alias = nil
        (nameless.isPinned, mute.isPinned) = (isPinned, isPinned)
        nameless.state = .bondMissing
        (mute.alias, mute.failures) = (nil, 10)
        (nameless.tag, mute.tag) = (tag, tag)
        let status = Self.status(peripherals: [nameless, mute])
        let label = tag ?? "model 1001"
        for text in [Metrics(status).description, status.line] {
            #expect(!text.contains("F1:F1") && text.contains(label))
        }
        #expect(status.line.contains("\(label) must be paired: ingestd status"))
        #expect(status.line.contains("\(label) could not be read 10 times in a row"))
        // Who may ask is told all, and which label is whose.
        #expect(status.problems[0] == "F1:F1:F1:F1:F1:F1 must be paired: ingestd pair F1:F1:F1:F1:F1:F1")
        let lines = StatusTable(status, usesColours: false).lines
        #expect(lines.contains { $0.hasPrefix("F1:F1:F1:F1:F1:F1") })
        #expect(lines.contains("ea8ca072 in the metrics is F1:F1:F1:F1:F1:F1") == (tag != nil))
        // It goes over the control socket.
        let data = try? JSONEncoder().encode(status)
        #expect(
            data.flatMap { try? JSONDecoder().decode(GatewayStatus.self, from: $0) }?.peripherals[0].tag
                == tag)
    }

    @Test func theDocumentNamesEveryMetric() throws {
        // This file is three folders below the project's.
        let project = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let page = try String(contentsOf: project.appending(path: "docs/monitoring.md"), encoding: .utf8)
        let lines = Metrics(Self.status(strangers: FullStrangers())).description.split(separator: "\n")
        let announced = lines.filter { $0.hasPrefix("# TYPE ") }.map { String($0.split(separator: " ")[2]) }
        let told = Set(page.matches(of: /`(ingestd_[a-z_]+)`/).map { String($0.1) })
        #expect(told == Set(announced))
    }

    @Test func aFullBatteryIsOne() {
        var full = Self.cuff
        full.battery = 100
        #expect(
            Metrics(Self.status(peripherals: [full])).description
                .contains(#"ingestd_peripheral_battery_ratio{id="1001",peripheral="kitchen cuff"} 1.00"#))
    }
}
