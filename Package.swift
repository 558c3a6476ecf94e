// swift-tools-version: 6.2
import PackageDescription

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

/// The modules of the domain, each of which imports earlier ones alone (docs/architecture.md).
let domain: [Target.Dependency] = [
    "IngestCore",
    "IngestBluetooth",
    "IngestRecords",
    "IngestPeripherals",
    "IngestProfiles",
    "IngestEvents",
    "IngestStorage",
    "IngestQueue",
    "IngestDelivery",
    "IngestEntries",
    "IngestGateway",
    "IngestConfiguration",
]

let package = Package(
    name: "ingestd",
    products: [
        .executable(name: "ingestd", targets: ["ingestd"])
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    ],
    targets: [
        // Basic values: bytes, decimals, JSON text, times and time zones, the monotonic clock, credentials, the log.
        .target(
            name: "IngestCore",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Sources/IngestKit/Core", swiftSettings: strict),
        // The radio's ports, adverts and the filter of adverts.
        .target(
            name: "IngestBluetooth",
            dependencies: [
                "IngestCore",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/IngestKit/Bluetooth", swiftSettings: strict),
        // Readings, and the records made of them: identity, time, subject. Entries by hand.
        .target(
            name: "IngestRecords",
            dependencies: [
                "IngestCore",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Sources/IngestKit/Records", swiftSettings: strict),
        // Models of devices, their quirks, and the entries of the allow-list.
        .target(
            name: "IngestPeripherals",
            dependencies: [
                "IngestCore", "IngestBluetooth", "IngestRecords",
            ],
            path: "Sources/IngestKit/Peripherals", swiftSettings: strict),
        // Decoders from the bytes of characteristics and adverts to readings, and the logic of their protocols.
        .target(
            name: "IngestProfiles",
            dependencies: [
                "IngestCore", "IngestBluetooth", "IngestRecords",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Sources/IngestKit/Profiles", swiftSettings: strict),
        // Events, and the fields that the journal gets of them.
        .target(
            name: "IngestEvents",
            dependencies: [
                "IngestCore", "IngestRecords",
            ],
            path: "Sources/IngestKit/Events", swiftSettings: strict),
        // The queue's ports, and what is remembered of devices.
        .target(
            name: "IngestStorage",
            dependencies: [
                "IngestCore", "IngestBluetooth", "IngestRecords", "IngestPeripherals", "IngestProfiles",
                "IngestEvents",
            ],
            path: "Sources/IngestKit/Storage", swiftSettings: strict),
        // The queue in SQLite; the only user of GRDB.
        .target(
            name: "IngestQueue",
            dependencies: [
                "IngestCore", "IngestRecords", "IngestPeripherals", "IngestEvents", "IngestStorage",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Sources/IngestKit/Queue", swiftSettings: strict),
        // Destinations and the transport to them; the only user of the HTTP client.
        .target(
            name: "IngestDelivery",
            dependencies: [
                "IngestCore", "IngestRecords", "IngestPeripherals", "IngestEvents", "IngestStorage",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOSOCKS", package: "swift-nio-extras"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Sources/IngestKit/Delivery", swiftSettings: strict),
        // Readings that no peripheral sent: entries by hand, and imports.
        .target(
            name: "IngestEntries",
            dependencies: [
                "IngestCore", "IngestRecords", "IngestStorage",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Sources/IngestKit/Entries", swiftSettings: strict),
        // Passive reading: when which device is read, sessions, pairing, the operator, hooks, status.
        .target(
            name: "IngestGateway",
            dependencies: [
                "IngestCore", "IngestBluetooth", "IngestRecords", "IngestPeripherals", "IngestProfiles",
                "IngestEvents", "IngestStorage",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/IngestKit/Gateway", swiftSettings: strict),
        // Settings and the catalogue, from YAML; the only user of Yams.
        .target(
            name: "IngestConfiguration",
            dependencies: [
                "IngestCore", "IngestBluetooth", "IngestRecords", "IngestPeripherals", "IngestProfiles",
                "IngestEvents", "IngestStorage", "IngestDelivery",
                .product(name: "Yams", package: "Yams"),
            ],
            path: "Sources/IngestKit/Configuration", swiftSettings: strict),
        .target(name: "CBlueZ", linkerSettings: [.linkedLibrary("bluetooth")]),
        .target(name: "CSystemd", linkerSettings: [.linkedLibrary("systemd")]),
        .target(name: "CMosquitto", linkerSettings: [.linkedLibrary("mosquitto")]),
        .target(name: "CArchive", linkerSettings: [.linkedLibrary("archive")]),
        .target(name: "CExpat", linkerSettings: [.linkedLibrary("expat")]),
        .target(name: "ExportBridge", dependencies: ["CArchive", "CExpat"], swiftSettings: strict),
        .target(
            name: "BlueZBridge", dependencies: ["CBlueZ", "CSystemd", "IngestBluetooth", "IngestCore"],
            swiftSettings: strict),
        .target(
            name: "MQTTBridge", dependencies: ["CMosquitto", "IngestCore", "IngestDelivery"],
            swiftSettings: strict),
        .target(
            name: "PeripheralSimulator", dependencies: ["BlueZBridge", "IngestBluetooth", "IngestCore"],
            swiftSettings: strict),
        .target(
            name: "HTTPService",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict),
        // Of Tests/System/Reliability; not installed.
        .executableTarget(
            name: "peripheral-simulator",
            dependencies: [
                "BlueZBridge", "IngestCore", "PeripheralSimulator",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Tests/System/Reliability/Simulator", swiftSettings: strict),
        // Of Benchmarks; not installed.
        .executableTarget(
            name: "queue-benchmark",
            dependencies: [
                "IngestConfiguration", "IngestCore", "IngestPeripherals", "IngestProfiles", "IngestQueue",
                "IngestRecords", "IngestStorage",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Benchmarks/Queue", swiftSettings: strict),
        // The commands, and the composition of the gateway.
        .target(
            name: "IngestDaemon",
            dependencies: [
                "BlueZBridge", "CSystemd", "ExportBridge", "HTTPService", "MQTTBridge",
            ] + domain + [
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "ingestd",
            dependencies: [
                "IngestDaemon", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: strict),
        // For the demo, tests and benchmarks; not installed.
        .executableTarget(
            name: "ingestd-simulated",
            dependencies: [
                "BlueZBridge", "IngestConfiguration", "IngestDaemon", "IngestDelivery", "PeripheralSimulator",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: strict),
        // For tests alone: a disk that fails.
        .target(
            name: "CFaultyDisk", path: "Tests/CFaultyDisk", linkerSettings: [.linkedLibrary("sqlite3")]),
        .testTarget(
            name: "IngestKitTests",
            dependencies: domain + [
                "CFaultyDisk", "HTTPService",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "HTTPServiceTests",
            dependencies: [
                "HTTPService",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict),
        .testTarget(name: "ExportBridgeTests", dependencies: ["ExportBridge"], swiftSettings: strict),
        .testTarget(
            name: "BlueZBridgeTests", dependencies: domain + ["BlueZBridge", "PeripheralSimulator"],
            swiftSettings: strict),
    ]
)
