import FoundationEssentials
import TestSupport
import Testing

@testable import IngestProfiles

/// The table in docs/peripherals.md of what is read and where that is tried.
@Suite struct ProfileTableTests {
    private struct Row {
        let name: String
        let decoded: String
        let simulator: String
        let lab: String
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func rows() throws -> [Row] {
        let text = try String(contentsOf: root.appending(path: "docs/peripherals.md"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let header = try #require(lines.firstIndex { $0.hasPrefix("| profile | decoded |") })
        return lines[(header + 2)...].prefix { $0.hasPrefix("|") }.compactMap { line in
            let cells = line.split(separator: "|").map { String($0.trimmed) }
            guard cells.count == 4 else { return nil }
            return Row(
                name: cells[0].filter { $0 != "`" }, decoded: cells[1], simulator: cells[2], lab: cells[3])
        }
    }

    /// Words of letters and digits.
    private static func words(_ text: String) -> [String] {
        text.split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }

    @Test func everyProfileAndCharacteristicHasItsRow() throws {
        let rows = try Self.rows()
        #expect(Set(Profiles.names).isSubset(of: rows.map(\.name)))
        let decoded = rows.flatMap { Self.words($0.decoded) }.filter { BluetoothUUID($0) != nil }
        #expect(decoded.sorted() == Profiles.characteristics.map(\.description).sorted())
        for profile in Profiles.all {
            let row = try #require(rows.first { $0.name == profile.name })
            for source in profile.sources where profile.name != "body-composition" {
                #expect(row.decoded.contains(source.characteristic.description))
            }
        }
    }

    @Test func whatItNamesIsThere() throws {
        let rows = try Self.rows()
        for row in rows {
            for cell in [row.simulator, row.lab] {
                #expect(!cell.isEmpty)
                // An empty cell says why.
                if cell.hasPrefix("no") { #expect(cell.hasPrefix("no: ") && cell.count > 20, "\(row.name)") }
            }
            for suite in Self.words(row.simulator) where suite.hasSuffix("Tests") {
                let path = "Tests/Unit/BlueZBridge/Gateway/\(suite).swift"
                #expect(
                    FileManager.default.fileExists(atPath: Self.root.appending(path: path).path), "\(path)")
            }
            guard !row.lab.hasPrefix("no: ") else { continue }
            for name in row.lab.split(separator: ",").map({ $0.trimmed }) {
                let path = "Tests/System/Lab/guest/cases/\(name).py"
                #expect(
                    FileManager.default.fileExists(atPath: Self.root.appending(path: path).path), "\(path)")
            }
        }
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = self.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return text
    }
}
