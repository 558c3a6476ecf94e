import FoundationEssentials
import TestSupport
import Testing

@testable import IngestEntries

@Suite struct HealthKitIdentifierTests {
    /// Of each identifier that HealthKit has docs/import.md says what it becomes, or why it is not imported.
    @Test func everyIdentifierIsImportedOrListedWithTheReason() throws {
        func text(_ path: String) throws -> String {
            try String(contentsOfFile: Repository.root + path, encoding: .utf8)
        }
        let all = Set(
            try text("/Tests/System/Import/identifiers.txt").split(separator: "\n").map(String.init))
        #expect(all.count == 218)
        let imported = Set(HealthKitType.quantities.keys).union(HealthKitType.categories.keys)
            .union([HealthKitType.bloodPressure, "HKWorkoutTypeIdentifier"])
        #expect(imported.isSubset(of: all))
        let document = try text("/docs/import.md")
        let section = try #require(
            document.split(separator: "## What is not imported").last?
                .split(separator: "\n## ").first)
        var listed: [String] = []
        for row in section.split(separator: "\n") where row.hasPrefix("| ") {
            let cells = row.split(separator: "|")
            guard cells.count == 2 else { continue }
            for name in cells[1].split(separator: "`") where !name.contains(" ") {
                let candidates = ["", "HKQuantityTypeIdentifier", "HKCategoryTypeIdentifier"].map {
                    $0 + name
                }
                listed.append(try #require(candidates.first(where: all.contains), "\(name)"))
            }
        }
        #expect(Set(listed).count == listed.count)
        #expect(Set(listed) == all.subtracting(imported))
        let becomes = try #require(
            document.split(separator: "## What becomes of each type").last?
                .split(separator: "## What is not imported").first)
        // The numbers of a blood pressure stand with their correlation.
        let single = imported.subtracting([HealthKitType.systolic, HealthKitType.diastolic])
        for type in single where type != "HKWorkoutTypeIdentifier" {
            let name = type.split(separator: "TypeIdentifier", maxSplits: 1).last.map(String.init) ?? type
            let short = name.hasPrefix("Dietary") ? String(name.dropFirst(7)) : name
            #expect(becomes.contains(short), "\(type)")
        }
    }
}
