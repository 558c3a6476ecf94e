/// What is written to and comes from a Record Access Control Point (GATT Specification Supplement
/// 3.190), for the `decode` command.
enum RecordAccessControlPoint {
    private static let numberOfRecordsResponse: UInt8 = 5
    private static let responseCode: UInt8 = 6
    private static let combinedReportResponse: UInt8 = 8

    @Sendable
    static func decode(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let opCode = try cursor.uint8("op code")
        let operatorValue = try cursor.uint8("operator")
        var reading = Reading(kind: .racp)
        reading.addFlag(operationName(opCode).map { "op-\($0)" })
        reading.addFlag(operatorName(operatorValue).map { "operator-\($0)" })
        switch opCode {
        case numberOfRecordsResponse, combinedReportResponse:
            // The service decides the size: four bytes for Generic Health Sensor, two for the others.
            let count =
                cursor.remaining == 4
                ? try cursor.uint32("number of records") : UInt32(try cursor.uint16("number of records"))
            reading.measurements = [
                Measurement(type: "number-of-records", code: nil, value: .whole(count), unit: "1")
            ]
        case responseCode:
            reading.addFlag(operationName(try cursor.uint8("request op code")).map { "request-\($0)" })
            reading.addFlag(responseName(try cursor.uint8("response code")).map { "response-\($0)" })
        default:
            // A request's operand has the form that the service gives it, and stays in the raw bytes.
            break
        }
        return reading
    }

    private static func operationName(_ opCode: UInt8) -> String? {
        switch opCode {
        case 1: "report-stored-records"
        case 2: "delete-stored-records"
        case 3: "abort-operation"
        case 4: "report-number-of-stored-records"
        case numberOfRecordsResponse: "number-of-stored-records-response"
        case responseCode: "response-code"
        case 7: "combined-report"
        case combinedReportResponse: "combined-report-response"
        default: nil
        }
    }

    private static func operatorName(_ value: UInt8) -> String? {
        switch value {
        case 1: "all-records"
        case 2: "less-than-or-equal-to"
        case 3: "greater-than-or-equal-to"
        case 4: "within-range-of"
        case 5: "first-record"
        case 6: "last-record"
        default: nil
        }
    }

    private static func responseName(_ code: UInt8) -> String? {
        switch code {
        case 1: "success"
        case 2: "op-code-not-supported"
        case 3: "invalid-operator"
        case 4: "operator-not-supported"
        case 5: "invalid-operand"
        case 6: "no-records-found"
        case 7: "abort-unsuccessful"
        case 8: "procedure-not-completed"
        case 9: "operand-not-supported"
        case 10: "server-busy"
        default: nil
        }
    }
}
