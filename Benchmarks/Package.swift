// swift-tools-version: 6.2
import PackageDescription

let language: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableExperimentalFeature("Lifetimes"),
]

let package = Package(
    name: "Benchmarks",
    targets: [
        // The gateway's own sources, through symbolic links, and divided into modules as they are there.
        .target(name: "IngestKit", swiftSettings: language),
        .executableTarget(
            name: "AdvertDecision", dependencies: ["IngestKit"], swiftSettings: language),
    ]
)
