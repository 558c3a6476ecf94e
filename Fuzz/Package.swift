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

// Both modules are symbolic links to the decoders' own sources: without the queue and the network they build in seconds.
let package = Package(
    name: "Fuzz",
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0")
    ],
    targets: [
        // The decoders with coverage, which shows libFuzzer the way.
        .target(
            name: "Guided", dependencies: crypto,
            swiftSettings: language + [.unsafeFlags(["-sanitize=fuzzer"])]
        ),
        // The decoders as they are shipped, whose answers are checked: writing JSON with coverage is ten times slower.
        .target(name: "IngestKit", dependencies: crypto, swiftSettings: language),
        .target(name: "CLibFuzzer"),
        .executableTarget(
            name: "FuzzDecoders",
            dependencies: ["CLibFuzzer", "Guided", "IngestKit"],
            swiftSettings: language,
            // GNU gold, the default, fails on libFuzzer.
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]
        ),
    ]
)
