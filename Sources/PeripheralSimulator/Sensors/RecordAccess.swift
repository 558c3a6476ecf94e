/// What a write to the Record Access Control Point (2A52) asks of stored records that are named by
/// a number of 16 bits, or of 32 in the Generic Health Sensor service (GATT Specification Supplement, Record Access Control Point; Glucose Service
/// 3.4, Continuous Glucose Monitoring Service 3.6).
package enum RecordAccess: Equatable {
    case report(Selection)
    case count(Selection)
    case abort
    /// Not to be carried out: the response code says why.
    case refused(Response)

    enum Opcode {
        static let reportRecords: UInt8 = 0x01
        static let deleteRecords: UInt8 = 0x02
        static let abort: UInt8 = 0x03
        static let reportCount: UInt8 = 0x04
        static let countResponse: UInt8 = 0x05
        static let response: UInt8 = 0x06
        static let combinedReport: UInt8 = 0x07
        static let combinedResponse: UInt8 = 0x08
    }

    package enum Response: UInt8 {
        case success = 0x01
        case opcodeNotSupported = 0x02
        case invalidOperator = 0x03
        case operatorNotSupported = 0x04
        case invalidOperand = 0x05
        case noRecordsFound = 0x06
        case abortUnsuccessful = 0x07
        case procedureNotCompleted = 0x08
        case operandNotSupported = 0x09
        case serverBusy = 0x0A
    }

    package enum Selection: Equatable {
        case all
        case numbers(ClosedRange<UInt32>)
        case first
        case last

        /// The selected ones of `records`, which are in the order in which they were stored.
        package func of<Record, Number: FixedWidthInteger & UnsignedInteger>(
            _ records: [Record], number: (Record) -> Number
        ) -> [Record] {
            switch self {
            case .all: records
            case .numbers(let range): records.filter { range.contains(UInt32(number($0))) }
            case .first: Array(records.prefix(1))
            case .last: Array(records.suffix(1))
            }
        }
    }

    /// The filter type for the record's number: the sequence number or the time offset.
    private static let numberFilter: UInt8 = 0x01

    /// - Parameter numberSize: bytes of a record's number, 2 or 4.
    package init(_ request: [UInt8], numberSize: Int = 2) {
        guard let opcode = request.first else {
            self = .refused(.opcodeNotSupported)
            return
        }
        let operation = request.count > 1 ? request[1] : 0
        switch opcode {
        case Opcode.reportRecords, Opcode.reportCount:
            switch Self.selection(operation, operand: Array(request.dropFirst(2)), numberSize) {
            case .success(let selection):
                self = opcode == Opcode.reportRecords ? .report(selection) : .count(selection)
            case .failure(let refusal): self = .refused(refusal.response)
            }
        case Opcode.abort:
            if operation != 0 {
                self = .refused(.invalidOperator)
            } else {
                self = request.count > 2 ? .refused(.invalidOperand) : .abort
            }
        default: self = .refused(.opcodeNotSupported)
        }
    }

    private struct Refusal: Error {
        let response: Response
    }

    private static func selection(
        _ operation: UInt8, operand: [UInt8], _ size: Int
    ) -> Result<Selection, Refusal> {
        func numbers(_ count: Int, _ range: ([UInt32]) -> ClosedRange<UInt32>?) -> Result<Selection, Refusal>
        {
            guard let filter = operand.first else { return .failure(Refusal(response: .invalidOperand)) }
            guard filter == numberFilter else {
                return .failure(Refusal(response: .operandNotSupported))
            }
            guard operand.count == 1 + size * count else {
                return .failure(Refusal(response: .invalidOperand))
            }
            let values = (0..<count).map { index in
                operand.dropFirst(1 + size * index).prefix(size).reversed().reduce(0) { $0 << 8 | UInt32($1) }
            }
            guard let range = range(values) else { return .failure(Refusal(response: .invalidOperand)) }
            return .success(.numbers(range))
        }
        func unfiltered(_ selection: Selection) -> Result<Selection, Refusal> {
            operand.isEmpty ? .success(selection) : .failure(Refusal(response: .invalidOperand))
        }
        switch operation {
        case 0: return .failure(Refusal(response: .invalidOperator))
        case 1: return unfiltered(.all)
        case 2: return numbers(1) { 0...$0[0] }
        case 3: return numbers(1) { $0[0]...(size == 4 ? UInt32.max : UInt32(UInt16.max)) }
        case 4: return numbers(2) { $0[0] <= $0[1] ? $0[0]...$0[1] : nil }
        case 5: return unfiltered(.first)
        case 6: return unfiltered(.last)
        default: return .failure(Refusal(response: .operatorNotSupported))
        }
    }

    package static let controlPoint: BluetoothUUID = 0x2A52

    /// What a device does that reports all its records or none.
    /// - Parameter count: of its records, whatever they are sent in.
    func stepsOfAll(_ records: [SensorStep], count: Int, opcode: UInt8) -> [SensorStep] {
        func response(_ response: Response) -> SensorStep {
            .send(Self.controlPoint, Self.answer(response.rawValue, to: opcode))
        }
        return switch self {
        case .report(.all): records + [response(count == 0 ? .noRecordsFound : .success)]
        case .count(.all): [.send(Self.controlPoint, Self.answer(count: count))]
        case .report, .count: [response(.operatorNotSupported)]
        case .abort: [response(.success)]
        case .refused(let refusal): [response(refusal)]
        }
    }

    /// The indication that ends a procedure.
    static func answer(_ response: UInt8, to opcode: UInt8) -> [UInt8] {
        [Opcode.response, 0, opcode, response]
    }

    /// The indication that tells how many records there are.
    static func answer(count: Int) -> [UInt8] {
        [Opcode.countResponse, 0] + Wire.bytes(UInt16(clamping: count))
    }
}
