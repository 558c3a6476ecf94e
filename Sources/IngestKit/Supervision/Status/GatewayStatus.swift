/// How the gateway fares at one moment, as `ingestd status` and the metrics tell it. No measured value is in it, and no
/// person but the one for whom it is signed in at a destination. Ages and waits are in whole seconds. What the metrics tell
/// alone is not encoded.
package struct GatewayStatus: Codable, Sendable, Equatable {
    package struct Adapter: Codable, Sendable, Equatable {
        /// As the kernel names it, such as hci0.
        package var name: String
        package var isListening: Bool
        /// Why it does not.
        package var reason: String?
        /// How many links it may have at a time now.
        package var links: Int
        /// How many the configuration allows.
        package var configuredLinks: Int
        /// How often it was switched off and on because it did not work any more.
        package var resets: Int
        /// Whether that has not helped.
        package var isBeyondHelp: Bool

        enum CodingKeys: String, CodingKey {
            case name, reason, links, resets
            case isBeyondHelp = "beyond_help"
            case isListening = "listening"
            case configuredLinks = "links_configured"
        }

        package init(
            name: String, isListening: Bool, reason: String? = nil, links: Int = 3, configuredLinks: Int = 3,
            resets: Int = 0, isBeyondHelp: Bool = false
        ) {
            self.resets = resets
            self.isBeyondHelp = isBeyondHelp
            self.name = name
            self.isListening = isListening
            self.reason = reason
            self.links = links
            self.configuredLinks = configuredLinks
        }
    }

    package struct Peripheral: Codable, Sendable, Equatable {
        /// Where it stands between two reads.
        package enum State: String, Codable, Sendable {
            /// It was not heard since the start.
            case unheard
            /// It is read when it is heard next.
            case idle
            /// It was heard, and is read when its adapter is free.
            case waiting
            case reading
            /// It was read, and goes on advertising.
            case quieting
            /// It was silent after its read; a pause follows.
            case cooling
            /// Its last read failed.
            case backingOff = "backing-off"
            /// Its bond is missing, or it does not take its keys.
            case bondMissing = "bond-missing"
        }

        /// Reads in a row that fail without anything being wrong are fewer: a device at the edge of the range, or
        /// one that ends its links early, gives something in between.
        static let tooManyFailures = 10

        /// The model's number in the catalogue.
        package var id: Int
        package var alias: String?
        /// Nil for an entry for a model of which no device was heard.
        package var address: String?
        /// Whether the entry names the address, so that it stands for one device.
        package var isPinned: Bool
        package var state: State
        package var lastSeen: Int?
        /// In dBm, as the adapter heard it that hears it best.
        package var signal: Int?
        /// Of its newest record.
        package var lastReading: Int?
        /// In percent.
        package var battery: Int?
        /// Nil where nobody who keeps bonds can be asked.
        package var isBonded: Bool?
        /// Reads in a row that failed; nil where it was not heard.
        package var failures: Int?
        /// Stands for the address where everybody may read: in the metrics, and in the service manager's line.
        package var tag: String?
        /// When it was heard last; for the metrics.
        package var seenAt: MonotonicInstant?
        /// When its newest record was committed, in nanoseconds since 1970; for the metrics.
        package var readAt: Int64?

        enum CodingKeys: String, CodingKey {
            case id, alias, address, state, signal, battery, failures, tag
            case isPinned = "pinned"
            case lastSeen = "last_seen_s"
            case lastReading = "last_reading_s"
            case isBonded = "bonded"
        }

        package init(
            id: Int, alias: String?, address: String?, isPinned: Bool, state: State, lastSeen: Int? = nil,
            signal: Int? = nil, lastReading: Int? = nil, battery: Int? = nil, isBonded: Bool? = nil,
            failures: Int? = nil, tag: String? = nil
        ) {
            self.id = id
            self.alias = alias
            self.address = address
            self.isPinned = isPinned
            self.state = state
            self.lastSeen = lastSeen
            self.signal = signal
            self.lastReading = lastReading
            self.battery = battery
            self.isBonded = isBonded
            self.failures = failures
            self.tag = tag
        }
    }

    package struct Destination: Codable, Sendable, Equatable {
        /// Of a destination without a session to deliver in; in the place of what its requests say of it.
        package static let signedOut = "signed-out"

        /// Of one that the configuration does not name any more, and for which the queue holds something.
        package static let notConfigured = DestinationState.notConfigured.rawValue

        package var name: String
        /// up, down, auth-rejected, misconfigured, signed-out or not-configured.
        package var state: String
        /// Records that it has not taken yet; of one that is not configured 10,000 at most.
        package var pending: Int
        /// How long the oldest of them has been in the queue.
        package var oldest: Int?
        /// Records that it has taken, ever.
        package var submitted: Int
        /// Records that are set aside for it.
        package var failed: Int
        /// Records that it has no form for.
        package var skipped: Int
        /// Since the last record that it took since the start.
        package var lastSubmit: Int?
        /// Why the last request did not succeed; nil when one has succeeded since.
        package var lastError: String?
        /// Until the next request.
        package var nextTry: Int?
        /// For whom the gateway is signed in there, or was the last time; nil where it files under each record's own person,
        /// or nobody was signed in.
        package var user: String?
        /// The destination's own id of that person, where it has told one.
        package var userID: String?
        /// How requests show who sends them, in the words of `AuthenticationKind`.
        package var authentication: [String]
        /// When the oldest record that it has not taken was committed, in nanoseconds since 1970; for the metrics.
        package var oldestAt: Int64?

        enum CodingKeys: String, CodingKey {
            case name, state, pending, submitted, failed, skipped, user, authentication
            case userID = "user_id"
            case oldest = "oldest_s"
            case lastSubmit = "last_submit_s"
            case lastError = "last_error"
            case nextTry = "next_try_s"
        }

        package init(
            name: String, state: String, pending: Int, oldest: Int? = nil, submitted: Int, failed: Int,
            skipped: Int = 0, lastSubmit: Int? = nil, lastError: String? = nil, nextTry: Int? = nil,
            user: String? = nil, userID: String? = nil, authentication: [String] = []
        ) {
            self.user = user
            self.userID = userID
            self.authentication = authentication
            self.name = name
            self.state = state
            self.pending = pending
            self.oldest = oldest
            self.submitted = submitted
            self.failed = failed
            self.skipped = skipped
            self.lastSubmit = lastSubmit
            self.lastError = lastError
            self.nextTry = nextTry
        }
    }

    /// What unpinned devices hold of the queue: devices that the allow-list does not name by address.
    package struct Strangers: Codable, Sendable, Equatable {
        /// At most, in bytes; nil where the queue cannot be asked.
        package var bytes: UInt64?
        /// What they may hold, in bytes.
        package var maximumBytes: UInt64
        /// Whether none of them is read, for want of room.
        package var isFull: Bool
        /// How many hold as much as one may, so that they are not read.
        package var fullDevices: Int

        enum CodingKeys: String, CodingKey {
            case bytes
            case maximumBytes = "max_bytes"
            case isFull = "full"
            case fullDevices = "full_devices"
        }

        package init(bytes: UInt64?, share: StrangerShare, full: FullStrangers) {
            self.bytes = bytes
            maximumBytes = UInt64(clamping: share.all)
            isFull = full.isAll
            fullDevices = full.devices.count
        }
    }

    package struct Queue: Codable, Sendable, Equatable {
        /// Of its file that are in use, in bytes; nil where it cannot be asked.
        package var bytes: UInt64?
        /// What it may hold, in bytes.
        package var maximumBytes: UInt64
        /// normal, high, full or disk-full.
        package var level: String
        /// Free on its disk, in bytes.
        package var diskFreeBytes: UInt64?
        /// Of that, what unpinned devices hold.
        package var strangers: Strangers?

        enum CodingKeys: String, CodingKey {
            case bytes, level, strangers
            case maximumBytes = "max_bytes"
            case diskFreeBytes = "disk_free_bytes"
        }

        package init(
            bytes: UInt64?, maximumBytes: UInt64, level: String, diskFreeBytes: UInt64? = nil,
            strangers: Strangers? = nil
        ) {
            self.strangers = strangers
            self.bytes = bytes
            self.maximumBytes = maximumBytes
            self.level = level
            self.diskFreeBytes = diskFreeBytes
        }
    }

    /// Whether nothing is in `problems`.
    package var isHealthy: Bool
    /// What needs somebody, a sentence each.
    package var problems: [String]
    package var version: String
    package var gateway: String
    /// Since the start.
    package var uptime: Int
    /// Whether the system clock is known to be right.
    package var isClockRight: Bool
    /// Readings that wait for it.
    package var undated: Int
    package var adapters: [Adapter]
    package var peripherals: [Peripheral]
    package var destinations: [Destination]
    package var queue: Queue
    /// The version of the running kernel if it is known to fail.
    package var kernelDefect: String?
    /// Why the last reload was rejected; nil if it was taken, or there was none.
    package var rejectedReload: String?
    /// What was counted since the start; for the metrics.
    package var activity = Activity()
    /// When the service started; for the metrics.
    package var startedAt: MonotonicInstant?
    /// What both clocks showed then, by which the metrics give the moments above; without it they leave them out.
    package var clocks: ClockReading?
    /// What needs somebody and is in none of the parts above.
    private var troubles: [String] = []

    enum CodingKeys: String, CodingKey {
        case problems, version, gateway, undated, adapters, peripherals, destinations, queue
        case isHealthy = "healthy"
        case uptime = "uptime_s"
        case isClockRight = "clock_right"
        case kernelDefect = "kernel_defect"
        case rejectedReload = "rejected_reload"
    }
}

