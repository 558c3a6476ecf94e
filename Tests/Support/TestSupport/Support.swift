import FoundationEssentials
import Synchronization
package import Testing

/// Runs `body` with a directory of its own, which is removed after it.
package func withTemporaryDirectory<Value>(
    _ body: (String) async throws -> Value
) async throws -> Value {
    let path = FileManager.default.temporaryDirectory.path + "/ingestd-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}

/// Runs `body` with a directory of its own in memory, where there is one: the disk's own time is of no interest.
package func withMemoryDirectory<Value>(_ body: (String) async throws -> Value) async throws -> Value {
    let memory = "/dev/shm"
    guard FileManager.default.isWritableFile(atPath: memory) else {
        return try await withTemporaryDirectory(body)
    }
    let path = memory + "/ingestd-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}

/// Waits until `condition` holds; fails the test when it does not within 2 min of real time, which is for a machine
/// that is busy with much else.
package func eventually(
    _ what: Comment, sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + .seconds(120)
    var pause = Duration.milliseconds(1)
    while ContinuousClock.now < end {
        if try await condition() { return }
        try await Task.sleep(for: pause)
        // Many tests wait at a time: those that wait long leave the others the processor.
        pause = min(pause * 2, .milliseconds(32))
    }
    Issue.record(what, sourceLocation: sourceLocation)
    throw TimedOut()
}

package struct TimedOut: Error {
    package init() {}
}

/// Keeps what is written to it.
package final class RecordingSink: EventSink {
    private let written = Mutex<[JournalEntry]>([])

    package init() {}

    package var entries: [JournalEntry] { written.withLock { $0 } }
    package var names: [String] { entries.map(\.name) }

    package func write(_ entry: JournalEntry) {
        written.withLock { $0.append(entry) }
    }
}

extension JournalEntry {
    package subscript(field: EventField) -> String? {
        fields.first { $0.0 == field }?.1
    }
}

/// A record of which only what the queue looks at matters.
package func record(
    _ id: String, kind: RecordKind = .bodyTemperature, peripheralID: Int = 1002, alias: String? = nil,
    address: String = "F1:F1:F1:F1:F1:F1", bytes: [UInt8] = [0x00, 0x6C, 0x01, 0x00, 0xFF],
    model: String? = nil
) throws -> Record {
    Record(
        id: RecordID(text: id), kind: kind, stage: .live,
        time: RecordTime(
            value: "2026-11-20T09:15:00+00:00", source: .received, device: nil, clockOffsetSeconds: nil,
            received: "2026-11-20T09:15:00Z"),
        measurements: [
            Measurement(
                type: "body-temperature", code: 150364,
                value: .exact(ExactDecimal(coefficient: 3660, exponent: -2)), unit: "Cel")
        ],
        flags: [], sequence: nil, user: nil, subject: nil,
        device: DeviceBlock(
            peripheralID: peripheralID, address: try #require(BluetoothAddress(address)), alias: alias,
            model: model),
        gateway: "box", raw: RawPayload(characteristic: 0x2A1C, bytes: bytes), isSimulated: false)
}

/// A number of at least `count` digits.
package func padded(_ number: Int, _ count: Int) -> String {
    var text: [UInt8] = []
    text.append(padded: number, count)
    return String(decoding: text, as: UTF8.self)
}
