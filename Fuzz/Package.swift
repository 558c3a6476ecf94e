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

// Both modules are symbolic links to the decoders' own sources: without the queue and the network they build in seconds.
let package = Package(
    name: "Fuzz",
    targets: [
        // The decoders with coverage, which shows libFuzzer the way.
        .target(name: "Guided", swiftSettings: language + [.unsafeFlags(["-sanitize=fuzzer"])]),
        // The decoders as they are shipped, whose answers are checked: writing JSON with coverage is ten times slower.
        .target(name: "IngestKit", swiftSettings: language),
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
