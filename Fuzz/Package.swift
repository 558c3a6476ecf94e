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

let package = Package(
    name: "Fuzz",
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0")
    ],
    targets: [
        // The decoders with coverage, which shows libFuzzer the way.
        .target(
            name: "Traced", dependencies: crypto, exclude: procedures, sources: decoders,
            swiftSettings: language + [.unsafeFlags(["-sanitize=fuzzer"])]
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
            // GNU gold, the default, fails on libFuzzer.
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]
        ),
    ]
)
