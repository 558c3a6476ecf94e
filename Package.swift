// swift-tools-version: 6.2
import PackageDescription

// INGESTD_UNIT=MODULE   leaves nothing but a module's unit tests and what they need, which builds in seconds
//                       (docs/developing.md).
// INGESTD_FUZZ=PROGRAM  adds the program, `FuzzDecoders` or `FuzzPeers`, and has the modules that it examines report
//                       their branches to libFuzzer (docs/fuzzing.md). `check` adds both and leaves the modules as they
//                       are: `swift build --target FuzzPeers` tells in seconds whether they still compile.
let unit = Context.environment["INGESTD_UNIT"]
let fuzz = Context.environment["INGESTD_FUZZ"]

/// The same strictness everywhere: a warning is an error, memory safety is visible.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    // `@_lifetime` on views over a Span.
    .enableExperimentalFeature("Lifetimes"),
]

/// Of a module that peers reach, or that decodes what they send.
func settings(of module: String) -> [SwiftSetting] {
    switch fuzz {
    // Writing answers with coverage would be ten times slower.
    case "FuzzDecoders"? where module == "IngestProfiles":
        strict + [.unsafeFlags(["-sanitize=fuzzer"])]
    case "FuzzPeers"?:
        strict + [.unsafeFlags(["-sanitize=fuzzer", "-enable-testing"])]
    default: strict
    }
}

extension Target.Dependency {
    static let grdb = product(name: "GRDB", package: "GRDB.swift")
    static let yams = product(name: "Yams", package: "Yams")
    static let httpClient = product(name: "AsyncHTTPClient", package: "async-http-client")
    static let nioCore = product(name: "NIOCore", package: "swift-nio")
    static let nioEmbedded = product(name: "NIOEmbedded", package: "swift-nio")
    static let nioPosix = product(name: "NIOPosix", package: "swift-nio")
    static let nioHTTP1 = product(name: "NIOHTTP1", package: "swift-nio")
    static let nioCompression = product(name: "NIOHTTPCompression", package: "swift-nio-extras")
    static let nioSOCKS = product(name: "NIOSOCKS", package: "swift-nio-extras")
    static let nioSSL = product(name: "NIOSSL", package: "swift-nio-ssl")
    static let crypto = product(name: "Crypto", package: "swift-crypto")
    static let cryptoExtras = product(name: "CryptoExtras", package: "swift-crypto")
    static let logging = product(name: "Logging", package: "swift-log")
    static let system = product(name: "SystemPackage", package: "swift-system")
    static let lifecycle = product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
    static let signals = product(name: "UnixSignals", package: "swift-service-lifecycle")
    static let arguments = product(name: "ArgumentParser", package: "swift-argument-parser")
}

/// Products of the packages that stand in the list of dependencies to be pinned, and for nothing else. The condition never
/// holds, so that none of them is built for us; without a target that names them SwiftPM warns of each.
let pinned: [Target.Dependency] = [
    ("Algorithms", "swift-algorithms"), ("SwiftASN1", "swift-asn1"),
    ("AsyncAlgorithms", "swift-async-algorithms"),
    ("Atomics", "swift-atomics"), ("X509", "swift-certificates"), ("Collections", "swift-collections"),
    ("Configuration", "swift-configuration"), ("Tracing", "swift-distributed-tracing"),
    ("StructuredFieldValues", "swift-http-structured-headers"), ("HTTPTypes", "swift-http-types"),
    ("NIOHTTP2", "swift-nio-http2"), ("NIOTransportServices", "swift-nio-transport-services"),
    ("Numerics", "swift-numerics"), ("ServiceContextModule", "swift-service-context"),
].map { .product(name: $0, package: $1, condition: .when(platforms: [.windows])) }

/// The dynamic linker finds every function of the system's libraries when the program starts.
/// None is looked up later, when an attacker could have changed the table (ld(1), -z now).
let bindNow: [LinkerSetting] = [
    .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"], .when(configuration: .release))
]

/// A module of the domain, in Sources/IngestKit. It imports earlier ones alone (docs/architecture.md).
func domain(
    _ name: String, _ modules: [String] = [], _ products: [Target.Dependency] = [],
    plugins: [Target.PluginUsage] = []
) -> Target {
    .target(
        name: "Ingest" + name, dependencies: modules.map { .init(stringLiteral: "Ingest" + $0) } + products,
        path: "Sources/IngestKit/" + name, swiftSettings: settings(of: "Ingest" + name), plugins: plugins)
}

