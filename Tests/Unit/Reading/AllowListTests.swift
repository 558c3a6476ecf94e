import TestSupport
import Testing

@testable import IngestReading

@Suite struct AllowListTests {
    static let cuff = AllowedPeripheral(model: .sample(id: 1001, recognised: [[.service(0x1810)]]))
    static let thermometer = AllowedPeripheral(model: .sample(id: 1002))
    static let pinnedAddress = BluetoothAddress(value: 0xF1F1_F1F1_F1F1)
    static let pinned = AllowedPeripheral(model: .sample(id: 1002), address: pinnedAddress, subject: "p-1")

    static let list = AllowList([cuff, thermometer, pinned])

    @Test func anEntryForTheAddressHoldsBeforeOneForTheModel() {
        let advert = Advertisement.sample(of: DeviceAddress(Self.pinnedAddress, .random))
        #expect(Self.list.match(advert) == Self.pinned)
    }

    @Test func anEntryForTheAddressNeedsNothingElse() {
        let advert = Advertisement.sample(of: DeviceAddress(Self.pinnedAddress, .random), data: [])
        #expect(Self.list.match(advert) == Self.pinned)
    }

    @Test(
        arguments: [
            ([3, 0x03, 0x09, 0x18], 1002), ([3, 0x03, 0x10, 0x18], 1001), ([3, 0x03, 0x0A, 0x18], nil),
            ([], nil),
        ] as [([UInt8], Int?)])
    func anyDeviceOfAListedModelMatches(data: [UInt8], id: Int?) {
        #expect(Self.list.match(.sample(of: .device(1), data: data))?.model.id == id)
    }

    @Test(arguments: [
        (0xC0F1_F1F1_F1F1, AddressType.random, true),  // static
        (0x40F1_F1F1_F1F1, .random, false),  // resolvable private
        (0x00F1_F1F1_F1F1, .random, false),  // non-resolvable private
        (0x40F1_F1F1_F1F1, .public, true),
    ])
    func aPrivateAddressMatchesNoModel(value: UInt64, type: AddressType, isRead: Bool) {
        let advert = Advertisement.sample(of: DeviceAddress(BluetoothAddress(value: value), type))
        #expect((Self.list.match(advert) != nil) == isRead)
    }

    @Test func anAdvertThatTakesNoConnectionMatchesNothing() {
        #expect(Self.list.match(.sample(of: .device(1), isConnectable: false)) == nil)
        let pinned = DeviceAddress(Self.pinnedAddress, .random)
        #expect(Self.list.match(.sample(of: pinned, isConnectable: false)) == nil)
    }

    @Test func aBroadcastIsReadFromTheAdvertAndTakesNoConnection() {
        var model = PeripheralModel.sample(id: 1009, recognised: [[.service(0x181D)]])
        model.profile = "mi-scale"
        let scale = AllowedPeripheral(model: model)
        let pinned = AllowedPeripheral(model: model, address: Self.pinnedAddress)
        let connected = AllowedPeripheral(model: .sample(id: 1003, recognised: [[.service(0x181D)]]))
        let list = AllowList([scale, connected, pinned])
        // Service data of 181D.
        let data: [UInt8] = [13, 0x16, 0x1D, 0x18, 0x22, 1, 1, 0xEA, 7, 11, 20, 9, 14, 57]
        let broadcast = Advertisement.sample(of: .device(1), isConnectable: false, data: data)
        #expect(list.match(broadcast) == scale)
        let device = DeviceAddress(Self.pinnedAddress, .random)
        #expect(list.match(.sample(of: device, isConnectable: false, data: data)) == pinned)
        // 181D among the services, and no data: another kind of scale.
        let other: [UInt8] = [3, 0x03, 0x1D, 0x18]
        #expect(list.match(.sample(of: .device(1), data: other)) == connected)
        #expect(list.match(.sample(of: device, data: other)) == nil)
    }

    @Test func theFirstOfTwoEntriesHolds() {
        let other = AllowedPeripheral(model: .sample(id: 2000), address: Self.pinnedAddress)
        let sameMark = AllowedPeripheral(model: .sample(id: 2001))
        let list = AllowList([Self.pinned, other, Self.thermometer, sameMark])
        #expect(list.match(.sample(of: DeviceAddress(Self.pinnedAddress, .random))) == Self.pinned)
        #expect(list.match(.sample(of: .device(1))) == Self.thermometer)
    }

    @Test func anEmptyListMatchesNothingAndListensForNothing() {
        #expect(AllowList().match(.sample(of: .device(1))) == nil)
        #expect(AllowList().filter.isEmpty)
    }

    @Test func theFilterIsForAddressesAndForModelsWithoutOne() {
        let onlyPinned = AllowList([Self.pinned]).filter
        #expect(onlyPinned == AdvertisementFilter(addresses: [Self.pinnedAddress], models: []))
        #expect(
            Self.list.filter
                == AdvertisementFilter(
                    addresses: [Self.pinnedAddress], models: [[.service(0x1810)], [.service(0x1809)]]))
    }

    @Test func anEntryIsSucceededByTheOneForItsAddressOrItsModel() {
        let device = DeviceAddress(Self.pinnedAddress, .random)
        #expect(Self.list.successor(of: Self.thermometer, for: device) == Self.pinned)
        #expect(AllowList([Self.thermometer]).successor(of: Self.pinned, for: device) == Self.thermometer)
        #expect(AllowList([Self.cuff]).successor(of: Self.pinned, for: device) == nil)
        let hidden = DeviceAddress(BluetoothAddress(value: 0x40F1_F1F1_F1F1), .random)
        #expect(AllowList([Self.thermometer]).successor(of: Self.pinned, for: hidden) == nil)
    }
}
