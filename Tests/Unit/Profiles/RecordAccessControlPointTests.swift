import TestSupport
import Testing

@testable import IngestProfiles

@Suite struct RecordAccessControlPointTests {
    private func decode(_ bytes: [UInt8]) throws -> Reading {
        try Profiles.decode(characteristic: 0x2A52, bytes: bytes)
    }

    @Test(
        arguments: [
            ([5, 0, 0x32, 0x01], 306, "op-number-of-stored-records-response"),
            ([5, 0, 0, 0], 0, "op-number-of-stored-records-response"),
            ([5, 0, 1, 0, 1, 0], 65_537, "op-number-of-stored-records-response"),  // four bytes
            ([8, 0, 3, 0], 3, "op-combined-report-response"),
        ] as [([UInt8], Int64, String)])
    func numbersOfRecordsAreMeasurements(bytes: [UInt8], count: Int64, flag: String) throws {
        #expect(
            try decode(bytes)
                == Reading(
                    kind: .racp, measurements: [measured("number-of-records", nil, count, "1")],
                    flags: [flag]))
    }

    @Test(
        arguments: [
            (1, ["response-success"]), (2, ["response-op-code-not-supported"]),
            (3, ["response-invalid-operator"]), (4, ["response-operator-not-supported"]),
            (5, ["response-invalid-operand"]), (6, ["response-no-records-found"]),
            (7, ["response-abort-unsuccessful"]), (8, ["response-procedure-not-completed"]),
            (9, ["response-operand-not-supported"]), (10, ["response-server-busy"]),
            (0, []), (11, []), (255, []),
        ] as [(UInt8, [String])])
    func responsesNameTheirRequest(code: UInt8, flags: [String]) throws {
        #expect(
            try decode([6, 0, 1, code]).flags == ["op-response-code", "request-report-stored-records"] + flags
        )
    }

    @Test(
        arguments: [
            ([1, 1], ["op-report-stored-records", "operator-all-records"]),
            ([1, 3, 1, 7, 0], ["op-report-stored-records", "operator-greater-than-or-equal-to"]),
            ([2, 2, 1, 7, 0], ["op-delete-stored-records", "operator-less-than-or-equal-to"]),
            ([3, 0], ["op-abort-operation"]),
            ([4, 4, 1, 7, 0, 9, 0], ["op-report-number-of-stored-records", "operator-within-range-of"]),
            ([7, 5], ["op-combined-report", "operator-first-record"]),
            ([1, 6], ["op-report-stored-records", "operator-last-record"]),
            ([0, 7], []), ([9, 0], []),
        ] as [([UInt8], [String])])
    func requestsAreNamed(bytes: [UInt8], flags: [String]) throws {
        #expect(try decode(bytes) == Reading(kind: .racp, flags: flags))
    }

    @Test func aMissingOperandIsAnError() {
        #expect(throws: DecodeError.truncated(field: "number of records", needed: 2, had: 1)) {
            try decode([5, 0, 1])
        }
        #expect(throws: DecodeError.truncated(field: "response code", needed: 1, had: 0)) {
            try decode([6, 0, 1])
        }
    }
}
