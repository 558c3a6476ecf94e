import TestSupport
import Testing

@testable import IngestEntries
@testable import IngestQueue
@testable import IngestRecords

/// Two different samples of an export never share an id, and one never has two, as far as the export can tell them apart.
@Suite struct ImportIdentityTests {
    typealias Element = HealthExportTests.Element

    enum Kind: CaseIterable {
        case quantity
        case category
        case bloodPressure
        case workout
    }

    /// What the second sample has otherwise.
    enum Difference: CaseIterable {
        case nothing
        case value
        case digits
        case unit
        case start
        case end
        /// The same hour by the clock on the wall, before clocks went back and after.
        case hourOfTheFold
        /// The same moment, as a phone exports it that has travelled.
        case zone
        case sourceName
        case sourceVersion
        case created
        case device
        case metadata

        /// Whether another export has it for the same sample.
        var isOfTheExport: Bool {
            switch self {
            case .nothing, .zone, .sourceName, .sourceVersion, .created, .device, .metadata: true
            case .value, .digits, .unit, .start, .end, .hourOfTheFold: false
            }
        }
    }

    enum Place: CaseIterable {
        case sameExport
        case otherExport
        case otherPerson
        case otherGateway
    }

    private static let times = [
        "startDate": "2024-10-27 02:10:00 +0200", "endDate": "2024-10-27 02:40:00 +0200",
    ]

    private static func element(_ kind: Kind, _ difference: Difference) -> Element {
        var attributes = times.merging(["sourceName": "Phone", "creationDate": "2024-10-27 08:00:00 +0100"]) {
            $1
        }
        switch difference {
        case .start: attributes["startDate"] = "2024-10-27 02:10:01 +0200"
        case .end: attributes["endDate"] = "2024-10-27 02:40:01 +0200"
        case .hourOfTheFold:
            attributes["startDate"] = "2024-10-27 02:10:00 +0100"
            attributes["endDate"] = "2024-10-27 02:40:00 +0100"
        case .zone:
            attributes["startDate"] = "2024-10-27 00:10:00 +0000"
            attributes["endDate"] = "2024-10-26 20:40:00 -0400"
        case .sourceName: attributes["sourceName"] = "Another phone"
        case .sourceVersion: attributes["sourceVersion"] = "18.1"
        case .created: attributes["creationDate"] = "2024-10-27 08:00:01 +0100"
        case .device: attributes["device"] = "<<HKDevice: 0x28>, name:Watch, manufacturer:Apple Inc.>"
        case .nothing, .value, .digits, .unit, .metadata: break
        }
        let children = difference == .metadata ? [HealthExportTests.metadata("HKWasUserEntered", "1")] : []
        func record(_ type: String, _ value: String, _ unit: String) -> Element {
            var element = HealthExportTests.sample("HKQuantityTypeIdentifier" + type, value, unit)
            element.attributes.merge(attributes) { $1 }
            return element
        }
        switch kind {
        case .quantity:
            var element =
                switch difference {
                case .value: record("BodyMass", "80.6", "kg")
                case .digits: record("BodyMass", "80.50", "kg")
                case .unit: record("BodyMass", "80.5", "lb")
                default: record("BodyMass", "80.5", "kg")
                }
            element.children = children
            return element
        case .category:
            let value = difference == .value ? "AsleepREM" : "AsleepDeep"
            var element = HealthExportTests.sample(
                "HKCategoryTypeIdentifierSleepAnalysis", "HKCategoryValueSleepAnalysis" + value)
            element.attributes.merge(attributes) { $1 }
            element.children = children
            return element
        case .bloodPressure:
            let diastolic =
                switch difference {
                case .value: record("BloodPressureDiastolic", "81", "mmHg")
                case .digits: record("BloodPressureDiastolic", "80.0", "mmHg")
                case .unit: record("BloodPressureDiastolic", "80", "kPa")
                default: record("BloodPressureDiastolic", "80", "mmHg")
                }
            var element = HealthExportTests.sample(
                "HKCorrelationTypeIdentifierBloodPressure",
                holding: children + [record("BloodPressureSystolic", "120", "mmHg"), diastolic])
            element.attributes.merge(attributes) { $1 }
            return element
        case .workout:
            attributes["workoutActivityType"] = "HKWorkoutActivityTypeRunning"
            attributes["duration"] = [.value: "29", .digits: "30.0"][difference] ?? "30"
            attributes["durationUnit"] = difference == .unit ? "s" : "min"
            return Element(name: "Workout", attributes: attributes, children: children)
        }
    }

    /// The ids of an export's samples.
    private static func ids(
        _ elements: [Element], of subject: String?, at gateway: String = "box"
    ) throws -> [RecordID] {
        let export = HealthExport(
            HealthExport.Selection(sets: Set(HealthKitSet.allCases), subject: subject),
            equalSamples: TemporarySamples.init)
        elements.tell(export)
        export.beginAgain()
        elements.tell(export)
        let entries = try export.takeEntries() + export.takeEqualEntries(1_000)
        #expect(entries.count == elements.count)
        return entries.map { $0.id(gateway: gateway) }
    }

    /// A word of sleep has neither digits nor a unit.
    private static func applies(_ difference: Difference, to kind: Kind) -> Bool {
        kind != .category || (difference != .digits && difference != .unit)
    }

    @Test(arguments: Kind.allCases, Difference.allCases)
    func aSampleHasOneIDAndAnotherSampleAnother(kind: Kind, difference: Difference) throws {
        guard Self.applies(difference, to: kind) else { return }
        let first = Self.element(kind, .nothing)
        let second = Self.element(kind, difference)
        for place in Place.allCases {
            for subject in ["patient-17", nil] {
                let ids: [RecordID]
                let isOne: Bool
                switch place {
                case .sameExport:
                    ids = try Self.ids([first, second], of: subject)
                    isOne = false
                    #expect(Set(try Self.ids([second, first], of: subject)) == Set(ids))
                case .otherExport:
                    ids = try Self.ids([first], of: subject) + Self.ids([second], of: subject)
                    isOne = difference.isOfTheExport
                case .otherPerson:
                    ids = try Self.ids([first], of: subject) + Self.ids([second], of: "patient-18")
                    isOne = false
                case .otherGateway:
                    ids = try Self.ids([first], of: subject) + Self.ids([second], of: subject, at: "other")
                    // Nobody's sample is another's at another gateway.
                    isOne = difference.isOfTheExport && subject != nil
                }
                #expect(Set(ids).count == (isOne ? 1 : 2), "\(place) of \(subject ?? "nobody")")
            }
        }
    }

    /// All of them in one document, and in another with only the first half.
    @Test func allOfThemHaveDifferentIDsTogether() throws {
        var elements: [Element] = []
        for kind in Kind.allCases {
            for difference in Difference.allCases where Self.applies(difference, to: kind) {
                elements.append(Self.element(kind, difference))
            }
        }
        let all = Set(try Self.ids(elements, of: "patient-17"))
        #expect(all.count == elements.count)
        let half = try Self.ids(Array(elements.prefix(elements.count / 2)), of: "patient-17")
        #expect(all.isSuperset(of: half))
    }
}
