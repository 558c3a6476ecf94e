import TestSupport
import Testing

@testable import IngestOperator
@testable import IngestReading

@Suite struct PairingTargetTests {
    static let pinned = BluetoothAddress(value: 0x0011_2200_0001)
    static let stranger = BluetoothAddress(value: 0x0011_2200_0009)

    @Test(
        arguments: [
            ("1001", PairingTarget.model(1001)),
            ("F1:f1:F1:F1:F1:F1", .device(BluetoothAddress(value: 0xF1F1_F1F1_F1F1))),
            ("0", nil), ("1000000", nil), ("-5", nil), ("+5", nil), ("", nil), ("F1:F1:F1:F1:F1", nil),
            ("cuff", nil),
        ] as [(String, PairingTarget?)])
    func aTargetIsAnIDOrAnAddress(text: String, target: PairingTarget?) {
        #expect(PairingTarget(text) == target)
    }

    static let cuff = PeripheralModel.sample(id: 1001, recognised: [[.service(0x1810)]])
    static let thermometer = PeripheralModel.sample(id: 1002)
    static let scale: PeripheralModel = {
        var model = PeripheralModel.sample(id: 1009)
        model.profile = "mi-scale"
        return model
    }()

    static let pinnedCuff = AllowedPeripheral(model: cuff, address: pinned)
    static let anyThermometer = AllowedPeripheral(model: thermometer)
    static let anyScale = AllowedPeripheral(model: scale)

    @Test(
        arguments: [
            ([pinnedCuff, anyThermometer], PairingTarget.model(1001), .success([pinnedCuff])),
            ([pinnedCuff, anyThermometer], .model(1002), .success([anyThermometer])),
            ([pinnedCuff, anyThermometer], .device(pinned), .success([pinnedCuff])),
            ([pinnedCuff, anyThermometer], .device(stranger), .success([anyThermometer])),
            ([pinnedCuff], .device(stranger), .failure(.notAllowed(.device(stranger)))),
            ([pinnedCuff], .model(1000), .failure(.notAllowed(.model(1000)))),
            ([], .model(1001), .failure(.notAllowed(.model(1001)))),
            ([anyScale], .model(1009), .failure(.needsNoPairing(.model(1009)))),
            ([anyScale], .device(stranger), .failure(.notAllowed(.device(stranger)))),
        ] as [([AllowedPeripheral], PairingTarget, Result<[AllowedPeripheral], OrderRefusal>)])
    func onlyWhatIsAllowedIsPaired(
        entries: [AllowedPeripheral], target: PairingTarget,
        expected: Result<[AllowedPeripheral], OrderRefusal>
    ) {
        let result = Result { () throws(OrderRefusal) in try AllowList(entries).pairable(target) }
        #expect(result == expected)
    }

    @Test func advertsAreOfTheTargetOnlyIfTheirEntryIs() {
        let list = AllowList([Self.pinnedCuff, Self.anyThermometer])
        let device = DeviceAddress(Self.stranger, .public)
        // 01 in the two top bits: resolvable private.
        let hidden = DeviceAddress(BluetoothAddress(value: 0x4011_2200_0001), .random)
        let other = Advertisement.sample(of: device)
        #expect(list.match(other, pairing: .model(1002)) == Self.anyThermometer)
        #expect(list.match(other, pairing: .device(Self.stranger)) == Self.anyThermometer)
        #expect(list.match(other, pairing: .model(1001)) == nil)
        #expect(list.match(other, pairing: .device(Self.pinned)) == nil)
        // A device that is pinned as a cuff is none of the thermometers, whatever it says.
        let pinned = Advertisement.sample(of: DeviceAddress(Self.pinned, .public))
        #expect(list.match(pinned, pairing: .model(1002)) == nil)
        #expect(list.match(pinned, pairing: .model(1001)) == Self.pinnedCuff)
        #expect(list.match(.sample(of: hidden), pairing: .model(1002)) == Self.anyThermometer)
        #expect(list.match(.sample(of: hidden)) == nil)
    }

    /// 01 in the two top bits: resolvable private.
    static let hidden = DeviceAddress(BluetoothAddress(value: 0x4011_2200_0001), .random)
    static let cuffServices: [UInt8] = [0x03, 0x03, 0x10, 0x18]
    static let inPairingMode: [UInt8] = [0x02, 0x01, 0x06]

