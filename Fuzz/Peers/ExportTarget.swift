import FuzzChecks
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
        checkEntries(of: handler.export, atMost: elements)
    }

    /// - Parameter most: how many things the document has that may be a sample.
    private static func checkEntries(of export: HealthExport, atMost most: Int) {
        do {
            var entries = try export.takeEntries()
            while case let more = try export.takeEqualEntries(10), !more.isEmpty { entries += more }
            require(entries.count <= most, "entries that nobody made")
            require(Set(entries.map(\.name)).count == entries.count, "two entries with one name")
            for entry in entries { require(entry.isSound, "an entry that the queue would not take") }
        } catch { fatalError("the same document, and: \(error)") }
        require(export.tally.unknown.count <= 200 && export.tally.unknownUnits.count <= 200)
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

    // MARK: JSON

    /// Writes what it is told as JSON of the same shape: texts are empty, and words other than numbers `null`.
    private final class Shape: JSONStreamHandler {
        private(set) var text = ""
        private(set) var objects = 0
        private var ends: [Character] = []
        private var isFirst = true

        private func separate() {
            if !isFirst { text += "," }
            isFirst = false
        }

        func begin(isObject: Bool) {
            if isObject { objects += 1 }
            separate()
            text += isObject ? "{" : "["
            ends.append(isObject ? "}" : "]")
            require(ends.count <= JSONStream.mostDepth, "too deep")
            isFirst = true
        }

        func end() {
            guard let end = ends.popLast() else { fatalError("an end without a beginning") }
            text.append(end)
            isFirst = false
        }

        func name(_ name: String?) {
            require((name?.utf8.count ?? 0) <= JSONStream.longestText)
            separate()
            text += "\"\":"
            isFirst = true
        }

        func value(_ value: JSONStream.Value) {
            separate()
            switch value {
            case .text(let words):
                require(words.utf8.count <= JSONStream.longestText)
                text += "\"\""
            case .number(let number): text += number
            case .other: text += "null"
            }
        }
    }

    /// The length of the pieces, then the document, which is told three times as by an import.
    static func checkJSON(_ bytes: [UInt8]) {
        var draw = Draw(bytes)
        let piece = max(1, Int(draw.byte()))
        let document = draw.rest()
        let (shape, whole) = (Shape(), Shape())
        let isGood = tell(document, inPiecesOf: piece, to: shape)
        require(
            tell(document, inPiecesOf: max(1, document.count), to: whole) == isGood, "good in one piece alone"
        )
        require(shape.text == whole.text, "another document in pieces")
        if isGood {
            require(
                JSONCheck.isObject("{\"\":\(shape.text)}", takesExponents: true), "no JSON, and taken")
        }

        let export = HealthExport(
            HealthExport.Selection(sets: Set(HealthKitSet.allCases)), census: SampleCensus(places: 1 << 10),
            equalSamples: TemporarySamples.init)
        let reader = AutoExportReader(export)
        for pass in 1...3 {
            require(tell(document, inPiecesOf: piece, to: reader) == isGood)
            if pass == 2 { export.beginAgain() }
            if pass < 3 { reader.beginAgain() }
        }
        checkEntries(of: export, atMost: shape.objects)
    }

    private static func tell(
        _ document: [UInt8], inPiecesOf piece: Int, to handler: any JSONStreamHandler
    ) -> Bool {
        let stream = JSONStream(handler)
        do {
            for start in stride(from: 0, to: document.count, by: piece) {
                try stream.feed(document[start..<min(start + piece, document.count)])
            }
            try stream.feed([], isLast: true)
            return true
        } catch {
            return false
        }
    }

    // MARK: Zip

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