extension GatewayStatus {
    /// - Parameter troubles: what needs somebody and is in none of the other parts, a sentence each.
    package init(
        version: String, gateway: String, uptime: Int, isClockRight: Bool, undated: Int, adapters: [Adapter],
        peripherals: [Peripheral], destinations: [Destination], queue: Queue, kernelDefect: String? = nil,
        rejectedReload: String? = nil, troubles: [String] = []
    ) {
        self.version = version
        self.gateway = gateway
        self.uptime = uptime
        self.isClockRight = isClockRight
        self.undated = undated
        self.adapters = adapters
        self.peripherals = peripherals
        self.destinations = destinations
        self.queue = queue
        self.kernelDefect = kernelDefect
        self.rejectedReload = rejectedReload
        isHealthy = true
        problems = []
        self.troubles = troubles
        problems = findProblems(isPublic: false)
        isHealthy = problems.isEmpty
    }

    /// - Parameter isPublic: whether everybody on the box may read them, so that no address is in them.
    private func findProblems(isPublic: Bool) -> [String] {
        var found: [String] = []
        if !peripherals.isEmpty, !adapters.contains(where: \.isListening) {
            let reasons = adapters.compactMap { adapter in adapter.reason.map { "\(adapter.name) \($0)" } }
            found.append(
                "no Bluetooth adapter listens"
                    + (reasons.isEmpty ? "" : ": \(reasons.joined(separator: ", "))"))
        }
        for adapter in adapters where adapter.isBeyondHelp {
            found.append(
                "\(adapter.name) does not work, and switching it off and on does not help: "
                    + "unplug it and plug it in again, or restart the box")
        }
        switch queue.level {
        case "high": found.append("the queue is nearly full")
        case "full": found.append("the queue is full: nothing is read")
        case "disk-full": found.append("the disk is full: nothing is read")
        default: break
        }
        if let problem = queue.strangers?.problem { found.append(problem) }
        if !isClockRight, undated > 0 {
            found.append(
                "the system clock is not known to be right, and "
                    + (undated == 1 ? "a reading waits for it" : "\(undated) readings wait for it"))
        }
        for peripheral in peripherals {
            let label = isPublic ? peripheral.publicLabel : peripheral.label
            if peripheral.state == .bondMissing {
                let order = isPublic ? "ingestd status" : "ingestd pair \(peripheral.address ?? "")"
                found.append("\(label) must be paired: \(order)")
            } else if peripheral.failsTooOften, let failures = peripheral.failures {
                found.append(
                    "\(label) could not be read \(failures) times in a row: "
                        + "journalctl INGEST_EVENT=read-failed")
            }
        }
        for destination in destinations { found += destination.problems(isPublic: isPublic) }
        return found + troubles
    }

