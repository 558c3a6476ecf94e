import IngestRecords

/// A transaction: the gateways, devices and people of some records, and what was measured, each to be created where it is
/// not there yet (docs/destinations/fhir.md). The same records give the same bytes.
struct FHIRBundle {
    let records: [RecordContent]
    /// The system of the identifiers by which people are known; nil where subjects are ids of Patient resources.
    let patientSystem: String?

    /// A resource of the transaction, and what names it here and on the server.
    struct Name: Hashable {
        let type: String
        let system: String
        let value: String

        /// By which the others refer to it.
        var fullURL: String { "urn:uuid:" + NameUUID.text(of: Array("fhir|\(type)|\(system)|\(value)".utf8)) }

        /// A search for it.
        var condition: String { "identifier=" + Self.parameter(system) + "|" + Self.parameter(value) }

        /// A part of a token in a search (R4, section 3.1.1.1.7 for the signs that FHIR itself uses), in a URL's query.
        private static func parameter(_ text: String) -> String {
            var escaped: [UInt8] = []
            for byte in text.utf8 {
                if "$,|\\".utf8.contains(byte) { escaped.append(UInt8(ascii: "\\")) }
                escaped.append(byte)
            }
            return escaped.map { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    return String(UnicodeScalar(byte))
                case _ where "-._~:/".utf8.contains(byte): return String(UnicodeScalar(byte))
                default: return "%" + Hex.text([byte]).uppercased()
                }
            }.joined()
        }
    }

    /// Why a record cannot be sent; nil where it can.
    static func obstacle(_ record: RecordContent, patientSystem: String?) -> SetAsideReason? {
        guard let subject = record.subject else { return .unassigned }
        // The guide: test data are not for a server, except for testing.
        if let reason = record.reasonIsTest { return reason }
        if patientSystem == nil, !isID(subject) {
            return "is of a subject that is no id of a Patient; name a patient_system"
        }
        return record.image == nil && FHIRObservation.observations(of: record).isEmpty
            ? "has no value that this destination has a form for" : nil
    }

    /// R4, section 2.24.0.1: what a logical id is made of.
    private static func isID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    var bytes: [UInt8] {
        var text = JSONText()
        text.transaction { text in
            for gateway in unique(records.map(\.gateway)) {
                text.entry(Self.gateway(gateway)) { $0.phg(gateway) }
            }
            for address in unique(records.map(\.address)) where !address.isEmpty {
                let own = records.filter { $0.address == address }
                text.entry(Self.device(address)) { $0.phd(own) }
            }
            if let patientSystem {
                for subject in unique(records.compactMap(\.subject)) {
                    text.patientEntry(subject, system: patientSystem)
                }
            }
            for record in records { add(record, to: &text) }
        }
        return text.bytes
    }

    private func unique(_ texts: [String]) -> [String] {
        var seen: Set<String> = []
        return texts.filter { seen.insert($0).inserted }
    }

    static func gateway(_ id: String) -> Name { Name(type: "Device", system: FHIRSystem.own, value: id) }

    static func device(_ address: String) -> Name {
        Name(type: "Device", system: FHIRSystem.bluetoothAddress, value: address.replacing(":", with: "-"))
    }

    static func observation(_ record: RecordContent, _ key: String) -> Name {
        Name(type: "Observation", system: FHIRSystem.own, value: "\(record.id)-\(key)")
    }

    /// By which the others refer to a person.
    /// - Parameter system: nil where subjects are ids of Patient resources.
    static func patient(_ subject: String, system: String?) -> String {
        guard let system else { return "Patient/" + subject }
        return Name(type: "Patient", system: system, value: subject).fullURL
    }

    private func add(_ record: RecordContent, to text: inout JSONText) {
        let times = FHIRTimes(record)
        var clock: Name?
        if let shown = times.clock {
            let name = Self.observation(record, "clock")
            text.entry(name) { $0.clock(shown, of: record, name) }
            clock = name
        }
        let status = FHIRStatus(record)
        let observations = FHIRObservation.observations(of: record)
        let device = Self.device(record.address)
        let subject = record.subject ?? ""
        let context = FHIRObservationText(
            record: record, status: status, times: times, clock: clock,
            subject: status.isSetting ? device.fullURL : Self.patient(subject, system: patientSystem),
            guideSubject: patientSystem.map { "\(subject)-\($0)" } ?? subject,
            measured: observations.first.map { Self.observation(record, $0.key) })
        for observation in observations {
            let name = Self.observation(record, observation.key)
            text.entry(name) { context.write(observation, name, to: &$0) }
        }
    }
}

extension JSONText {
    mutating func transaction(_ entries: (inout JSONText) -> Void) {
        object { text in
            text.member("resourceType", "Bundle")
            text.member("type", "transaction")
            text.key("entry")
            text.beginArray()
            entries(&text)
            text.endArray()
        }
    }

    mutating func patientEntry(_ subject: String, system: String) {
        entry(FHIRBundle.Name(type: "Patient", system: system, value: subject)) { text in
            text.patient(subject, system: system)
        }
    }

    mutating func entry(_ name: FHIRBundle.Name, _ resource: (inout JSONText) -> Void) {
        object { text in
            text.member("fullUrl", name.fullURL)
            text.object("resource", resource)
            text.object("request") { text in
                text.member("method", "POST")
                text.member("url", name.type)
                text.member("ifNoneExist", name.condition)
            }
        }
    }
}
