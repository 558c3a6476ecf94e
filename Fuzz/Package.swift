// swift-tools-version: 6.2
import PackageDescription

let language: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableExperimentalFeature("Lifetimes"),
]
/// With coverage, which shows libFuzzer the way.
let traced: [SwiftSetting] = language + [.unsafeFlags(["-sanitize=fuzzer"])]
/// Of peers: what is checked is mostly internal. The kit has another name there than in the gateway's package.
let peer: [SwiftSetting] =
    traced + [.unsafeFlags(["-enable-testing", "-module-alias", "IngestKit=TracedKit"])]
/// GNU gold, the default, fails on libFuzzer.
let withFuzzer: [LinkerSetting] = [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]

/// For encrypted broadcasts.
let crypto: [Target.Dependency] = [
    .product(name: "Crypto", package: "swift-crypto"),
    .product(name: "CryptoExtras", package: "swift-crypto"),
]

/// The decoders' own sources, through symbolic links: without the queue and the network they build in seconds.
let decoders = [
    "Profiles",
    "Radio/AdapterID.swift",
    "Radio/Advertisement.swift",
    "Radio/AdvertisementDataType.swift",
    "Radio/BluetoothAddress.swift",
    "Radio/BluetoothUUID.swift",
    "Radio/Monotonic.swift",
    "Records/CivilTime.swift",
    "Records/ExactDecimal.swift",
    "Records/Hex.swift",
    "Records/JSONText.swift",
    "Records/JSONText+Measurement.swift",
    "Records/Reading.swift",
]
/// What stands beside the decoders and makes records of readings.
let procedures = ["Profiles/StoredTransfer.swift", "Profiles/StreamSampler.swift"]

/// What the whole kit stands on.
let kit: [Target.Dependency] =
    crypto + [
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
    ]

let package = Package(
    name: "Fuzz",
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    ],
    targets: [
        // The decoders with coverage, which shows libFuzzer the way.
        .target(
            name: "Traced", dependencies: crypto, exclude: procedures, sources: decoders,
            swiftSettings: traced
        ),
        // The decoders as they are shipped, whose answers are checked: writing JSON with coverage is ten times slower.
        .target(
            name: "IngestKit", dependencies: crypto, exclude: procedures, sources: decoders,
            swiftSettings: language),
        .target(name: "CLibFuzzer"),
        .executableTarget(
            name: "FuzzDecoders",
            dependencies: ["CLibFuzzer", "IngestKit", "Traced"],
            swiftSettings: language,
            linkerSettings: withFuzzer
        ),
        // What peers reach, on the whole kit.
        .target(
            name: "TracedKit", dependencies: kit,
            swiftSettings: peer),
        .target(name: "CBlueZ", linkerSettings: [.linkedLibrary("bluetooth")]),
        .target(name: "CSystemd", linkerSettings: [.linkedLibrary("systemd")]),
        .target(name: "CMosquitto", linkerSettings: [.linkedLibrary("mosquitto")]),
        .target(name: "CArchive", linkerSettings: [.linkedLibrary("archive")]),
        .target(name: "CExpat", linkerSettings: [.linkedLibrary("expat")]),
        .target(name: "ExportBridge", dependencies: ["CArchive", "CExpat"], swiftSettings: peer),
        .target(
            name: "BlueZBridge", dependencies: ["CBlueZ", "CSystemd", "TracedKit"], swiftSettings: peer),
        .target(name: "MQTTBridge", dependencies: ["CMosquitto", "TracedKit"], swiftSettings: peer),
        .target(
            name: "HTTPService",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: peer),
        .target(
            name: "Control", dependencies: ["TracedKit"],
            sources: [
                "ControlMessages.swift", "ControlMessages+Entries.swift", "ControlMessages+Orders.swift",
                "ControlMessages+Queue.swift",
            ], swiftSettings: peer),
        .executableTarget(
            name: "FuzzPeers",
            dependencies: [
                "BlueZBridge", "CLibFuzzer", "CSystemd", "Control", "ExportBridge", "HTTPService",
                "MQTTBridge",
                "TracedKit",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                // A check stays on the radio's thread, on which the stand-ins for peers work.
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
                .unsafeFlags(["-module-alias", "IngestKit=TracedKit"]),
            ],
            linkerSettings: withFuzzer),
    ]
)
