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
        .target(
            name: "IngestKit",
            dependencies: [
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOSOCKS", package: "swift-nio-extras"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Yams", package: "Yams"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        .target(name: "CBlueZ", linkerSettings: [.linkedLibrary("bluetooth")]),
        .target(name: "CSystemd", linkerSettings: [.linkedLibrary("systemd")]),
        .target(name: "CMosquitto", linkerSettings: [.linkedLibrary("mosquitto")]),
        .target(name: "CArchive", linkerSettings: [.linkedLibrary("archive")]),
        .target(name: "CExpat", linkerSettings: [.linkedLibrary("expat")]),
        .target(name: "ExportBridge", dependencies: ["CArchive", "CExpat"], swiftSettings: strict),
        .target(
            name: "BlueZBridge", dependencies: ["CBlueZ", "CSystemd", "IngestKit"], swiftSettings: strict),
        .target(name: "MQTTBridge", dependencies: ["CMosquitto", "IngestKit"], swiftSettings: strict),
        .target(
            name: "PeripheralSimulator", dependencies: ["BlueZBridge", "IngestKit"], swiftSettings: strict),
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
                "BlueZBridge", "IngestKit", "PeripheralSimulator",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Tests/System/Reliability/Simulator", swiftSettings: strict),
        // Of Benchmarks; not installed.
        .executableTarget(
            name: "queue-benchmark",
            dependencies: [
                "IngestKit",
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
                "BlueZBridge", "CSystemd", "ExportBridge", "HTTPService", "IngestKit", "MQTTBridge",
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
                "BlueZBridge", "IngestDaemon", "IngestKit", "PeripheralSimulator",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: strict),
        // For tests alone: a disk that fails.
        .target(
            name: "CFaultyDisk", path: "Tests/CFaultyDisk", linkerSettings: [.linkedLibrary("sqlite3")]),
        .testTarget(
            name: "IngestKitTests",
            dependencies: [
                "CFaultyDisk", "HTTPService", "IngestKit",
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
            name: "BlueZBridgeTests", dependencies: ["BlueZBridge", "IngestKit", "PeripheralSimulator"],
            swiftSettings: strict),
    ]
)
