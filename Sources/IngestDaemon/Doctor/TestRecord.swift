/// A record for trying out a destination: nobody's, without a value, and marked twice as a test, so that no receiver can
/// take it for a measurement.
struct TestRecord {
    static let kind = RecordKind.bodyTemperature

    let record: Record

    init(gateway: String, clock: any GatewayClock) {
        let nanoseconds = clock.wallNanoseconds
        let seconds = nanoseconds / 1_000_000_000
        record = Record(
            // A new one each time: receivers drop what they have got already.
            id: RecordID(text: NameUUID.text(of: Array("ingestd doctor \(gateway) \(nanoseconds)".utf8))),
            kind: Self.kind, stage: .live,
            time: RecordTime(
                value: ReadingTime.text(seconds, offset: 0), source: .received, device: nil,
                clockOffsetSeconds: nil, received: ReadingTime.text(seconds, offset: nil)),
            measurements: [
                Measurement(
                    type: "body-temperature", code: 150_364, value: .absent(.notANumber), unit: "Cel")
            ],
            flags: ["data-for-testing"], sequence: nil, user: nil, subject: nil,
            device: DeviceBlock(
                peripheralID: 1002, address: BluetoothAddress(value: 0), alias: "ingestd doctor"),
            gateway: gateway,
            // 2A1C as a thermometer sends it that has measured nothing: no flags, and the FLOAT that is not a number.
            raw: RawPayload(characteristic: BluetoothUUID(0x2A1C), bytes: [0x00, 0xFF, 0xFF, 0x7F, 0x00]),
            isSimulated: true)
    }

    func batch(of gateway: String) -> OutgoingBatch {
        OutgoingBatch(gateway: gateway, records: [record.json])
    }
}
