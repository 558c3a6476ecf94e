import TestSupport
import Testing

@testable import IngestOperator
@testable import IngestReading

struct AirSurveyTests {
    private static let advert: [UInt8] = [0x02, 0x01, 0x06, 0x03, 0x03, 0x09, 0x18]

    private static func devices(_ survey: AirSurvey, _ entries: [AllowedPeripheral] = []) -> [AirDevice] {
        survey.devices(allowed: AllowList(entries)) { _ in nil }
    }

    @Test func theStrongestComesFirstAndWhatWasHeardOfOneDeviceIsPutTogether() throws {
        var survey = AirSurvey()
        survey.add(.sample(of: .device(1), data: Self.advert, rssi: -80))
        survey.add(.sample(of: .device(2), data: Self.advert, rssi: nil))
        survey.add(.sample(of: .device(3), isConnectable: false, data: [], rssi: -70))
        survey.add(.sample(of: .device(1), data: [0x03, 0x09, 0x41, 0x42], rssi: -50))
        survey.add(.sample(of: .device(1), data: Self.advert, rssi: -90))
        let devices = Self.devices(survey)
        #expect(devices.map(\.device) == [.device(1), .device(3), .device(2)])
        #expect(devices.map(\.signal) == [-50, -70, nil])
        #expect(devices.map(\.isConnectable) == [true, false, true])
        #expect(devices[0].advertisement.data == Self.advert + [0x03, 0x09, 0x41, 0x42])
    }

    @Test func whatADeviceSendsAnewTakesThePlaceOfTheSameFromBefore() {
        var survey = AirSurvey()
        // Two companies, one of which says something else later.
        survey.add(.sample(of: .device(1), data: [0x04, 0xFF, 1, 0, 7, 0x04, 0xFF, 2, 0, 8]))
        survey.add(.sample(of: .device(1), data: [0x04, 0xFF, 1, 0, 9]))
        let data = Self.devices(survey)[0].advertisement.data
        #expect(data == [0x04, 0xFF, 1, 0, 9, 0x04, 0xFF, 2, 0, 8])
    }

    @Test func manyDevicesAreCutToTheStrongest() {
        var survey = AirSurvey()
        for number in 0..<1_000 {
            survey.add(.sample(of: .device(number), data: [], rssi: -100 + number % 7))
        }
        #expect(survey.count == AirSurvey.mostDevices)
        survey.add(.sample(of: .device(5_000), data: [], rssi: -127))
        survey.add(.sample(of: .device(5_001), data: [], rssi: nil))
        survey.add(.sample(of: .device(5_002), data: [], rssi: -20))
        let devices = Self.devices(survey)
        #expect(devices.count == AirSurvey.mostDevices)
        #expect(devices.first?.device == .device(5_002))
        #expect(!devices.contains { $0.device == .device(5_000) || $0.device == .device(5_001) })
    }

    @Test func whatOneDeviceSaysHasABound() {
        var survey = AirSurvey()
        for type in UInt8(0x30)...0x7F {
            survey.add(.sample(of: .device(1), data: [100, type] + [UInt8](repeating: type, count: 99)))
        }
        for company in 0..<100 as Range<UInt8> {
            survey.add(.sample(of: .device(2), data: [0x03, 0xFF, company, 0]))
        }
        let data = Self.devices(survey).map(\.advertisement.data.count)
        #expect(data[0] <= 512)
        #expect(data[1] == 16 * 4)
    }

    @Test func anyBytesAreTaken() {
        var generator = SeededGenerator(seed: 20_261_122)
        var survey = AirSurvey()
        for number in 0..<2_000 {
            let count = Int.random(in: 0...70, using: &generator)
            let data = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            survey.add(.sample(of: .device(number % 50), data: data))
        }
        for device in Self.devices(survey) {
            let found = FoundDevice(device, catalogue: Catalogue(models: []), readableProfiles: [])
            #expect(FoundDeviceText(found).lines.allSatisfy { $0.count <= 80 })
        }
    }

    @Test func whatIsReadAlreadyIsSaid() {
        let entry = AllowedPeripheral(
            model: .sample(), address: DeviceAddress.device(1).address, alias: "kitchen")
        var survey = AirSurvey()
        survey.add(.sample(of: .device(1), rssi: -50))
        survey.add(.sample(of: .device(2), rssi: -60))
        let devices = survey.devices(allowed: AllowList([entry])) {
            $0 == .device(1) ? [BluetoothAddress(value: 9)] : []
        }
        #expect(devices.map(\.listed) == [AirDevice.Listing(id: 1002, alias: "kitchen"), nil])
        #expect(devices.map(\.isBonded) == [true, false])
    }
}
