import IngestRecords

// The resources that stand around the measurements.
extension JSONText {
    /// The gateway.
    mutating func phg(_ gateway: String) {
        member("resourceType", "Device")
        profile(FHIRSystem.profile("PhgDevice"))
        key("identifier")
        beginArray()
        // It has no EUI-64 of its own; the guide's kinds of identifiers are open to others.
        identifier(FHIRSystem.own, gateway)
        endArray()
        member("manufacturer", "ingestd")
        member("modelNumber", "ingestd")
        type(531981, "MDC_MOC_VMS_MDS_AHD")
        only("specialization") { $0.specialized(RecordKind.genericSpecialization) }
        // What is written about measurements; the program's own version would be that of the first request for ever.
        only("version") { text in
            text.concept("type", FHIRSystem.mdc, "531977", display: "MDC_ID_PROD_SPEC_PROTOCOL")
            text.member("value", "1")
        }
        only("property") { text in
            text.concept("type", FHIRSystem.mdc, "68220", display: "MDC_TIME_SYNC_PROTOCOL")
            text.only("valueCode") { text in
                // NTP mostly, of a version that is not known, or a real-time clock.
                text.codings { $0.coding(FHIRSystem.mdc, "532236", display: "MDC_TIME_SYNC_OTHER") }
            }
        }
    }

    /// A device, by its records: one at least.
    mutating func phd(_ records: [RecordContent]) {
        member("resourceType", "Device")
        profile(FHIRSystem.profile("PhdDevice"))
        let name = FHIRBundle.device(records[0].address)
        key("identifier")
        beginArray()
        deviceIdentifier("BTMAC", name.system, name.value)
        if let id = records.lazy.compactMap(\.systemID).first {
            deviceIdentifier("SYSID", FHIRSystem.systemID, Self.hyphenated(id))
        }
        endArray()
        if let udi = records.lazy.compactMap(\.udi).first { udiCarrier(udi) }
        member("manufacturer", orUnknown: records.lazy.compactMap(\.manufacturer).first)
        if let serial = records.lazy.compactMap(\.serial).first { member("serialNumber", serial) }
        member("modelNumber", orUnknown: records.lazy.compactMap(\.model).first)
        type(65573, "MDC_MOC_VMS_MDS_SIMP")
        key("specialization")
        beginArray()
        var seen: Set<UInt32> = []
        for code in records.compactMap(\.kind.specialization) where seen.insert(code).inserted {
            object { $0.specialized(code) }
        }
        endArray()
        key("version")
        beginArray()
        object { text in
            text.concept("type", FHIRSystem.mdc, "531976", display: "MDC_ID_PROD_SPEC_FW")
            text.member("value", orUnknown: records.lazy.compactMap(\.firmware).first)
        }
        for (code, display, version) in [
            ("531974", "MDC_ID_PROD_SPEC_HW", records.lazy.compactMap(\.hardware).first),
            ("531975", "MDC_ID_PROD_SPEC_SW", records.lazy.compactMap(\.software).first),
        ] {
            guard let version else { continue }
            object { text in
                text.concept("type", FHIRSystem.mdc, code, display: display)
                text.member("value", version)
            }
        }
        endArray()
    }

    private mutating func deviceIdentifier(_ type: String, _ system: String, _ value: String) {
        object { text in
            text.concept("type", FHIRSystem.deviceIdentifierType, type)
            text.member("system", system)
            text.member("value", value)
        }
    }

    /// The guide's carrier of a UDI that the device told: its label is what it demands.
    private mutating func udiCarrier(_ udi: UniqueDeviceIdentifier) {
        guard let label = udi.label else { return }
        only("udiCarrier") { text in
            if let identifier = udi.deviceIdentifier { text.member("deviceIdentifier", identifier) }
            if let issuer = udi.issuer.flatMap(Self.uri) { text.member("issuer", issuer) }
            if let authority = udi.authority.flatMap(Self.uri) { text.member("jurisdiction", authority) }
            text.member("carrierHRF", label)
            text.member("entryType", "electronic-transmission")
        }
    }

    /// An OID as FHIR has it; nil for what is no OID.
    private static func uri(_ oid: String) -> String? {
        let arcs = oid.split(separator: ".", omittingEmptySubsequences: false)
        let isOID =
            arcs.count > 1
            && arcs.allSatisfy { arc in
                !arc.isEmpty && arc.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                    && (arc == "0" || !arc.hasPrefix("0"))
            } && ["0", "1", "2"].contains(arcs[0])
        return isOID ? "urn:oid:" + oid : nil
    }

    /// `FE-ED-AB-EE-DE-AD-77-C3`.
    private static func hyphenated(_ digits: String) -> String {
        stride(from: 0, to: digits.utf8.count, by: 2).map { digits.dropFirst($0).prefix(2) }
            .joined(separator: "-")
    }

    mutating func patient(_ subject: String, system: String) {
        member("resourceType", "Patient")
        profile(FHIRSystem.profile("PhdPatient"))
        only("identifier") { text in
            // Unspecified: the configuration does not say whose numbers these are.
            text.concept("type", FHIRSystem.identifierType, "U")
            text.member("system", system)
            text.member("value", subject)
        }
    }

    /// The guide's coincident time stamp.
    mutating func clock(_ clock: FHIRTimes.Clock, of record: RecordContent, _ name: FHIRBundle.Name) {
        member("resourceType", "Observation")
        profile(FHIRSystem.profile("PhdCoincidentTimeStampObservation"))
        key("identifier")
        beginArray()
        identifier(name.system, name.value)
        endArray()
        member("status", "final")
        concept("code", FHIRSystem.mdc, "67975", display: "MDC_ATTR_TIME_ABS")
        reference("subject", FHIRBundle.device(record.address).fullURL)
        member("effectiveDateTime", clock.gateway)
        if let device = clock.device {
            member("valueDateTime", device)
        } else {
            concept("dataAbsentReason", FHIRSystem.absence, "unknown")
        }
        reference("device", FHIRBundle.gateway(record.gateway).fullURL)
    }

    mutating func profile(_ url: String?, isTest: Bool = false) {
        guard url != nil || isTest else { return }
        object("meta") { text in
            if let url { text.member("profile", [url]) }
            if isTest {
                text.key("security")
                text.beginArray()
                text.coding(FHIRSystem.reason, "HTEST")
                text.endArray()
            }
        }
    }

    private mutating func type(_ code: UInt32, _ display: String) {
        concept("type", FHIRSystem.mdc, String(code), display: display)
    }

    private mutating func specialized(_ code: UInt32) {
        concept("systemType", FHIRSystem.mdc, String(code))
        // What a device does not say is what the guide's examples have: the first version of a specialization, and the
        // second of the generic one.
        member("version", code == RecordKind.genericSpecialization ? "2" : "1")
    }
}

extension RecordKind {
    /// MDC_DEV_SPEC_PROFILE_GENERIC.
    fileprivate static let genericSpecialization: UInt32 = 528457

    /// The device specialization (MDC) that measures it; nil where the guide has no code for what is measured.
    var specialization: UInt32? {
        switch self {
        case .bloodPressure: 528391
        case .glucose, .glucoseContext: 528401
        case .continuousGlucose: 528409
        case .bodyTemperature: 528392
        case .weight, .miScale: 528399
        case .bodyComposition: 528404
        case .pulseOximetry: 528388
        case .heartRate: 528525
        case .healthObservation, .mibeacon: Self.genericSpecialization
        default: nil
        }
    }
}
