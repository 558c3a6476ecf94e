import Glibc

@testable import ExportBridge
@testable import IngestBluetooth
@testable import IngestConfiguration
@testable import IngestCore
@testable import IngestDelivery
@testable import IngestEntries
@testable import IngestEvents
@testable import IngestOperator
@testable import IngestPeripherals
@testable import IngestProfiles
@testable import IngestQueue
@testable import IngestReading
@testable import IngestRecords
@testable import IngestStorage
@testable import IngestSupervision

/// A file that somebody imports: as a document, and as a zip around one.
enum ExportTarget {
    private final class Handler: XMLHandler {
        /// The table of a real import takes longer to make than an input takes.
        let export = HealthExport(
            HealthExport.Selection(sets: Set(HealthKitSet.allCases)), census: SampleCensus(places: 1 << 10),
            equalSamples: TemporarySamples.init)
        var depth = 0
        var elements = 0

        func wantsAttributes(of element: String) -> Bool { HealthExport.isOfUse(element) }

        func begin(_ element: String, _ attributes: [String: String]) {
            depth += 1
            elements += 1
            require(depth <= 16, "too deep")
            export.begin(element, attributes)
        }

        func end(_ element: String) {
            depth -= 1
            require(depth >= 0, "an end without a beginning")
            export.end(element)
        }
    }

    /// The length of the pieces, then the document, which is told twice as by an import.
    static func checkXML(_ bytes: [UInt8]) {
        var draw = Draw(bytes)
        let piece = max(1, Int(draw.byte()))
        var document = draw.rest()
        for index in document.indices { document[index] = document[index].allowedInXML }
        let handler = Handler()
        tell(document, inPiecesOf: piece, to: handler)
        let elements = handler.elements
        handler.export.beginAgain()
        handler.depth = 0
        tell(document, inPiecesOf: piece, to: handler)
        require(handler.elements == 2 * elements, "another document the second time")
        do {
            var entries = try handler.export.takeEntries()
            while case let more = try handler.export.takeEqualEntries(10), !more.isEmpty { entries += more }
            require(entries.count <= elements, "entries that nobody made")
            require(Set(entries.map(\.name)).count == entries.count, "two entries with one name")
            for entry in entries { require(entry.isSound, "an entry that the queue would not take") }
        } catch { fatalError("the same document, and: \(error)") }
        require(
            handler.export.tally.unknown.count <= 200 && handler.export.tally.unknownUnits.count <= 200)
    }

    private static func tell(_ document: [UInt8], inPiecesOf piece: Int, to handler: Handler) {
        var prolog = HealthExportProlog()
        do {
            let parser = try XMLStream(handler)
            for start in stride(from: 0, to: document.count, by: piece) {
                let end = min(start + piece, document.count)
                let part = try prolog.pass(document[start..<end], isLast: false)
                if !part.isEmpty { try parser.feed(part) }
            }
            try parser.feed(try prolog.pass([], isLast: true), isLast: true)
            require(handler.depth == 0, "a good document with an element that does not end")
        } catch {}
    }

    /// A file in memory.
    private static let file: Int32 = {
        var name = Array("/dev/shm/fuzz-zip.XXXXXX".utf8CString)
        let file = mkstemp(&name)
        guard file >= 0, unlink(name) == 0 else { fatalError("no file in memory") }
        return file
    }()
    private static let path = "/proc/self/fd/\(file)"

    static func checkZip(_ bytes: [UInt8]) {
        ftruncate(file, 0)
        pwrite(file, bytes, bytes.count, 0)
        do {
            var names = 0
            let stream = try ZipStream(path: path) { name in
                names += 1
                require(name.utf8.count <= 65_535 * 3)
                return name.hasSuffix(".xml")
            }
            var block = [UInt8](repeating: 0, count: 4096)
            var unpacked = 0
            // What follows is read on by an import too, as long as there is any.
            while unpacked < 1 << 22, case let count = try stream.read(into: &block), count > 0 {
                require(count <= block.count, "more than was asked for")
                unpacked += count
            }
            require(stream.position <= stream.size && stream.position >= 0, "read past the end")
        } catch {}
    }
}