    @Test(
        arguments: [
            (PairingTarget.device(pinned), inPairingMode + cuffServices, pinnedCuff),
            (.model(1001), inPairingMode + cuffServices, pinnedCuff),
            // Not in pairing mode; of another model; another one is meant.
            (.device(pinned), [0x02, 0x01, 0x04] + cuffServices, nil),
            (.device(pinned), inPairingMode + [0x03, 0x03, 0x09, 0x18], nil),
            (.device(stranger), inPairingMode + cuffServices, nil),
            (.model(1002), inPairingMode + cuffServices, nil),
        ] as [(PairingTarget, [UInt8], AllowedPeripheral?)])
    func aDeviceThatAnEntryNamesMayHideWhileItIsPaired(
        target: PairingTarget, data: [UInt8], entry: AllowedPeripheral?
    ) {
        let list = AllowList([Self.pinnedCuff, Self.anyThermometer])
        let advert = Advertisement.sample(of: Self.hidden, data: data)
        #expect(list.match(advert, pairing: target) == entry)
        #expect(list.match(advert) == nil)
        let plain = Advertisement.sample(of: DeviceAddress(Self.stranger, .public), data: data)
        #expect(list.match(plain, pairing: .device(Self.pinned)) == nil)
        let beacon = Advertisement.sample(of: Self.hidden, isConnectable: false, data: data)
        #expect(list.match(beacon, pairing: target) == nil)
    }

    @Test func theRadioReportsWhatIsPairedBesides() {
        let list = AllowList([Self.pinnedCuff, Self.anyThermometer])
        #expect(list.filter(pairing: .model(1002)) == list.filter)
        #expect(list.filter(pairing: .device(Self.stranger)) == list.filter)
        for target in [PairingTarget.model(1001), .device(Self.pinned)] {
            let filter = list.filter(pairing: target)
            #expect(filter.models == list.filter.models + [[.service(0x1810)]])
            #expect(filter.addresses == list.filter.addresses)
        }
    }

    @Test func theIdentitySaysWhetherItIsTheOneThatIsMeant() {
        let list = AllowList([Self.pinnedCuff, Self.anyThermometer])
        let pinned = DeviceAddress(Self.pinned, .public)
        let stranger = DeviceAddress(Self.stranger, .public)
        func entry(
            _ identity: DeviceAddress, _ entry: AllowedPeripheral, _ target: PairingTarget
        ) -> AllowedPeripheral? {
            list.entry(of: identity, pairedAs: entry, for: target)
        }
        #expect(entry(pinned, Self.pinnedCuff, .device(Self.pinned)) == Self.pinnedCuff)
        #expect(entry(pinned, Self.pinnedCuff, .model(1001)) == Self.pinnedCuff)
        #expect(entry(stranger, Self.pinnedCuff, .device(Self.pinned)) == nil)
        #expect(entry(stranger, Self.pinnedCuff, .model(1001)) == nil)
        #expect(entry(stranger, Self.anyThermometer, .model(1002)) == Self.anyThermometer)
        #expect(entry(stranger, Self.anyThermometer, .device(Self.hidden.address)) == Self.anyThermometer)
        // What was taken for any thermometer is the cuff.
        #expect(entry(pinned, Self.anyThermometer, .model(1002)) == nil)
        // It gave no identity.
        #expect(entry(Self.hidden, Self.anyThermometer, .model(1002)) == nil)
    }

    @Test(
        arguments: [
            ("123456", 123_456), ("000042", 42), ("123 456", 123_456), ("12345", nil), ("1234567", nil),
            ("12345a", nil), ("", nil),
        ] as [(String, UInt32?)])
    func aPasskeyIsSixDigits(text: String, passkey: UInt32?) {
        #expect(Passkey.read(text) == passkey)
    }

    @Test func automaticPairingBacksOffAndForgets() {
        var automatic = AutomaticPairing()
        #expect(automatic.allows(Self.pinnedCuff, at: .at(0)))
        for (failure, delay) in [60.0, 120, 240, 480, 960, 1_920, 3_600, 3_600].enumerated() {
            let now = Double(failure) * 10_000
            automatic.failed(Self.pinnedCuff, at: .at(now))
            #expect(!automatic.allows(Self.pinnedCuff, at: .at(now + delay - 1)))
            #expect(automatic.isBackingOff(Self.pinnedCuff, at: .at(now + delay - 1)))
            #expect(!automatic.isBackingOff(Self.pinnedCuff, at: .at(now + delay)))
            #expect(automatic.allows(Self.pinnedCuff, at: .at(now + delay)))
        }
        automatic.succeeded(Self.pinnedCuff, at: .at(80_000))
        #expect(automatic.allows(Self.pinnedCuff, at: .at(80_000)))
        // All devices that no entry names share one delay, after a success too.
        automatic.succeeded(Self.anyThermometer, at: .at(80_000))
        #expect(!automatic.allows(Self.anyThermometer, at: .at(80_059)))
        #expect(!automatic.isBackingOff(Self.anyThermometer, at: .at(80_059)))
        #expect(automatic.allows(Self.anyThermometer, at: .at(80_060)))
    }
}
