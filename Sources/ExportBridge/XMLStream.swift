import CExpat
import Glibc

/// Why a document is not read on.
package enum XMLError: Error, Equatable {
    /// It is no XML, from this line on.
    case malformed(line: Int)
    /// It ends in the middle.
    case brokenOff(line: Int)
    /// It declares a document type, which could define entities.
    case documentType
    /// More than a bound allows.
    case tooDeep
    case tagTooLong
    case nameTooLong
    case tooManyAttributes
    case tooManyNames
    case tooMuchMemory
    /// The machine has none left to read it with.
    case noMemory
}

/// What is told of a document's elements.
package protocol XMLHandler: AnyObject {
    /// Whether an element's attributes are of interest.
    func wantsAttributes(of element: String) -> Bool
    func begin(_ element: String, _ attributes: [String: String])
    func end(_ element: String)
}

/// Reads elements and attributes of an XML document as it comes, in bounded memory whatever the document is: no document
/// types, so no entities but the five of XML, and bounds for depth, length, the number of attributes and of different
/// names, and for all that the parser holds.
///
/// Stands on expat's XML_Parse, which keeps one unfinished tag, and each different name for as long as it lives. Safe:
/// the parser and its memory's count are this object's alone and freed with it, and it calls back only from within
/// `feed`.
@safe
package final class XMLStream {
    private static let mostDepth = 16
    /// In bytes. Expat gives text and CDATA in parts, but keeps a comment or an instruction, like a tag, until its end.
    private static let longestTag = 1 << 20
    /// Of elements, and of attributes.
    private static let mostNames = 1_000
    /// In bytes of UTF-8. The longest of an export has 44.
    private static let longestName = 256
    /// Of one element. A workout has 14.
    private static let mostAttributes = 64
    /// In bytes, for all that expat holds: four times what a tag of 1 MiB takes, which is there as read and as values.
    package static let mostMemory = 8 << 20

    private let parser: XML_Parser
    private let memory: UnsafeMutablePointer<CExpat_memory>
    private let handler: any XMLHandler
    private var failure: XMLError?
    private var depth = 0
    private var fed: Int64 = 0
    private var elements: Set<String> = []
    /// By the addresses of expat's own copies, which stay as long as it does.
    private var attributes: [UInt: String] = [:]

    /// - Parameter handler: called from within `feed`.
    /// - Throws: `.noMemory`.
    package init(_ handler: any XMLHandler) throws(XMLError) {
        self.handler = handler
        let memory = UnsafeMutablePointer<CExpat_memory>.allocate(capacity: 1)
        unsafe memory.initialize(
            to: CExpat_memory(held: 0, most: Self.mostMemory, highest: 0, is_exhausted: 0))
        guard let parser = unsafe CExpat_create(memory) else {
            unsafe memory.deallocate()
            throw .noMemory
        }
        unsafe self.parser = parser
        unsafe self.memory = memory
        // It is called back only while `feed` runs, which holds self.
        unsafe XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        unsafe XML_SetElementHandler(
            parser,
            { context, name, attributes in
                guard let context = unsafe context, let name = unsafe name else { return }
                let stream = unsafe Unmanaged<XMLStream>.fromOpaque(context).takeUnretainedValue()
                unsafe stream.begin(name, attributes)
            },
            { context, name in
                guard let context = unsafe context, let name = unsafe name else { return }
                let stream = unsafe Unmanaged<XMLStream>.fromOpaque(context).takeUnretainedValue()
                stream.end(unsafe String(cString: name))
            })
        unsafe XML_SetStartDoctypeDeclHandler(parser) { context, _, _, _, _ in
            guard let context = unsafe context else { return }
            unsafe Unmanaged<XMLStream>.fromOpaque(context).takeUnretainedValue().stop(.documentType)
        }
    }

    deinit {
        unsafe CExpat_free(parser, memory)
        unsafe memory.deallocate()
    }

    /// The most that the parser has held at once, in bytes.
    package var highestMemory: Int { Int(clamping: unsafe memory.pointee.highest) }

    /// Goes on with the next bytes; `isLast` with the end.
    package func feed(_ bytes: ArraySlice<UInt8>, isLast: Bool = false) throws(XMLError) {
        fed += Int64(bytes.count)
        let status = unsafe bytes.withUnsafeBytes { buffer in
            unsafe CExpat_parse(
                parser, memory, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(buffer.count),
                isLast ? 1 : 0)
        }
        if let failure { throw failure }
        if unsafe memory.pointee.is_exhausted != 0 { throw .tooMuchMemory }
        guard status == XML_STATUS_OK else {
            if unsafe XML_GetErrorCode(parser) == XML_ERROR_NO_MEMORY { throw .noMemory }
            let line = Int(clamping: unsafe XML_GetCurrentLineNumber(parser))
            throw isLast ? .brokenOff(line: line) : .malformed(line: line)
        }
        // What is left of the bytes is an unfinished tag.
        if fed - Int64(unsafe XML_GetCurrentByteIndex(parser)) > Int64(Self.longestTag) { throw .tagTooLong }
    }

    private func stop(_ error: XMLError) {
        failure = failure ?? error
        unsafe XML_StopParser(parser, 0)
    }

    private func begin(
        _ pointer: UnsafePointer<CChar>, _ pairs: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) {
        guard failure == nil else { return }
        depth += 1
        if depth > Self.mostDepth { return stop(.tooDeep) }
        guard let name = unsafe Self.text(pointer) else { return stop(.nameTooLong) }
        elements.insert(name)
        if elements.count > Self.mostNames { return stop(.tooManyNames) }
        let wants = handler.wantsAttributes(of: name)
        var found: [String: String] = [:]
        var index = 0
        while let key = unsafe pairs?[index], let value = unsafe pairs?[index + 1] {
            if index >= 2 * Self.mostAttributes { return stop(.tooManyAttributes) }
            guard let known = unsafe self.name(key) else { return stop(.nameTooLong) }
            if attributes.count > Self.mostNames { return stop(.tooManyNames) }
            if wants { found[known] = unsafe String(cString: value) }
            index += 2
        }
        handler.begin(name, found)
    }

    private func end(_ name: String) {
        guard failure == nil else { return }
        depth -= 1
        handler.end(name)
    }

    /// An attribute's name; nil if it is too long.
    private func name(_ pointer: UnsafePointer<CChar>) -> String? {
        let address = UInt(bitPattern: pointer)
        if let known = attributes[address] { return known }
        guard let name = unsafe Self.text(pointer) else { return nil }
        attributes[address] = name
        return name
    }

    /// A name; nil if it is too long.
    private static func text(_ pointer: UnsafePointer<CChar>) -> String? {
        guard unsafe strnlen(pointer, longestName + 1) <= longestName else { return nil }
        return unsafe String(cString: pointer)
    }
}
