import TestSupport
import Testing

@testable import IngestRecords

@Suite struct RecordJSONTests {
    private func record(
        of bytes: [UInt8], isSimulated: Bool = false, device: DeviceBlock, entry: AllowedPeripheral
    ) -> Record {
        RecordFactory(
            gateway: "ward-3-box-1", zone: .utc, bootID: "3b0f7c1e-8f0e-4c0a-9d37-5b1a6f0c2d11",
            isSimulated: isSimulated
        ).make(
            try? Profiles.decode(characteristic: 0x2A35, bytes: bytes),
            raw: RawPayload(characteristic: 0x2A35, bytes: bytes),
            reception: .init(
                instant: MonotonicInstant(nanoseconds: 734_512_000_000),
                wallNanoseconds: 1_795_166_104_000_000_000),
            subjects: entry.subjects, device: device
        ).record
    }

    @Test func aFullRecordIsWrittenByteForByte() {
        var record = record(
            of: SampleCuff.dated,
            device: DeviceBlock(
                peripheralID: 1001, address: SampleCuff.address, alias: "kitchen \"cuff\"",
                manufacturer: "ACME", model: "BP-1", serial: "0042", firmware: "1.0", battery: 90),
            entry: SampleCuff.entry(subject: "patient-17"))
        record.sequence = 7
        record.time.clockOffsetSeconds = -3
        #expect(
            record.json
                == #"{"version":1,"id":"\#(record.id)","kind":"blood-pressure","stage":"live","#
                + #""time":{"value":"2026-11-20T09:14:57+00:00","source":"device","device":"2026-11-20T09:14:57","#
                + #""clock_offset_s":-3,"received":"2026-11-20T09:15:04Z"},"#
                + #""measurements":[{"type":"systolic","code":"150021","value":138,"unit":"mm[Hg]"},"#
                + #"{"type":"diastolic","code":"150022","value":85,"unit":"mm[Hg]"},"#
                + #"{"type":"mean-arterial-pressure","code":"150023","value":102,"unit":"mm[Hg]"},"#
                + #"{"type":"pulse-rate","code":"149546","value":72,"unit":"/min"}],"#
                + #""flags":["irregular-pulse"],"sequence":7,"user":1,"subject":"patient-17","#
                + #""device":{"peripheral_id":1001,"address":"F1:F1:F1:F1:F1:F1","alias":"kitchen \"cuff\"","#
                + #""manufacturer":"ACME","model":"BP-1","serial":"0042","firmware":"1.0","battery":90},"#
                + #""gateway":"ward-3-box-1","#
                + #""software":"0.1.0","#
                + #""raw":{"characteristic":"2A35","hex":"1e8a0055006600ea070b14090e394800010400"}}"#)
    }

    @Test func whatIsUnknownIsLeftOut() {
        // kPa; 18.4, 11.3, not a number
        let record = record(
            of: [0x01, 0xB8, 0xF0, 0x71, 0xF0, 0xFF, 0x07], isSimulated: true,
            device: DeviceBlock(peripheralID: 1001, address: SampleCuff.address, alias: nil),
            entry: SampleCuff.entry())
        #expect(
            record.json
                == #"{"version":1,"id":"\#(record.id)","kind":"blood-pressure","stage":"live","#
                + #""time":{"value":"2026-11-20T09:15:04+00:00","source":"received","received":"2026-11-20T09:15:04Z"},"#
                + #""measurements":[{"type":"systolic","code":"150021","value":18.4,"unit":"kPa"},"#
                + #"{"type":"diastolic","code":"150022","value":11.3,"unit":"kPa"},"#
                + #"{"type":"mean-arterial-pressure","code":"150023","value":null,"absent":"not-a-number","unit":"kPa"}],"#
                + #""device":{"peripheral_id":1001,"address":"F1:F1:F1:F1:F1:F1"},"gateway":"ward-3-box-1","#
                + #""software":"0.1.0","#
                + #""raw":{"characteristic":"2A35","hex":"01b8f071f0ff07"},"simulated":true}"#)
    }

    @Test func anUndecodedRecordHasNoMeasurements() {
        let record = record(
            of: [0x1E, 0x8A, 0x00],
            device: DeviceBlock(peripheralID: 1001, address: SampleCuff.address, alias: nil),
            entry: SampleCuff.entry())
        #expect(
            record.json
                == #"{"version":1,"id":"7480f0bc-ea5b-5ff7-a2c3-445fadd661fa","kind":"undecoded","stage":"live","#
                + #""time":{"value":"2026-11-20T09:15:04+00:00","source":"received","received":"2026-11-20T09:15:04Z"},"#
                + #""device":{"peripheral_id":1001,"address":"F1:F1:F1:F1:F1:F1"},"gateway":"ward-3-box-1","#
                + #""software":"0.1.0","#
                + #""raw":{"characteristic":"2A35","hex":"1e8a00"}}"#)
    }
}