/// The unit tests of a module, in Tests/Unit.
func unitTests(_ name: String, of module: String? = nil, _ dependencies: [Target.Dependency]) -> Target {
    let module = module ?? "Ingest" + name
    let others = dependencies.filter { dependency in
        if case .byNameItem(module, _) = dependency { false } else { true }
    }
    return .testTarget(
        name: module + "Tests", dependencies: [.init(stringLiteral: module)] + others,
        path: "Tests/Unit/" + name, swiftSettings: strict)
}

let modules: [Target] = [
    // Basic values: bytes, decimals, JSON text, times and time zones, the monotonic clock, credentials, the log.
    domain("Core", [], [.crypto, .cryptoExtras, .logging, .system]),
    // The radio's ports, adverts and the filter of adverts.
    domain("Bluetooth", ["Core"], [.logging]),
    // Readings, and the records made of them: identity, time, subject. Entries by hand.
    domain("Records", ["Core"], [.crypto]),
    // Models of devices, their quirks, and the entries of the allow-list.
    domain("Peripherals", ["Core", "Bluetooth", "Records"]),
    // Decoders from the bytes of characteristics and adverts to readings, and the logic of their protocols.
    domain("Profiles", ["Core", "Bluetooth", "Records"]),
    // Events, and the fields that the journal gets of them.
    domain("Events", ["Core", "Records"]),
    // The queue's ports, and what is remembered of devices.
    domain("Storage", ["Core", "Bluetooth", "Records", "Peripherals", "Profiles", "Events"]),
    // The queue in SQLite; the only user of GRDB.
    domain(
        "Queue", ["Core", "Records", "Peripherals", "Events", "Storage"],
        [.grdb, .crypto, .system]),
    // Destinations and the transport to them; the only user of the HTTP client in the domain.
    domain(
        "Delivery", ["Core", "Records", "Peripherals", "Events", "Storage"],
        [
            .httpClient, .nioCore, .nioEmbedded, .nioPosix, .nioHTTP1, .nioCompression, .nioSOCKS, .nioSSL,
            .crypto, .cryptoExtras, .logging,
        ]),
    // Readings that no peripheral sent: entries by hand, and imports.
    domain("Entries", ["Core", "Records", "Storage"]),
    // The gateway's health, as values, text and metrics; and the hooks.
    domain(
        "Supervision", ["Core", "Bluetooth", "Records", "Peripherals", "Events", "Storage"], [.logging]),
    // Passive reading: when which device is read and how, sessions, and what bonds decide.
    domain(
        "Reading",
        [
            "Core", "Bluetooth", "Records", "Peripherals", "Profiles", "Events", "Storage", "Supervision",
        ], [.logging]),
    // An operator's orders: scans, reads and pairings.
    domain(
        "Operator",
        [
            "Core", "Bluetooth", "Records", "Peripherals", "Profiles", "Events", "Storage", "Supervision",
            "Reading",
        ]),
    // Settings and the catalogue, from YAML; the only user of Yams.
    domain(
        "Configuration",
        [
            "Core", "Bluetooth", "Records", "Peripherals", "Profiles", "Events", "Storage", "Queue",
            "Delivery",
        ], [.yams],
        plugins: ["EmbedCatalogue"]),
]
let allModules = modules.map { Target.Dependency(stringLiteral: $0.name) }

/// The catalogue of peripherals as code, made by the build.
let embedding: [Target] = [
    .plugin(name: "EmbedCatalogue", capability: .buildTool, dependencies: ["catalogue-embedder"]),
    .executableTarget(name: "catalogue-embedder", dependencies: [.yams], swiftSettings: strict),
]

