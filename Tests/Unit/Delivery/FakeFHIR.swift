import Crypto
import FoundationEssentials
import Synchronization

@testable import IngestCore
@testable import IngestDelivery
@testable import IngestRecords

/// A FHIR R4 server as far as transactions go, as strict as the specification: what has an unknown member, a wrong type, a
/// reference to nothing or no header that it needs is refused, and nothing of it is kept. Resources are created where
/// `ifNoneExist` finds none.
final class FakeFHIR: Sendable {
    /// JSON, of which the fake looks at the shape.
    indirect enum JSON: Decodable {
        case text(String)
        case number(Double)
        case truth
        case list([JSON])
        case object([String: JSON])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let members = try? container.decode([String: JSON].self) {
                self = .object(members)
            } else if let list = try? container.decode([JSON].self) {
                self = .list(list)
            } else if (try? container.decode(Bool.self)) != nil {
                self = .truth
            } else {
                self = .number(try container.decode(Double.self))
            }
        }

        subscript(name: String) -> JSON? {
            guard case .object(let members) = self else { return nil }
            return members[name]
        }
        var text: String? { if case .text(let text) = self { text } else { nil } }
        var list: [JSON] { if case .list(let list) = self { list } else { [] } }
    }

    struct Fault: Error {
        var status = 400
        let what: String
    }

    struct Kept: Equatable {
        let type: String
        /// As `system|value`.
        let identifiers: [String]
        /// Of a Media.
        var image: Data?
    }

    private struct State {
        var kept: [Kept] = []
        var requests = 0
        var faults: [String] = []
        var credential: String?
        var patients: Set<String> = []
        /// Values that it has something against, and the status that it refuses them with.
        var refused: [String: Int] = [:]
        var answersEach = false
        var answer: TestReceiver.Answer?
    }

    private let state = Mutex(State())

    var kept: [Kept] { state.withLock { $0.kept } }
    var requests: Int { state.withLock { $0.requests } }
    var faults: [String] { state.withLock { $0.faults } }
    /// The observations, by the names that the gateway gives them.
    var observations: [String] {
        kept.filter { $0.type == "Observation" }.compactMap { $0.identifiers.first }
            .map { $0.replacing(FHIRSystem.own + "|", with: "") }
    }

    func want(authorization: String?) { state.withLock { $0.credential = authorization } }
    func know(patient id: String) { state.withLock { _ = $0.patients.insert(id) } }
    func keep(_ kept: Kept) { state.withLock { $0.kept.append(kept) } }
    func refuse(identifier: String, _ status: Int?) { state.withLock { $0.refused[identifier] = status } }
    /// Whether a transaction is worked off like a batch.
    func answerEach(_ value: Bool) { state.withLock { $0.answersEach = value } }
    func answer(_ answer: TestReceiver.Answer?) { state.withLock { $0.answer = answer } }

    func answer(_ request: TestReceiver.Received) -> TestReceiver.Answer {
        state.withLock { state in
            state.requests += 1
            if let answer = state.answer { return answer }
            if let credential = state.credential, request.headers["authorization"] != credential {
                return Self.outcome(401, "login")
            }
            do throws(Fault) {
                return try Self.work(request, &state)
            } catch {
                state.faults.append(error.what)
                return Self.outcome(error.status, error.what)
            }
        }
    }

    private static func outcome(_ status: Int, _ words: String) -> TestReceiver.Answer {
        TestReceiver.Answer(
            status: status,
            body: #"{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"invalid","#
                + #""diagnostics":"\#(words)"}]}"#)
    }

    private static func work(
        _ request: TestReceiver.Received, _ state: inout State
    ) throws(Fault) -> TestReceiver.Answer {
        guard request.target == "POST /r4" else { throw Fault(status: 404, what: "target") }
        guard request.headers["content-type"] == "application/fhir+json" else {
            throw Fault(status: 415, what: "Content-Type")
        }
        guard request.headers["accept"] == "application/fhir+json" else {
            throw Fault(status: 406, what: "Accept")
        }
        guard let bundle = try? JSONDecoder().decode(JSON.self, from: Data(request.body)) else {
            throw Fault(what: "JSON")
        }
        try check(bundle, ["resourceType": .text, "type": .text, "entry": .list])
        guard bundle["resourceType"]?.text == "Bundle", bundle["type"]?.text == "transaction" else {
            throw Fault(what: "no transaction")
        }
        let entries = bundle["entry"]?.list ?? []
        let names = Set(entries.compactMap { $0["fullUrl"]?.text })
        guard names.count == entries.count else { throw Fault(what: "fullUrl") }
        var after = state
        var responses: [String] = []
        for entry in entries {
            do throws(Fault) {
                let status = try create(entry, names, &after)
                let type = entry["resource"]?["resourceType"]?.text ?? ""
                // R4, Bundle.entry.response.location.
                responses.append(#""\#(status)","location":"\#(type)/\#(after.kept.count)/_history/1""#)
            } catch {
                guard state.answersEach else { throw error }
                responses.append(#""\#(error.status) No","outcome":{"resourceType":"OperationOutcome"}"#)
            }
        }
        state = after
        let type = state.answersEach ? "batch" : "transaction"
        return TestReceiver.Answer(
            status: 200,
            body: #"{"resourceType":"Bundle","type":"\#(type)-response","entry":["#
                + responses.map { #"{"response":{"status":\#($0)}}"# }.joined(separator: ",") + "]}")
    }

    /// - Returns: the status of the entry.
    private static func create(_ entry: JSON, _ names: Set<String>, _ state: inout State) throws(Fault)
        -> String
    {
        try check(entry, ["fullUrl": .text, "resource": .object, "request": .object])
        guard let resource = entry["resource"], let request = entry["request"],
            let type = resource["resourceType"]?.text, let members = members[type]
        else { throw Fault(what: "unknown type of resource") }
        try check(request, ["method": .text, "url": .text, "ifNoneExist": .text])
        guard request["method"]?.text == "POST", request["url"]?.text == type else {
            throw Fault(what: "request")
        }
        try check(resource, members)
        try checkReferences(resource, names, state.patients)
        let identifiers = (resource["identifier"]?.list ?? []).map {
            ($0["system"]?.text ?? "") + "|" + ($0["value"]?.text ?? "")
        }
        if let status = identifiers.compactMap({ state.refused[$0] }).first {
            throw Fault(status: status, what: "refused")
        }
        let condition = (request["ifNoneExist"]?.text ?? "").dropFirst("identifier=".count)
        guard let wanted = String(condition).removingPercentEscapes, identifiers.contains(wanted) else {
            throw Fault(what: "ifNoneExist is not of the resource: \(condition)")
        }
        let matches = state.kept.filter { $0.type == type && $0.identifiers.contains(wanted) }
        if matches.count > 1 { throw Fault(status: 412, what: "several match") }
        guard matches.isEmpty else { return "200 OK" }
        state.kept.append(
            Kept(type: type, identifiers: identifiers, image: try resource["content"].map(image)))
        return "201 Created"
    }

    /// The bytes of an attachment that says of them what is so.
    private static func image(_ content: JSON) throws(Fault) -> Data {
        try check(content, ["contentType": .text, "data": .text, "size": .number, "hash": .text])
        guard let data = content["data"]?.text.flatMap({ Data(base64Encoded: $0) }),
            case .number(Double(data.count)) = content["size"],
            content["hash"]?.text == Data(Insecure.SHA1.hash(data: data)).base64EncodedString(),
            EntryImage(data)?.rawValue == content["contentType"]?.text
        else { throw Fault(what: "attachment") }
        return data
    }

    // MARK: - Shapes

    private enum Shape { case text, number, list, object }

    private static let members: [String: [String: Shape]] = [
        "Patient": ["resourceType": .text, "meta": .object, "identifier": .list],
        "Media": [
            "resourceType": .text, "identifier": .list, "partOf": .list, "status": .text, "type": .object,
            "subject": .object, "content": .object,
        ],
        "Device": [
            "resourceType": .text, "meta": .object, "identifier": .list, "manufacturer": .text,
            "_manufacturer": .object, "serialNumber": .text, "modelNumber": .text, "_modelNumber": .object,
            "type": .object, "specialization": .list, "version": .list, "property": .list,
        ],
        "Observation": [
            "resourceType": .text, "meta": .object, "extension": .list, "identifier": .list, "status": .text,
            "category": .list, "code": .object, "subject": .object, "effectiveDateTime": .text,
            "effectivePeriod": .object, "valueQuantity": .object, "valueCodeableConcept": .object,
            "valueDateTime": .text, "dataAbsentReason": .object, "interpretation": .list, "note": .list,
            "bodySite": .object, "device": .object, "derivedFrom": .list, "component": .list,
        ],
    ]

    private static func check(_ object: JSON, _ members: [String: Shape]) throws(Fault) {
        guard case .object(let found) = object else { throw Fault(what: "no object") }
        for (name, value) in found {
            switch (members[name], value) {
            case (.text, .text(let text)) where !text.isEmpty: break
            case (.number, .number): break
            case (.list, .list(let list)) where !list.isEmpty: break
            case (.object, .object(let members)) where !members.isEmpty: break
            default: throw Fault(what: "member \(name)")
            }
        }
    }

    private static func checkReferences(
        _ value: JSON, _ names: Set<String>, _ patients: Set<String>
    ) throws(Fault) {
        switch value {
        case .list(let list): for item in list { try checkReferences(item, names, patients) }
        case .object(let members):
            for item in members.values { try checkReferences(item, names, patients) }
            guard let reference = members["reference"]?.text else { return }
            guard names.contains(reference) || patients.contains(reference.replacing("Patient/", with: ""))
            else {
                throw Fault(what: "reference to nothing: \(reference)")
            }
        default: break
        }
    }
}

extension String {
    fileprivate var removingPercentEscapes: String? {
        var bytes: [UInt8] = []
        var rest = self.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard rest.count >= 2,
                    let decoded = Hex.bytes(String(decoding: rest.prefix(2), as: UTF8.self))
                else { return nil }
                bytes += decoded
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        // What FHIR escapes itself.
        return String(decoding: bytes, as: UTF8.self).replacing("\\", with: "")
    }
}