    /// What needs somebody, without addresses and without words of a server, a sentence each.
    package var publicProblems: [String] { findProblems(isPublic: true) }

    /// One line for the service manager, which shows it to everybody on the box: without addresses.
    package var line: String {
        var parts: [String] = []
        let problems = publicProblems
        if !problems.isEmpty { parts.append("needs somebody: \(problems.joined(separator: "; "))") }
        if peripherals.isEmpty {
            parts.append(
                "the allow-list is empty, so nothing is read: name devices in the configuration, then "
                    + "systemctl reload ingestd")
        } else {
            let listening = adapters.filter(\.isListening).count
            if listening > 0 {
                parts.append("listening on \(listening) \(listening == 1 ? "adapter" : "adapters")")
            }
            let heard = peripherals.count { $0.address != nil }
            parts.append("\(heard) \(heard == 1 ? "device" : "devices")")
        }
        if !isClockRight, undated == 0 { parts.append("the system clock is not known to be right") }
        for destination in destinations {
            let oldest = destination.oldest.map { " (oldest \(Age(seconds: $0)))" } ?? ""
            let skipped = destination.skipped > 0 ? ", \(destination.skipped) without a form there" : ""
            parts.append(
                "\(destination.name) \(destination.state), \(destination.pending) waiting\(oldest)\(skipped)")
        }
        return parts.joined(separator: "; ")
    }
}

