import Testing

@testable import IngestProfiles

@Suite struct DecodeAnswerTests {
    @Test(
        arguments: [
            (
                // mmHg; time stamp, pulse, user, status; 138, 85, 102; 2024-06-15 17:17:27; 72; 1; irregular
                "2A35", "1E8A0055006600E807060F11111B4800010400",
                #"{"ok":true,"kind":"blood-pressure","measurements":[{"type":"systolic","value":138,"unit":"mm[Hg]"},"#
                    + #"{"type":"diastolic","value":85,"unit":"mm[Hg]"},"#
                    + #"{"type":"mean-arterial-pressure","value":102,"unit":"mm[Hg]"},"#
                    + #"{"type":"pulse-rate","value":72,"unit":"/min"}],"#
                    + #""device_time":"2024-06-15T17:17:27","user":1,"flags":["irregular-pulse"]}"#
            ),
            (
                // FLOAT 2.00
                "2A1C", "00 c8 00 00 fe",
                #"{"ok":true,"kind":"body-temperature","measurements":[{"type":"body-temperature","value":2.00,"unit":"Cel"}]}"#
            ),
            (
                // FLOAT NRes
                "2A1C", "0000008000",
                #"{"ok":true,"kind":"body-temperature","measurements":[{"type":"body-temperature","value":null,"absent":"not-at-this-resolution","unit":"Cel"}]}"#
            ),
            (
                // time offset, kg/L, context follows; 7; 2026-11-20 09:14:57; -5 min; 105e-5; 0x11
                "2A18", "130700ea070b14090e39fbff69b011",
                #"{"ok":true,"kind":"glucose","measurements":[{"type":"glucose","value":105,"unit":"mg/dL"}],"#
                    + #""device_time":"2026-11-20T09:14:57","time_offset_minutes":-5,"sequence":7,"#
                    + #""flags":["type-capillary-whole-blood","location-finger","context-follows"]}"#
            ),
            (
                // three records: 120 at 5 min; 130 at 6 min; one cut short
                "2AA7", "060078000500" + "060082000600" + "0600",
                #"{"ok":true,"kind":"continuous-glucose","measurements":[{"type":"glucose","value":120,"unit":"mg/dL"}],"#
                    + #""time_offset_minutes":5,"further":[{"ok":true,"kind":"continuous-glucose","#
                    + #""measurements":[{"type":"glucose","value":130,"unit":"mg/dL"}],"time_offset_minutes":6},"#
                    + #"{"ok":false,"error":"truncated: CGM measurement record needs 5 bytes, 1 left"}]}"#
            ),
            (
                "2A19", "5a\r",
                #"{"ok":true,"kind":"battery","measurements":[{"type":"battery","value":90,"unit":"%"}]}"#
            ),
        ] as [(String, String, String)])
    func aPayloadIsAnsweredByteForByte(characteristic: String, hex: String, json: String) throws {
        let uuid = try #require(BluetoothUUID(characteristic))
        let answer = DecodeAnswer(characteristic: uuid, hex: hex)
        #expect(answer.json == json)
        #expect(answer.isDecoded)
    }

    @Test(
        arguments: [
            ("", "truncated: flags needs 1 byte, 0 left"),
            ("00ff", "truncated: temperature needs 4 bytes, 1 left"),
            ("0", "the payload is not an even number of hexadecimal digits"),
            ("0 0", "the payload is not an even number of hexadecimal digits"),
            ("zz", "the payload is not an even number of hexadecimal digits"),
            ("\u{1F600}", "the payload is not an even number of hexadecimal digits"),
        ] as [(String, String)])
    func aBadPayloadIsAnsweredWithOurWords(hex: String, error: String) {
        let answer = DecodeAnswer(characteristic: 0x2A1C, hex: hex)
        #expect(answer.json == #"{"ok":false,"error":"\#(error)"}"#)
        #expect(!answer.isDecoded)
    }

    /// The checksum of the first record does not fit.
    @Test func aBadRecordDoesNotHideThoseBehindIt() {
        let answer = DecodeAnswer(characteristic: 0x2AA7, hex: "0800780005000000060079000600")
        #expect(
            answer.json.hasPrefix(#"{"ok":false,"error":"E2E-CRC does not fit","further":[{"ok":true,"#))
        #expect(!answer.isDecoded)
    }

    @Test func theKnownCharacteristicsAreListedInOrder() {
        #expect(
            Profiles.characteristics.map(\.description) == [
                "2A08", "2A18", "2A19", "2A1C", "2A1D", "2A1E", "2A2B", "2A34", "2A35", "2A36", "2A37",
                "2A38", "2A49", "2A51", "2A52", "2A5E", "2A5F", "2A60", "2A9B", "2A9C", "2A9D", "2A9E",
                "2AA7", "2AA8", "2AA9", "2AAA", "2AAB", "2B34", "2B35", "2B36", "2B8B", "2BDD", "2BF2",
                "AF9DF7A3E59511E396B40002A5D5C51B",
            ])
    }
}
