import CExpat

/// Why a document is not read on.
public enum XMLError: Error, Equatable {
    /// It is no XML, from this line on.
    case malformed(line: Int)
    /// It ends in the middle.
    case brokenOff(line: Int)
    /// It declares a document type, which could define entities.
    case documentType
    /// More than a bound allows.
    case tooDeep
    case tagTooLong
    case tooManyNames
    /// The machine has none left to read it with.
    case noMemory
}

/// What is told of a document's elements.
public protocol XMLHandler: AnyObject {
    /// Whether an element's attributes are of interest.
    func wantsAttributes(of element: String) -> Bool
    func begin(_ element: String, _ attributes: [String: String])
    func end(_ element: String)
}

/// Reads elements and attributes of an XML document as it comes, in bounded memory whatever the document is: no document
/// types, so no entities but the five of XML, and bounds for depth, length and the number of different names.
///
/// Stands on expat's XML_Parse, which keeps one unfinished tag, and each different name. Safe: the parser is this object's
/// alone and freed with it, and calls back only from within `feed`.
@safe
public final class XMLStream {
    private static let mostDepth = 16
    /// In bytes.
    private static let longestTag = 1 << 20
    /// Of elements, and of attributes.
    private static let mostNames = 1_000

    private let parser: XML_Parser
    private let handler: any XMLHandler
    private var failure: XMLError?
    private var depth = 0
    private var fed: Int64 = 0
    private var elements: Set<String> = []
    /// By the addresses of expat's own copies, which stay as long as it does.
    private var attributes: [UInt: String] = [:]

    /// - Parameter handler: called from within `feed`.
    /// - Throws: `.noMemory`.
    public init(_ handler: any XMLHandler) throws(XMLError) {
        self.handler = handler
        guard let parser = unsafe XML_ParserCreate(nil) else { throw .noMemory }
        unsafe self.parser = parser
        // It is called back only while `feed` runs, which holds self.
        unsafe XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        unsafe XML_SetElementHandler(
            parser,
            { context, name, attributes in
                guard let context = unsafe context, let name = unsafe name else { return }
                let stream = unsafe Unmanaged<XMLStream>.fromOpaque(context).takeUnretainedValue()
                unsafe stream.begin(String(cString: name), attributes)
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
        unsafe XML_ParserFree(parser)
    }

    /// Goes on with the next bytes; `isLast` with the end.
    public func feed(_ bytes: ArraySlice<UInt8>, isLast: Bool = false) throws(XMLError) {
        fed += Int64(bytes.count)
        let status = unsafe bytes.withUnsafeBytes { buffer in
            unsafe XML_Parse(
                parser, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(buffer.count),
                isLast ? 1 : 0)
        }
        if let failure { throw failure }
        guard status == XML_STATUS_OK else {
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

    private func begin(_ name: String, _ pairs: UnsafeMutablePointer<UnsafePointer<CChar>?>?) {
        guard failure == nil else { return }
        depth += 1
        if depth > Self.mostDepth { return stop(.tooDeep) }
        elements.insert(name)
        let wants = handler.wantsAttributes(of: name)
        var found: [String: String] = [:]
        var index = 0
        while let key = unsafe pairs?[index], let value = unsafe pairs?[index + 1] {
            let known = unsafe self.name(key)
            if wants { found[known] = unsafe String(cString: value) }
            index += 2
        }
        if elements.count > Self.mostNames || attributes.count > Self.mostNames {
            return stop(.tooManyNames)
        }
        handler.begin(name, found)
    }

    private func end(_ name: String) {
        guard failure == nil else { return }
        depth -= 1
        handler.end(name)
    }

    private func name(_ pointer: UnsafePointer<CChar>) -> String {
        let address = UInt(bitPattern: pointer)
        if let known = attributes[address] { return known }
        let name = unsafe String(cString: pointer)
        attributes[address] = name
        return name
    }
}
