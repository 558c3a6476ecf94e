import Testing

@testable import IngestBluetooth

@Suite struct AdvertisementPatternTests {
    static func patterns(_ models: [[AdvertisementFilter.Mark]]) -> [AdvertisementPattern] {
        AdvertisementFilter(models: models).kernelPatterns
    }

    @Test(arguments: [
        (0, 0, false), (0, 1, true), (0, 31, true), (0, 32, false), (30, 1, true), (31, 1, false),
        (255, 31, false),
    ])
    func aPatternStaysWithinWhatTheKernelTakes(offset: UInt8, count: Int, isValid: Bool) {
        let pattern = AdvertisementPattern(
            type: 9, offset: offset, bytes: [UInt8](repeating: 1, count: count))
        #expect((pattern != nil) == isValid)
    }

    @Test func aServiceIsLookedForInTheFirstPlacesOfListsAndInServiceData() {
        let places = Self.patterns([[.service(0x1809)]]).map { [$0.offset, $0.type] }
        #expect(
            places == [
                [0, 0x02], [0, 0x03], [0, 0x16], [2, 0x02], [2, 0x03], [4, 0x02], [4, 0x03], [6, 0x02],
                [6, 0x03],
            ])
        #expect(Self.patterns([[.service(0x1809)]]).allSatisfy { $0.bytes == [0x09, 0x18] })
    }

    @Test func otherMarksStandAtTheBeginning() {
        let long = AdvertisementFilterTests.long
        let bytes = AdvertisementFilterTests.longBytes
        let name = Array("BP".utf8)
        #expect(Self.patterns([[.longService(long)]]).map(\.bytes) == [bytes, bytes, bytes])
        #expect(Self.patterns([[.longService(long)]]).map(\.type) == [0x06, 0x07, 0x21])
        #expect(
            Self.patterns([[.company(0x0499)]])
                == [AdvertisementPattern(type: 0xFF, offset: 0, bytes: [0x99, 0x04])])
        #expect(
            Self.patterns([[.namePrefix(name)]])
                == [
                    AdvertisementPattern(type: 0x08, offset: 0, bytes: name),
                    AdvertisementPattern(type: 0x09, offset: 0, bytes: name),
                ])
        #expect(
            Self.patterns([[.namePrefix([UInt8](repeating: 0x41, count: 40))]]).allSatisfy {
                $0.bytes.count == 31
            })
    }

    @Test func ofAModelTheMarkWithTheFewestPatternsIsUsed() {
        let patterns = Self.patterns([[.service(0x1810), .company(0x0499), .namePrefix([0x42])]])
        #expect(patterns.map(\.type) == [0xFF])
    }

    @Test func aTextInANameLeavesThePatternsToTheOtherMarks() {
        let text = AdvertisementFilter.Mark.nameContains(Array("bc".utf8))
        #expect(Self.patterns([[.service(0x1810), text]]) == Self.patterns([[.service(0x1810)]]))
        #expect(Self.patterns([[text]]) == [])
        #expect(Self.patterns([[.nameContains([]), .service(0x1810)]]) == [])
    }

    @Test func modelsThatMatchNothingGiveNoPatterns() {
        #expect(Self.patterns([]) == [])
        #expect(Self.patterns([[], [.namePrefix([]), .service(0x1809)]]) == [])
        #expect(AdvertisementFilter(addresses: [BluetoothAddress(value: 1)]).kernelPatterns == [])
    }

    @Test func theOrderOfModelsMakesNoDifferenceAndNothingIsTwice() {
        let models: [[AdvertisementFilter.Mark]] = [
            [.service(0x1809)], [.service(0x1810)], [.service(0x1809)], [.company(1)], [.namePrefix([0x42])],
        ]
        let patterns = Self.patterns(models)
        #expect(patterns == Self.patterns(models.reversed()))
        #expect(Set(patterns).count == patterns.count)
    }

    @Test func tooManyModelsLoseTheirLeastLikelyPlaces() {
        let patterns = Self.patterns((0..<150).map { [.service(0x1800 + $0)] })
        #expect(patterns.count == AdvertisementFilter.maximumKernelPatterns)
        // 150 services in two kinds of list and in service data, all at the first place.
        #expect(patterns.filter { $0.offset == 0 }.count == 450)
    }
}
