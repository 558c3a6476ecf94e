import FoundationEssentials
import IngestRecords

/// What a server says to a transaction with a status of 2xx.
struct FHIRAnswer {
    private typealias Malformed = ReceivedBatch.Malformed

    /// What one entry led to.
    struct Outcome: Equatable {
        /// Nil if the server gave no valid status for this entry.
        let status: Int?
        /// The server's words, as JSON.
        let message: String?
        /// Where what was created stands (R4, Bundle.entry.response.location); nil for what is no such place.
        let location: String?
    }

    /// The longest location that is told, in bytes: of a resource and its version, an id of 64 characters each (R4, id),
    /// on a server with a long address.
    private static let longestLocation = 256

    private(set) var resourceType: String?
    private(set) var type: String?
    private(set) var outcomes: [Outcome] = []
    /// False if the text ends before its JSON does: of a long answer only the beginning is kept.
    private(set) var isWhole = true
    /// Whether it is no JSON, wherever it ends.
    private(set) var isMalformed = false

    init(_ reply: String) {
        // A byte order mark, which RFC 8259, section 8.1, lets a receiver ignore.
        let reply =
            reply.unicodeScalars.first == "\u{FEFF}" ? String(reply.unicodeScalars.dropFirst()) : reply
        do {
            try read(reply)
        } catch {
            isWhole = false
            isMalformed = error.offset < reply.utf8.count
        }
    }

    /// The entries of a transaction that is sent.
    static func entryCount(of bundle: [UInt8]) -> Int {
        var scanner = JSONScanner(bundle)
        var count = 0
        try? scanner.object { (name: String, scanner: inout JSONScanner) throws(Malformed) in
            guard name == #""entry""# else {
                try scanner.skip(depth: 1)
                return
            }
            try scanner.array { (scanner: inout JSONScanner) throws(Malformed) in
                try scanner.skip(depth: 2)
                count += 1
            }
        }
        return count
    }

    /// A server that takes a transaction answers with a Bundle, all of whose entries were taken. One that treats it as a
    /// batch says what became of each: then the records are told apart by halving.
    /// - Parameter entries: how many were sent.
    static func meaning(httpStatus: Int, reply: String?, entries: Int) -> DeliveryAnswer {
        // To ask again costs nothing: what was created is found to be there.
        guard let reply else {
            return .unavailable(
                httpStatus: httpStatus, error: "did not say what became of the records", retryAfter: nil)
        }
        let answer = FHIRAnswer(reply)
        // One that gives back a large resource before it says what became of it: that is cut off, and a transaction is
        // taken as a whole.
        if answer.resourceType == "Bundle", answer.type == "transaction-response", !answer.isWhole,
            !answer.isMalformed, answer.outcomes.isEmpty
        {
            return .taken(httpStatus: httpStatus)
        }
        guard !answer.isMalformed, answer.isBundleOfResponses, !answer.outcomes.isEmpty else {
            return .misplaced(httpStatus: httpStatus, error: "answers with no Bundle of responses")
        }
        let bad = answer.outcomes.compactMap { outcome in
            outcome.status.map { (status: $0, message: outcome.message) }
        }
        .filter { !(200..<300).contains($0.status) }
        .map { ($0, DeliveryAnswer(httpStatus: $0.status, retryAfter: nil, reply: $0.message)) }
        // What passes is waited for first; the entries that were taken are found to be there the next time.
        let passing = bad.first { _, answer in
            switch answer {
            case .refused, .tooLarge, .misplaced: false
            default: true
            }
        }
        if let (_, answer) = passing { return answer }
        guard let (outcome, _) = bad.first else {
            let count = answer.outcomes.count { $0.status != nil }
            if answer.isWhole ? count != entries : count < answer.outcomes.count {
                return .unavailable(
                    httpStatus: httpStatus,
                    error: "says of \(count) of \(entries) entries what became of them",
                    retryAfter: nil)
            }
            // What is not in the beginning is known of a transaction alone, which is taken as a whole.
            return answer.isWhole || answer.type == "transaction-response"
                ? .taken(httpStatus: httpStatus) : .tooLarge(httpStatus: httpStatus)
        }
        return .refused(
            httpStatus: outcome.status, error: "HTTP \(outcome.status) for an entry", reply: outcome.message)
    }

    /// In an answer that is cut off the type may be in the missing part.
    private var isBundleOfResponses: Bool {
        guard isWhole else { return resourceType ?? "Bundle" == "Bundle" }
        return resourceType == "Bundle" && (type == "transaction-response" || type == "batch-response")
    }

    private mutating func read(_ reply: String) throws(Malformed) {
        var scanner = JSONScanner(Array(reply.utf8))
        var resourceType: String?
        var type: String?
        var outcomes: [Outcome] = []
        defer {
            self.resourceType = resourceType
            self.type = type
            self.outcomes = outcomes
        }
        try scanner.object { (name: String, scanner: inout JSONScanner) throws(Malformed) in
            switch Self.text(of: name) {
            case "resourceType": resourceType = Self.text(of: try scanner.value(depth: 1))
            case "type": type = Self.text(of: try scanner.value(depth: 1))
            case "entry":
                try scanner.array { (scanner: inout JSONScanner) throws(Malformed) in
                    outcomes.append(Self.outcome(of: try scanner.value(depth: 2)))
                }
            default: try scanner.skip(depth: 1)
            }
        }
        try scanner.end()
    }

    private static func outcome(of entry: String) -> Outcome {
        let response = members(of: members(of: entry)["response"] ?? "{}")
        // `201 Created`
        let digits = (response["status"].flatMap(text) ?? "").prefix { $0.isNumber }
        let status = digits.count == 3 ? Int(digits) : nil
        return Outcome(
            status: status.flatMap { (100..<600).contains($0) ? $0 : nil }, message: response["outcome"],
            location: response["location"].flatMap(text).flatMap(place))
    }

    /// A location as it may stand in the journal: characters of a URL's path, and no query, which could say anything.
    private static func place(_ text: String) -> String? {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "/:.-_".utf8.contains(byte)
            }
        }
        return isPlain && (1...longestLocation).contains(text.utf8.count) ? text : nil
    }

    /// What the server calls the image of a transaction: the last of its entries.
    static func location(in reply: String?) -> String? {
        guard let reply else { return nil }
        return FHIRAnswer(reply).outcomes.last?.location
    }

    /// What a string of JSON says, its escapes undone; nil for what is no string.
    private static func text(of json: String) -> String? {
        try? JSONDecoder().decode(String.self, from: Data(json.utf8))
    }

    /// An object's members, each as JSON; none of what is no object.
    private static func members(of object: String) -> [String: String] {
        var scanner = JSONScanner(Array(object.utf8))
        var members: [String: String] = [:]
        try? scanner.object { (name: String, scanner: inout JSONScanner) throws(Malformed) in
            let value = try scanner.value(depth: 1)
            if let name = text(of: name) { members[name] = value }
        }
        return members
    }
}