let bridges: [Target] = [
    .target(name: "CBlueZ", linkerSettings: [.linkedLibrary("bluetooth")]),
    .target(name: "CSystemd", linkerSettings: [.linkedLibrary("systemd")]),
    .target(name: "CMosquitto", linkerSettings: [.linkedLibrary("mosquitto")]),
    .target(name: "CArchive", linkerSettings: [.linkedLibrary("archive")]),
    .target(name: "CExpat", linkerSettings: [.linkedLibrary("expat")]),
    .target(
        name: "ExportBridge", dependencies: ["CArchive", "CExpat"],
        swiftSettings: settings(of: "ExportBridge")),
    .target(
        name: "BlueZBridge", dependencies: ["CBlueZ", "CSystemd", "IngestBluetooth", "IngestCore"],
        swiftSettings: settings(of: "BlueZBridge")),
    .target(
        name: "MQTTBridge", dependencies: ["CMosquitto", "IngestCore", "IngestDelivery"],
        swiftSettings: settings(of: "MQTTBridge")),
    .target(
        name: "HTTPService", dependencies: [.nioCore, .nioHTTP1, .nioPosix],
        swiftSettings: settings(of: "HTTPService")),
]

let programs: [Target] = [
    // The commands, and the composition of the gateway.
    .target(
        name: "IngestDaemon",
        dependencies: allModules + [
            "BlueZBridge", "CSystemd", "ExportBridge", "HTTPService", "MQTTBridge", .lifecycle, .signals,
            .arguments, .httpClient, .nioCore, .nioHTTP1, .nioPosix, .logging, .system,
        ],
        resources: ["html", "css", "js"].map { .embedInCode("Console/Page/console.\($0)") },
        swiftSettings: settings(of: "IngestDaemon")),
    .executableTarget(
        name: "ingestd", dependencies: ["IngestDaemon", .arguments] + pinned, swiftSettings: strict,
        linkerSettings: bindNow),
    // The targets below serve the demo, tests and benchmarks. They are not installed.
    .target(
        name: "PeripheralSimulator",
        dependencies: ["BlueZBridge", "IngestBluetooth", "IngestCore"], swiftSettings: strict),
    .executableTarget(
        name: "ingestd-simulated",
        dependencies: [
            "BlueZBridge", "IngestConfiguration", "IngestDaemon", "IngestDelivery", "PeripheralSimulator",
            .arguments,
        ], swiftSettings: strict),
    .executableTarget(
        name: "peripheral-simulator",
        dependencies: ["BlueZBridge", "IngestCore", "PeripheralSimulator", .system],
        path: "Tests/System/Reliability/Simulator", swiftSettings: strict),
    .executableTarget(
        name: "queue-benchmark", dependencies: allModules + [.httpClient, .nioCore, .nioHTTP1, .system],
        path: "Benchmarks/Queue", swiftSettings: strict),
    .executableTarget(
        name: "count-benchmark", dependencies: allModules + ["BlueZBridge"], path: "Benchmarks/Counts",
        swiftSettings: strict),
    .executableTarget(
        name: "advert-benchmark", dependencies: ["BlueZBridge", "IngestBluetooth", "IngestCore"],
        path: "Benchmarks/Adverts", swiftSettings: strict),
]

let tests: [Target] = [
    // A disk that fails.
    .target(
        name: "CFaultyDisk", path: "Tests/Support/CFaultyDisk", linkerSettings: [.linkedLibrary("sqlite3")]),
    .target(
        name: "TestSupport",
        dependencies: [
            "IngestBluetooth", "IngestCore", "IngestEntries", "IngestEvents", "IngestPeripherals",
            "IngestProfiles", "IngestRecords",
        ],
        path: "Tests/Support/TestSupport", swiftSettings: strict),
    .target(
        name: "QueueTestSupport",
        dependencies: [
            "CFaultyDisk", "IngestCore", "IngestEvents", "IngestQueue", "IngestRecords", "IngestStorage",
            "TestSupport", .grdb,
        ],
        path: "Tests/Support/QueueTestSupport", swiftSettings: strict),
    unitTests("Core", ["TestSupport"]),
    unitTests("Bluetooth", ["IngestCore", "TestSupport"]),
    unitTests("Records", ["IngestCore", "IngestPeripherals", "IngestProfiles", "TestSupport"]),
    unitTests("Profiles", ["IngestBluetooth", "IngestCore", "IngestRecords", "TestSupport"]),
    unitTests("Events", ["IngestRecords", "TestSupport"]),
    unitTests("Storage", allModules + ["QueueTestSupport", "TestSupport"]),
    unitTests("Queue", allModules + ["CFaultyDisk", "QueueTestSupport", "TestSupport", .crypto, .grdb]),
    unitTests(
        "Delivery",
        allModules + ["HTTPService", "QueueTestSupport", "TestSupport", .crypto, .grdb, .nioCore, .nioPosix]),
    unitTests("Entries", ["IngestCore", "IngestQueue", "IngestRecords", "TestSupport"]),
    unitTests("Supervision", allModules + ["TestSupport"]),
    unitTests("Reading", allModules + ["QueueTestSupport", "TestSupport", .logging]),
    unitTests("Operator", allModules + ["TestSupport"]),
    unitTests("Configuration", allModules + ["TestSupport"]),
    unitTests("Daemon", of: "IngestDaemon", allModules + ["TestSupport", .arguments]),
    unitTests("HTTPService", of: "HTTPService", [.nioCore, .nioPosix]),
    unitTests("ExportBridge", of: "ExportBridge", []),
    unitTests(
        "BlueZBridge", of: "BlueZBridge",
        allModules + ["PeripheralSimulator", "QueueTestSupport", "TestSupport"]),
]

