import TestSupport
import Testing

@testable import IngestBluetooth

@Suite struct AdvertisementStructuresTests {
    struct Structure: Equatable {
        let type: UInt8
        let value: [UInt8]
    }

    static func structures(of data: [UInt8]) -> [Structure] {
        var walk = AdvertisementStructures(data.span)
        var found: [Structure] = []
        while let (type, range) = walk.next() {
            found.append(Structure(type: type, value: Array(data[range])))
        }
        // The end stays the end.
        if walk.next() != nil { found.append(Structure(type: 0, value: [])) }
        return found
    }

    @Test func structuresComeInOrder() {
        let data: [UInt8] = [2, 0x01, 0x06, 3, 0x03, 0x09, 0x18, 1, 0x0A]
        #expect(
            Self.structures(of: data) == [
                Structure(type: 0x01, value: [0x06]),
                Structure(type: 0x03, value: [0x09, 0x18]),
                Structure(type: 0x0A, value: []),
            ])
    }

    @Test(
        arguments: [
            [],
            [0],
            [1],
            [0xFF, 0x01],
            [3, 0x03, 0x09],
            [0, 2, 0x01, 0x06],
        ] as [[UInt8]])
    func whatIsNoStructureEndsTheWalk(data: [UInt8]) {
        #expect(Self.structures(of: data) == [])
    }

    @Test(arguments: [[0], [5, 0x09, 0x41], [1]] as [[UInt8]])
    func whatStandsBeforeABrokenStructureIsKept(rest: [UInt8]) {
        #expect(Self.structures(of: [2, 0x01, 0x06] + rest) == [Structure(type: 0x01, value: [0x06])])
    }

    @Test func randomBytesYieldOnlyWhatIsThere() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<5_000 {
            let count = Int.random(in: 0...80, using: &random)
            let data = (0..<count).map { _ in UInt8.random(in: 0...12, using: &random) }
            let encoded = Self.structures(of: data).flatMap {
                [UInt8($0.value.count + 1), $0.type] + $0.value
            }
            #expect(data.starts(with: encoded))
        }
    }
}
