import IngestRecords

/// Writes the observations of one record.
struct FHIRObservationText {
    let record: RecordContent
    let status: FHIRStatus
    let times: FHIRTimes
    /// The coincident time stamp, where there is one.
    let clock: FHIRBundle.Name?
    /// A reference.
    let subject: String
    /// The person's part of the guide's identifier.
    let guideSubject: String
    /// The first observation of the record: what its status is of.
    let measured: FHIRBundle.Name?

    private var isOfDevice: Bool { !record.address.isEmpty }

    func write(_ observation: FHIRObservation, _ name: FHIRBundle.Name, to text: inout JSONText) {
        text.member("resourceType", "Observation")
        // What was entered or imported is no observation of a personal health device.
        text.profile(isOfDevice ? observation.profile : nil, isTest: record.isSimulated)
        extensions(&text)
        identifiers(observation, name, &text)
        text.member("status", status.status)
        categories(observation, &text)
        switch observation.code {
        case .mdc(let code): text.concept("code", mdc: code, loincs: observation.loincs)
        case .loinc(let code): text.concept("code", FHIRSystem.loinc, code)
        }
        text.reference("subject", subject)
        effective(observation, &text)
        value(observation.value, &text)
        remarks(observation, &text)
        if isOfDevice {
            text.reference("device", FHIRBundle.device(record.address).fullURL)
        } else if let words = Self.words([record.manufacturer, record.model, record.firmware]) {
            // Not one that could be identified.
            text.object("device") { $0.member("display", words) }
        }
        if case .bits = observation.value, let measured {
            text.only("derivedFrom") { text in
                text.member("reference", measured.fullURL)
                text.member("type", measured.type)
            }
        } else if let related = record.related {
            text.only("derivedFrom") { $0.observation(ofRecord: related) }
        }
        components(observation, &text)
    }

    private func extensions(_ text: inout JSONText) {
        var references = [
            (
                "http://hl7.org/fhir/StructureDefinition/observation-gatewayDevice",
                FHIRBundle.gateway(record.gateway).fullURL
            )
        ]
        if let clock {
            references.append((FHIRSystem.profile("CoincidentTimeStampReference"), clock.fullURL))
        }
        text.key("extension")
        text.beginArray()
        for (url, reference) in references {
            text.object { text in
                text.member("url", url)
                text.reference("valueReference", reference)
            }
        }
        text.endArray()
    }

    /// The name that decides whether it is created, the record's, and the guide's where it can be made.
    private func identifiers(
        _ observation: FHIRObservation, _ name: FHIRBundle.Name, _ text: inout JSONText
    ) {
        text.key("identifier")
        text.beginArray()
        text.identifier(name.system, name.value)
        text.identifier(FHIRSystem.uri, "urn:uuid:" + record.id)
        if let seconds = times.deviceSeconds {
            let parts =
                [
                    record.systemID ?? record.address.replacing(":", with: ""), guideSubject,
                    observation.code.text,
                    String(seconds),
                ] + observation.supplements.map(String.init)
            text.identifier(FHIRSystem.guideIdentifier, parts.joined(separator: "-"))
        }
        text.endArray()
    }

    private func categories(_ observation: FHIRObservation, _ text: inout JSONText) {
        var categories = observation.categories
        if isOfDevice { categories.append((FHIRSystem.phdCategory, "phd")) }
        guard !categories.isEmpty else { return }
        text.key("category")
        text.beginArray()
        for (system, code) in categories {
            text.object { $0.codings { $0.coding(system, code) } }
        }
        text.endArray()
    }

    private func effective(_ observation: FHIRObservation, _ text: inout JSONText) {
        switch observation.seconds.flatMap({ times.effective(lasting: $0) }) ?? times.effective {
        case .moment(let moment): text.member("effectiveDateTime", moment)
        case .period(let start, let end):
            text.object("effectivePeriod") { text in
                if let start { text.member("start", start) }
                text.member("end", end)
            }
        }
    }

    private func value(_ value: FHIRObservation.Value, _ text: inout JSONText) {
        switch value {
        case .quantity(let number, let unit):
            text.object("valueQuantity") { text in
                text.key("value")
                text.value(json: Array(number.utf8))
                text.member("unit", unit)
                text.member("system", FHIRSystem.ucum)
                text.member("code", unit)
            }
        case .absent(let reason): text.concept("dataAbsentReason", FHIRSystem.absence, reason)
        case .coded(let code): text.concept("valueCodeableConcept", mdc: code)
        case .text(let words): text.object("valueCodeableConcept") { $0.member("text", words) }
        case .components, .bits: break
        }
    }

    private func remarks(_ observation: FHIRObservation, _ text: inout JSONText) {
        let origin =
            isOfDevice
            ? nil
            : "Not read from a device by the gateway: "
                + (Self.words([record.originName, record.originVersion]).map { "imported from \($0)." }
                    ?? "entered or imported.")
        switch observation.value {
        case .coded, .bits: return Self.notes([origin], &text)
        case .quantity, .absent, .components, .text: break
        }
        if !status.interpretations.isEmpty {
            text.key("interpretation")
            text.beginArray()
            for code in status.interpretations {
                text.object { $0.codings { $0.coding(FHIRSystem.measurementStatus, code) } }
            }
            text.endArray()
        }
        var notes = [origin]
        if record.timeSource == .unknown {
            notes.append("The time is not known: it was measured then or earlier.")
        }
        if !status.others.isEmpty {
            notes.append(
                (isOfDevice ? "The device says: " : "It says: ") + status.others.joined(separator: ", ") + "."
            )
        }
        Self.notes(notes, &text)
        if let site = status.site { text.object("bodySite") { $0.member("text", site) } }
    }

    private static func notes(_ notes: [String?], _ text: inout JSONText) {
        let notes = notes.compactMap(\.self)
        guard !notes.isEmpty else { return }
        text.key("note")
        text.beginArray()
        for note in notes { text.object { $0.member("text", note) } }
        text.endArray()
    }

    /// Nil where there are none.
    private static func words(_ parts: [String?]) -> String? {
        let words = parts.compactMap(\.self)
        return words.isEmpty ? nil : words.joined(separator: " ")
    }

    private func components(_ observation: FHIRObservation, _ text: inout JSONText) {
        var parts: [FHIRObservation.Component] = []
        if case .components(let components) = observation.value { parts = components }
        parts += observation.supplements.map {
            FHIRObservation.Component(code: FHIRTerms.supplementalTypes, value: .coded($0))
        }
        var bits: [Int] = []
        if case .bits(let set) = observation.value { bits = set }
        guard !parts.isEmpty || !bits.isEmpty else { return }
        text.key("component")
        text.beginArray()
        for bit in bits {
            text.object { text in
                text.concept("code", FHIRSystem.bits, "\(observation.code.text).\(bit)")
                text.member("valueBoolean", true)
            }
        }
        for part in parts {
            text.object { text in
                text.concept("code", mdc: part.code, loincs: FHIRObservation.loincs(part.code, part.value))
                value(part.value, &text)
            }
        }
        text.endArray()
    }
}
