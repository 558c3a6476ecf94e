package import IngestRecords

/// How the gateway fares, as a destination gets it (docs/status.schema.json): what `ingestd status` tells, without what does
/// not leave the box. No measured value, no person and no text of a server is in it.
package struct StatusDocument: Encodable, Sendable {
    /// As one of them is some 250 bytes, a document stays below 256 KiB.
    static let mostDevices = 500
    static let mostProblems = 50
    /// In characters.
    static let longestProblem = 400

    /// Of the document.
    private let version = 1
    private let gateway: String
    /// The other value is the will's, which a broker publishes for a gateway that is not connected.
    private let status = "online"
    /// When it was written, and when the service started; nil while the clock is not known to be right.
    private let time: String?
    private let started: String?
    private let uptime: Int
    private let software: String
    private let kernel: String?
    private let kernelDefect: String?
    private let isClockRight: Bool
    private let undated: Int
    private let isHealthy: Bool
    private let problems: [String]
    private let adapters: [GatewayStatus.Adapter]
    private let devices: [GatewayStatus.Peripheral]
    /// How many there are beside them.
    private let furtherDevices: Int?
    /// How many devices have to be paired, because their bond is lost or was never made.
    private let lostBonds: Int
    private let queue: GatewayStatus.Queue
    private let destinations: [GatewayStatus.Destination]

    enum CodingKeys: String, CodingKey {
        case version, gateway, status, time, started, software, kernel, undated, problems, adapters, devices,
            queue,
            destinations
        case uptime = "uptime_s"
        case kernelDefect = "kernel_defect"
        case isClockRight = "clock_right"
        case isHealthy = "healthy"
        case furtherDevices = "further_devices"
        case lostBonds = "lost_bonds"
    }

    /// - Parameters:
    ///   - kernel: the version of the running kernel.
    ///   - wallSeconds: the time, in seconds since 1970; nil while it is not known.
    ///   - redacted: what the destination does not get. Of a record's fields the document has the address alone.
    package init(
        _ status: GatewayStatus, kernel: String?, wallSeconds: Int64?, without redacted: Set<RedactedField>
    ) {
        gateway = status.gateway
        time = wallSeconds.flatMap(Self.timestamp)
        started = wallSeconds.flatMap { Self.timestamp($0 - Int64(status.uptime)) }
        uptime = status.uptime
        software = status.version
        self.kernel = kernel
        kernelDefect = status.kernelDefect
        isClockRight = status.isClockRight
        undated = status.undated
        isHealthy = status.isHealthy
        problems = status.publicProblems.prefix(Self.mostProblems).map {
            String($0.prefix(Self.longestProblem))
        }
        adapters = status.adapters
        // Where there are more devices than fit, those that need somebody come first.
        let isTooMany = status.peripherals.count > Self.mostDevices
        let told =
            isTooMany
            ? status.peripherals.filter(\.needsSomebody) + status.peripherals.filter { !$0.needsSomebody }
            : status.peripherals
        devices = told.prefix(Self.mostDevices).map { peripheral in
            var peripheral = peripheral
            if redacted.contains(.address) { peripheral.address = nil }
            return peripheral
        }
        furtherDevices = isTooMany ? status.peripherals.count - Self.mostDevices : nil
        lostBonds = status.peripherals.count { $0.state == .bondMissing }
        queue = status.queue
        destinations = status.destinations.map { destination in
            var destination = destination
            (destination.lastError, destination.user, destination.userID) = (nil, nil, nil)
            return destination
        }
    }

    /// One line of JSON.
    package var json: String { JSONLine.encode(self) }

    private static func timestamp(_ seconds: Int64) -> String? {
        DeviceTime(wallSeconds: seconds).map { "\($0)Z" }
    }
}