extension GatewayStatus.Strangers {
    /// Who is not read for want of room, and what to do.
    fileprivate var problem: String? {
        let way =
            "name your own by address, and see which destination has not taken their readings"
        if isFull {
            return
                "devices without an address in the allow-list fill their tenth of the queue and are not read: \(way)"
        }
        guard fullDevices > 0 else { return nil }
        return fullDevices == 1
            ? "a device without an address in the allow-list fills its share of the queue and is not read: \(way)"
            : "\(fullDevices) devices without an address in the allow-list fill their shares of the queue and are not "
                + "read: \(way)"
    }
}

extension GatewayStatus.Destination {
    /// What needs somebody, and what to do.
    /// - Parameter isPublic: whether everybody on the box may read it: an error may quote a server.
    fileprivate func problems(isPublic: Bool) -> [String] {
        let reason = isPublic ? "" : lastError.map { " (\($0))" } ?? ""
        let waiting = pending == 0 ? "" : ", \(pending) waiting"
        var found: [String] = []
        switch state {
        case "down": found.append("\(name) is down\(reason)\(waiting): it is tried again by itself")
        case "auth-rejected":
            found.append("\(name) rejects the credential\(reason)\(waiting): replace it, then ingestd reload")
        case Self.signedOut: found.append("\(name) is not signed in\(waiting): ingestd sign-in \(name)")
        case "misconfigured":
            found.append(
                "\(name) does not take requests there\(reason)\(waiting): see its url in the configuration")
        default: break
        }
        if failed > 0, state != Self.notConfigured {
            found.append("\(name) refused \(failed == 1 ? "a record" : "\(failed) records"): ingestd failed")
        }
        return found
    }
}

extension GatewayStatus.Peripheral {
    fileprivate var failsTooOften: Bool { failures ?? 0 >= Self.tooManyFailures }

    var needsSomebody: Bool { state == .bondMissing || failsTooOften }

    /// How people call it.
    var label: String { alias ?? address ?? "model \(id)" }

    /// The same where everybody may read: without the address, which tells a device in the street from all others.
    var publicLabel: String { alias ?? tag ?? "model \(id)" }
}

/// A length of time for people, in its largest unit.
package struct Age: CustomStringConvertible {
    let seconds: Int

    package init(seconds: Int) {
        self.seconds = seconds
    }

    package var description: String {
        switch seconds {
        case ..<120: "\(max(0, seconds)) s"
        case ..<7_200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) d"
        }
    }
}
