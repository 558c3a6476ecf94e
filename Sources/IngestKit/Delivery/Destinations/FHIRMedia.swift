import Crypto
import FoundationEssentials
import IngestRecords

/// A transaction with the photograph that somebody sent with an entry, and the person it belongs to
/// (docs/destinations/fhir.md). The same image gives the same bytes.
struct FHIRMedia {
    let record: RecordContent
    let image: Data
    /// The system of the identifiers by which people are known; nil where subjects are ids of Patient resources.
    let patientSystem: String?

    /// The code system of what Media can be, and the code of a photograph.
    private static let type = (system: "http://terminology.hl7.org/CodeSystem/media-type", code: "image")
    /// All else that the transaction says is shorter, in bytes.
    private static let frame = 1 << 14

    var bytes: [UInt8] {
        var text = JSONText()
        text.reserve(JSONText.base64Length(of: image.count) + Self.frame)
        let subject = record.subject ?? ""
        text.transaction { text in
            if let patientSystem { text.patientEntry(subject, system: patientSystem) }
            let name = FHIRBundle.Name(type: "Media", system: FHIRSystem.own, value: record.id)
            text.entry(name) { media(name, subject, &$0) }
        }
        return text.bytes
    }

    private func media(_ name: FHIRBundle.Name, _ subject: String, _ text: inout JSONText) {
        text.member("resourceType", "Media")
        text.key("identifier")
        text.beginArray()
        text.identifier(name.system, name.value)
        text.endArray()
        if let related = record.related {
            text.only("partOf") { $0.observation(ofRecord: related) }
        }
        text.member("status", "completed")
        text.concept("type", Self.type.system, Self.type.code)
        text.reference("subject", FHIRBundle.patient(subject, system: patientSystem))
        text.object("content") { text in
            text.member("contentType", record.image?.type ?? "")
            text.key("data")
            text.value(base64: image)
            text.member("size", image.count)
            // Of the data itself, and not of its base64 (R4, Attachment.hash).
            text.key("hash")
            text.value(base64: Data(Insecure.SHA1.hash(data: image)))
        }
    }
}
