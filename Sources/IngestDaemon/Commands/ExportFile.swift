import ExportBridge

/// What reads a document of an export, block by block.
enum ExportParser {
    /// Of Apple Health.
    case xml(XMLStream)
    /// Of the app Health Auto Export.
    case json(JSONStream, AutoExportReader)
}

/// The document of an export of HealthKit, piece by piece: Apple's XML, or the JSON of the app Health Auto Export, which
/// begins with a brace.
final class ExportFile {
    /// What is unpacked at once, in bytes.
    private static let blockSize = 128 << 10

    let path: String
    /// As messages name it.
    private var name: String { TerminalText.line(path) }
    private let stream: ZipStream
    private var prolog = HealthExportProlog()
    private var block = [UInt8](repeating: 0, count: blockSize)
    /// Of the block, what was read to see what it is, and not fed yet.
    private var first: Int?
    let isJSON: Bool
    private(set) var unpacked: Int64 = 0

    init(_ path: String) throws(CommandFailure) {
        self.path = path
        do throws(ZipError) {
            stream = try ZipStream(path: path, accepts: Self.isExport)
            let count = try stream.read(into: &block)
            first = count
            isJSON = Self.isJSON(block[..<count])
        } catch {
            throw Self.failure(error, TerminalText.line(path))
        }
    }

    /// The one for machines is beside the clinical one; its own name is translated.
    private static func isExport(_ member: String) -> Bool {
        member.hasSuffix(".xml") && !member.hasSuffix("_cda.xml")
    }

    /// Whether a document begins with a brace, behind a byte order mark or blanks.
    private static func isJSON(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.first { ![0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "{")
    }

    /// From 0 to 1.
    var progress: Double { stream.size > 0 ? min(Double(stream.position) / Double(stream.size), 1) : 1 }
    /// How many times larger the document is than what was read of the file.
    var ratio: Double { Double(unpacked) / Double(max(stream.position, 1)) }

    /// Feeds the next block to a parser.
    /// - Returns: false at the end.
    func feed(_ parser: ExportParser) throws(CommandFailure) -> Bool {
        do {
            let count = try first ?? stream.read(into: &block)
            first = nil
            unpacked += Int64(count)
            switch parser {
            case .xml(let parser):
                for index in 0..<count { block[index] = block[index].allowedInXML }
                try parser.feed(try prolog.pass(block[..<count], isLast: count == 0), isLast: count == 0)
            case .json(let parser, let reader):
                try parser.feed(block[..<count], isLast: count == 0)
                if count == 0, !reader.isExport { throw Self.noExport(name) }
            }
            return count > 0
        } catch let error as CommandFailure {
            throw error
        } catch let error as ZipError {
            throw Self.failure(error, name)
        } catch let error as HealthExportProlog.Failure {
            switch error {
            case .noExport: throw Self.noExport(name)
            case .entities:
                throw CommandFailure(
                    .badData, "\(name): its document defines entities, which no export of Apple Health does")
            }
        } catch let error as XMLError {
            throw Self.failure(error, name, lines: prolog.lines)
        } catch let error as JSONStream.Failure {
            throw Self.failure(error, name)
        } catch {
            throw CommandFailure(.badData, "\(name): \(error)")
        }
    }

    // MARK: Words

    private static func noExport(_ path: String) -> CommandFailure {
        CommandFailure(
            .badData,
            "\(path): this is no export of Apple Health: expected the export.zip of its Export All Health Data, or "
                + "the JSON of the app Health Auto Export"
        )
    }

    private static func failure(_ error: ZipError, _ path: String) -> CommandFailure {
        switch error {
        case .missing: CommandFailure(.noInput, "\(path): there is no such file")
        case .notAllowed: CommandFailure(.noInput, "\(path): it may not be read")
        case .unreadable(let number): CommandFailure(.noInput, "\(path): it cannot be read (errno \(number))")
        case .noArchive, .noMember: noExport(path)
        case .tooManyMembers:
            CommandFailure(
                .badData,
                "\(path): the zip has more files in it than an export: unpack it, and import its export.xml")
        case .tooLarge:
            CommandFailure(
                .badData, "\(path): its document has more than 64 GiB, which no export of Apple Health has")
        case .unknownMethod:
            CommandFailure(
                .badData,
                "\(path): the zip is encrypted, or packed as no phone packs it: unpack it, and import its export.xml"
            )
        case .damaged:
            CommandFailure(
                .badData,
                "\(path): the zip is damaged or broken off: copy it from the phone again, and import it again; what "
                    + "was imported stays, and is not doubled")
        }
    }

    private static func failure(_ error: XMLError, _ path: String, lines: Int) -> CommandFailure {
        let again = "export it again, and import it again; what was imported stays, and is not doubled"
        return switch error {
        case .malformed(let line):
            CommandFailure(.badData, "\(path): line \(line + lines) of its document is no XML: \(again)")
        case .brokenOff(let line):
            CommandFailure(.badData, "\(path): its document breaks off at line \(line + lines): \(again)")
        case .noMemory:
            CommandFailure(.tryAgain, "\(path): there is no memory left to read it with")
        case .documentType, .tooDeep, .tagTooLong, .nameTooLong, .tooManyAttributes, .tooManyNames,
            .tooMuchMemory:
            CommandFailure(
                .badData, "\(path): its document \(message(error)), which no export of Apple Health does")
        }
    }

    private static func failure(_ error: JSONStream.Failure, _ path: String) -> CommandFailure {
        let again = "export it again, and import it again; what was imported stays, and is not doubled"
        return switch error {
        case .malformed(let place):
            CommandFailure(.badData, "\(path): byte \(place) of its document is no JSON: \(again)")
        case .notUTF8(let place):
            CommandFailure(
                .badData, "\(path): the text before byte \(place) of its document is no UTF-8: \(again)")
        case .brokenOff(let place):
            CommandFailure(.badData, "\(path): its document breaks off at byte \(place): \(again)")
        case .tooDeep:
            CommandFailure(
                .badData,
                "\(path): its document nests objects too deeply, which no export of Health Auto Export does")
        }
    }

    private static func message(_ error: XMLError) -> String {
        switch error {
        case .tooDeep: "nests elements too deeply"
        case .tagTooLong: "has a tag of more than a megabyte"
        case .nameTooLong: "has a name of more than 256 bytes"
        case .tooManyAttributes: "has a tag with more than 64 attributes"
        case .tooManyNames: "has too many different names"
        case .tooMuchMemory: "takes more than 8 MiB of memory to read"
        default: "declares a second document type"
        }
    }
}
