import Testing

@testable import PeripheralSimulator

/// What a Record Access Control Point makes of a write (GATT Specification Supplement).
struct RecordAccessTests {
    @Test(
        arguments: [
            ([0x01, 0x01], RecordAccess.report(.all)),
            ([0x01, 0x02, 0x01, 0x05, 0x00], .report(.numbers(0...5))),
            ([0x01, 0x03, 0x01, 0x2C, 0x01], .report(.numbers(300...0xFFFF))),
            ([0x01, 0x04, 0x01, 0x02, 0x00, 0x04, 0x00], .report(.numbers(2...4))),
            ([0x01, 0x05], .report(.first)),
            ([0x01, 0x06], .report(.last)),
            ([0x04, 0x01], .count(.all)),
            ([0x04, 0x03, 0x01, 0x01, 0x00], .count(.numbers(1...0xFFFF))),
            ([0x03, 0x00], .abort),
            // No operator.
            ([0x01], .refused(.invalidOperator)),
            ([0x01, 0x00], .refused(.invalidOperator)),
            ([0x03, 0x01], .refused(.invalidOperator)),
            // An operator that is not defined.
            ([0x01, 0x07], .refused(.operatorNotSupported)),
            // An operand where there is none, none where there is one, one that is too short or long.
            ([0x01, 0x01, 0x00], .refused(.invalidOperand)),
            ([0x01, 0x06, 0x01], .refused(.invalidOperand)),
            ([0x01, 0x03], .refused(.invalidOperand)),
            ([0x01, 0x03, 0x01, 0x05], .refused(.invalidOperand)),
            ([0x01, 0x03, 0x01, 0x05, 0x00, 0x00], .refused(.invalidOperand)),
            ([0x03, 0x00, 0x00], .refused(.invalidOperand)),
            // A range that ends before it begins.
            ([0x01, 0x04, 0x01, 0x05, 0x00, 0x04, 0x00], .refused(.invalidOperand)),
            // The user facing time.
            ([0x01, 0x03, 0x02, 0xEA, 0x07, 0x0B, 0x14, 0x09, 0x00, 0x00], .refused(.operandNotSupported)),
            // Deleting, and op codes that are not defined.
            ([0x02, 0x01], .refused(.opcodeNotSupported)),
            ([0x05, 0x01], .refused(.opcodeNotSupported)),
            ([], .refused(.opcodeNotSupported)),
        ] as [([UInt8], RecordAccess)])
    func requestIsReadAsTheServiceDefinesIt(request: [UInt8], expected: RecordAccess) {
        #expect(RecordAccess(request) == expected)
    }

    @Test(
        arguments: [
            ([0x01, 0x03, 0x01, 4, 3, 2, 1], .report(.numbers(0x0102_0304...0xFFFF_FFFF))),
            ([0x01, 0x02, 0x01, 5, 0, 0, 0], .report(.numbers(0...5))),
            ([0x04, 0x04, 0x01, 2, 0, 0, 0, 4, 0, 0, 0], .count(.numbers(2...4))),
            // A number of two bytes.
            ([0x01, 0x03, 0x01, 0x05, 0x00], .refused(.invalidOperand)),
        ] as [([UInt8], RecordAccess)])
    func healthSensorsNumbersHaveFourBytes(request: [UInt8], expected: RecordAccess) {
        #expect(RecordAccess(request, numberSize: 4) == expected)
    }

    @Test(arguments: [
        (RecordAccess.Selection.all, [7, 8, 9] as [UInt16]), (.numbers(8...0xFFFF), [8, 9]),
        (.numbers(0...7), [7]), (.numbers(10...20), []), (.first, [7]), (.last, [9]),
    ])
    func selectionKeepsTheOrderOfTheMemory(selection: RecordAccess.Selection, expected: [UInt16]) {
        #expect(selection.of([7, 8, 9] as [UInt16]) { $0 } == expected)
    }
}