/// GNU gold, the default, fails on libFuzzer.
let withFuzzer: [LinkerSetting] = [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]

let fuzzers: [Target] = [
    .target(name: "CLibFuzzer", path: "Fuzz/CLibFuzzer"),
    .target(name: "FuzzChecks", path: "Fuzz/Checks", swiftSettings: [.swiftLanguageMode(.v6)]),
    .executableTarget(
        name: "FuzzDecoders",
        dependencies: ["CLibFuzzer", "FuzzChecks", "IngestCore", "IngestProfiles"],
        path: "Fuzz/Decoders", swiftSettings: [.swiftLanguageMode(.v6)], linkerSettings: withFuzzer),
    .executableTarget(
        name: "FuzzPeers",
        dependencies: allModules + [
            "BlueZBridge", "CLibFuzzer", "CSystemd", "ExportBridge", "FuzzChecks", "HTTPService",
            "IngestDaemon",
            "MQTTBridge", .nioCore, .nioEmbedded, .nioHTTP1,
        ],
        path: "Fuzz/Peers",
        swiftSettings: [
            .swiftLanguageMode(.v6),
            // A check stays on the radio's thread, on which the stand-ins for peers work.
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        ],
        linkerSettings: withFuzzer),
]

/// The target of this name and all that it needs.
func closure(of name: String, in targets: [Target]) -> [Target] {
    let byName = Dictionary(uniqueKeysWithValues: targets.map { ($0.name, $0) })
    var found: [String: Target] = [:]
    var waiting = [name]
    while let name = waiting.popLast() {
        guard found[name] == nil, let target = byName[name] else { continue }
        found[name] = target
        for case .byNameItem(let name, _) in target.dependencies { waiting.append(name) }
    }
    if found.values.contains(where: { $0.plugins?.isEmpty == false }) {
        for name in ["EmbedCatalogue", "catalogue-embedder"] { found[name] = byName[name] }
    }
    return found.values.sorted { $0.name < $1.name }
}

var targets = modules + embedding + bridges + programs + tests
if let unit {
    targets = closure(
        of: targets.contains { $0.name == unit + "Tests" } ? unit + "Tests" : "Ingest\(unit)Tests",
        in: targets)
}
if fuzz == "check" {
    targets += fuzzers
} else if let fuzz {
    targets = closure(of: fuzz, in: targets + fuzzers)
}

let package = Package(
    name: "ingestd",
    products: unit == nil && fuzz == nil ? [.executable(name: "ingestd", targets: ["ingestd"])] : [],
    // Each exactly, so that every build of a commit is made of the same sources; docs/dependencies.md tells how to renew them.
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        // What these need in turn. No target of ours uses them: they stand here to be pinned.
        .package(url: "https://github.com/apple/swift-algorithms", exact: "1.2.1"),
        .package(url: "https://github.com/apple/swift-asn1", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-async-algorithms", exact: "1.1.4"),
        .package(url: "https://github.com/apple/swift-atomics", exact: "1.3.0"),
        .package(url: "https://github.com/apple/swift-certificates", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", exact: "1.4.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", exact: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", exact: "1.7.0"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", exact: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-transport-services", exact: "1.28.0"),
        .package(url: "https://github.com/apple/swift-numerics", exact: "1.1.1"),
        .package(url: "https://github.com/apple/swift-service-context", exact: "1.5.1"),
    ],
    targets: targets
)
