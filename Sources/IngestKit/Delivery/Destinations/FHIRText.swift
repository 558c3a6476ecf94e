// The parts of FHIR resources that many of them have.
extension JSONText {
    mutating func object(_ members: (inout JSONText) -> Void) {
        beginObject()
        members(&self)
        endObject()
    }

    mutating func object(_ name: String, _ members: (inout JSONText) -> Void) {
        key(name)
        object(members)
    }

    /// An array of one object.
    mutating func only(_ name: String, _ members: (inout JSONText) -> Void) {
        key(name)
        beginArray()
        object(members)
        endArray()
    }

    mutating func coding(_ system: String, _ code: String, display: String? = nil) {
        object { text in
            text.member("system", system)
            text.member("code", code)
            if let display { text.member("display", display) }
        }
    }

    /// A CodeableConcept with one coding.
    mutating func concept(_ name: String, _ system: String, _ code: String, display: String? = nil) {
        object(name) { $0.codings { $0.coding(system, code, display: display) } }
    }

    mutating func concept(_ name: String, mdc code: UInt32, loincs: [String] = []) {
        object(name) { text in
            text.codings { text in
                text.coding(FHIRSystem.mdc, String(code), display: FHIRTerms.term(code)?.name)
                for loinc in loincs { text.coding(FHIRSystem.loinc, loinc) }
            }
        }
    }

    mutating func codings(_ codings: (inout JSONText) -> Void) {
        key("coding")
        beginArray()
        codings(&self)
        endArray()
    }

    mutating func reference(_ name: String, _ reference: String) {
        object(name) { $0.member("reference", reference) }
    }

    /// What refers to the observations of a record, which may be in another request.
    mutating func observation(ofRecord id: String) {
        member("type", "Observation")
        key("identifier")
        identifier(FHIRSystem.uri, "urn:uuid:" + id)
    }

    mutating func identifier(_ system: String, _ value: String) {
        object { text in
            text.member("system", system)
            text.member("value", value)
        }
    }

    /// A text, or that it is unknown: the guide demands it, and not every device tells it.
    mutating func member(_ name: String, orUnknown value: String?) {
        if let value { return member(name, value) }
        object("_" + name) { text in
            text.only("extension") { text in
                text.member("url", "http://hl7.org/fhir/StructureDefinition/data-absent-reason")
                text.member("valueCode", "unknown")
            }
        }
    }
}
