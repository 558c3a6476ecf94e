import TestSupport
import Testing

@testable import IngestReading

@Suite struct BondTableTests {
    static let device = DeviceAddress.device(1)
    static let own = BluetoothAddress(value: 0xA0)
    static let other = BluetoothAddress(value: 0xA1)
    static let absent = BluetoothAddress(value: 0xA2)
    static let bond = Bond(device: device, adapter: own)

    enum Kind: Sendable, Equatable {
        case open, encrypted, elsewhere, refused, bondLost, readFailed

        init(_ verdict: BondTable.Verdict) {
            switch verdict {
            case .open: self = .open
            case .encrypted: self = .encrypted
            case .elsewhere(let adapter):
                #expect(adapter == BondTableTests.other)
                self = .elsewhere
            case .refused(nil): self = .refused
            case .refused(.bondLost): self = .bondLost
            case .refused(.readFailed): self = .readFailed
            }
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var list: BondList = .known([])
        var remembered: BluetoothAddress?
        var requiresBond = false
        /// Seconds after the bonds were first listed.
        var second = 60.0
        /// At the first look, and at a second one.
        let verdicts: [Kind]

        init(
            _ description: String, _ list: BondList = .known([]), remembered: BluetoothAddress? = nil,
            requiresBond: Bool = false, at second: Double = 60, _ verdicts: [Kind]
        ) {
            testDescription = description
            self.list = list
            self.remembered = remembered
            self.requiresBond = requiresBond
            self.second = second
            self.verdicts = verdicts
        }
    }

    static let table: [Row] = [
        Row("no bond, none wanted", .known([]), [.open, .open]),
        Row("a bond, also one that others made", .known([bond]), [.encrypted, .encrypted]),
        Row("a bond whatever the entry says", .known([bond]), requiresBond: true, [.encrypted]),
        Row(
            "a bond with the other adapter", .known([Bond(device: device, adapter: other)]),
            [.elsewhere, .elsewhere]),
        Row(
            "a bond with an adapter that is not there", .known([Bond(device: device, adapter: absent)]),
            [.readFailed, .refused]),
        Row(
            "bonds with both adapters, and the other one's was used last",
            .known([bond, Bond(device: device, adapter: other)]), remembered: other,
            [.elsewhere, .elsewhere]),
        Row(
            "bonds with both adapters, and this one's was used last",
            .known([bond, Bond(device: device, adapter: other)]), remembered: own, [.encrypted]),
        Row(
            "a bond, and one that was used last with an adapter that is not there",
            .known([bond, Bond(device: device, adapter: absent)]), remembered: absent, [.encrypted]),
        Row("a bond of another device", .known([Bond(device: .device(2), adapter: own)]), [.open]),
        Row("a bond that is wanted, and never was", requiresBond: true, [.readFailed, .refused]),
        Row("a bond that was", remembered: own, [.bondLost, .refused]),
        Row("a bond that was, and is wanted", remembered: own, requiresBond: true, [.bondLost, .refused]),
        Row(
            "a bond that was with an adapter that is not there", remembered: absent, [.readFailed, .refused]),
        Row("a bond that was, while not all are listed", remembered: own, at: 9, [.encrypted, .encrypted]),
        Row("a bond that is wanted, while not all are listed", requiresBond: true, at: 9, [.encrypted]),
        Row(
            "a bond with the other adapter, while not all are listed", remembered: other, at: 9,
            [.elsewhere]),
        Row("bluetoothd absent", .unknown, [.open]),
        Row("bluetoothd absent, and a bond is wanted", .unknown, requiresBond: true, [.encrypted]),
        Row("bluetoothd absent, and there was a bond", .unknown, remembered: own, [.encrypted, .encrypted]),
        Row(
            "bluetoothd absent, and a bond with the other adapter", .unknown, remembered: other,
            [.elsewhere]),
        Row(
            "bluetoothd absent, and a bond with an adapter that is not there", .unknown, remembered: absent,
            [.readFailed, .refused]),
    ]

    static func bench(_ list: BondList) -> BondTable {
        var bonds = BondTable()
        bonds.update(
            adapters: [
                AdapterState(id: .hci0, address: own, isListening: true, reason: nil),
                AdapterState(id: .hci1, address: other, isListening: true, reason: nil),
            ], at: .at(0))
        _ = bonds.update(list, at: .at(0))
        return bonds
    }

    static func entry(requiresBond: Bool = false) -> AllowedPeripheral {
        AllowedPeripheral(model: .sample(), requiresBond: requiresBond)
    }

    @Test(arguments: table) func bondsDecideOverWhatLinkADeviceIsRead(row: Row) {
        var bonds = Self.bench(row.list)
        for kind in row.verdicts {
            let verdict = bonds.verdict(
                on: Self.device, as: Self.entry(requiresBond: row.requiresBond), remembered: row.remembered,
                over: .hci0, at: .at(row.second))
            #expect(Kind(verdict) == kind)
        }
    }

    struct Shadow: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var listed: Set<AddressType> = []
        var remembered: Set<AddressType> = []
        var isListKnown = true
        let verdict: Kind
    }

    /// The device has the same 48 bits with both types, and is looked at with the public one.
    static let shadows: [Shadow] = [
        Shadow(testDescription: "no bonds", verdict: .open),
        Shadow(testDescription: "the other type has a bond", listed: [.random], verdict: .bondLost),
        Shadow(testDescription: "the other type had one", remembered: [.random], verdict: .bondLost),
        Shadow(
            testDescription: "nobody can be asked, and the other type had one", remembered: [.random],
            isListKnown: false, verdict: .bondLost),
        Shadow(
            testDescription: "nobody can be asked any more, and the other type has one", listed: [.random],
            isListKnown: false, verdict: .bondLost),
        Shadow(testDescription: "both have a bond", listed: [.public, .random], verdict: .encrypted),
        Shadow(
            testDescription: "this one has a bond, and the other type had one", listed: [.public],
            remembered: [.random], verdict: .encrypted),
    ]

    @Test(arguments: shadows) func aBondOfOneAddressTypeRefusesTheOther(row: Shadow) {
        let device = DeviceAddress(Self.device.address, .public)
        func of(_ type: AddressType) -> DeviceAddress { DeviceAddress(device.address, type) }
        var bonds = Self.bench(.known(Set(row.listed.map { Bond(device: of($0), adapter: Self.own) })))
        bonds.recall(Set(row.remembered.map(of)))
        if !row.isListKnown { _ = bonds.update(.unknown, at: .at(50)) }
        let entry = AllowedPeripheral(model: .sample(), pairing: .auto)
        #expect(!bonds.wantsAutomaticPairing(device, as: entry) || !bonds.isShadowed(device))
        let verdict = bonds.verdict(
            on: device, as: Self.entry(), remembered: row.remembered.contains(.public) ? Self.own : nil,
            over: .hci0, at: .at(60))
        #expect(Kind(verdict) == row.verdict)
        #expect(bonds.admits(device, at: .at(61)) == (row.verdict != .bondLost))
        // It is let in again when the other one has no bond any more.
        for type in row.remembered { bonds.remember(of(type), isBonded: false) }
        _ = bonds.update(.known([]), at: .at(62))
        #expect(bonds.admits(device, at: .at(63)))
    }

    private static func refuse(_ bonds: inout BondTable, remembered: BluetoothAddress?) -> Kind {
        Kind(
            bonds.verdict(
                on: device, as: entry(requiresBond: true), remembered: remembered, over: .hci0, at: .at(60)))
    }

    @Test(arguments: [own, nil] as [BluetoothAddress?])
    func aDeviceWithoutItsBondIsLeftAloneUntilThereIsOne(remembered: BluetoothAddress?) {
        var bonds = Self.bench(.known([]))
        #expect(bonds.admits(Self.device, at: .at(60)))
        _ = Self.refuse(&bonds, remembered: remembered)
        #expect(!bonds.admits(Self.device, at: .at(1_000_000)))
        let changes = bonds.update(.known([Self.bond]), at: .at(70))
        #expect(changes.map(\.device) == [Self.device])
        #expect(changes.map(\.adapter) == [Self.own])
        #expect(bonds.admits(Self.device, at: .at(70)))
        // Told again when it is lost again.
        _ = bonds.update(.known([]), at: .at(80))
        #expect(Self.refuse(&bonds, remembered: Self.own) == .bondLost)
    }

    @Test func bondsThatGoWhileNobodyCanBeAskedAreChangesToo() {
        var bonds = Self.bench(.known([Self.bond]))
        #expect(bonds.update(.unknown, at: .at(70)).isEmpty)
        let changes = bonds.update(.known([]), at: .at(80))
        #expect(changes.map(\.device) == [Self.device])
        #expect(changes.map(\.adapter) == [nil])
        #expect(bonds.update(.known([]), at: .at(90)).isEmpty)
        // Who refuses the keys of a bond does so after a restart of bluetoothd too.
        _ = bonds.update(.known([Self.bond]), at: .at(100))
        _ = bonds.keysRefused(by: Self.device, as: Self.entry(), at: .at(110))
        _ = bonds.update(.unknown, at: .at(120))
        _ = bonds.update(.known([Self.bond]), at: .at(130))
        #expect(!bonds.admits(Self.device, at: .at(140)))
    }

    /// While bluetoothd restarts, a pairing must not take the place of a bond that works, nor cost one.
    @Test func aBondWorksAlsoWhileNobodyCanBeAsked() {
        var bonds = Self.bench(.known([Self.bond]))
        #expect(bonds.hasWorkingBond(Self.device))
        #expect(bonds.hasListed(Self.bond))
        _ = bonds.update(.unknown, at: .at(70))
        #expect(bonds.hasWorkingBond(Self.device))
        #expect(bonds.hasListed(Self.bond))
        _ = bonds.update(.known([]), at: .at(80))
        #expect(!bonds.hasWorkingBond(Self.device))
        #expect(!bonds.hasListed(Self.bond))

        var started = Self.bench(.unknown)
        #expect(!started.hasWorkingBond(Self.device))
        started.recall([Self.device])
        #expect(started.hasWorkingBond(Self.device))
        #expect(started.hasListed(Self.bond))
    }

    @Test func refusedKeysAreToldOnceAndTriedEvery15Minutes() {
        var bonds = Self.bench(.known([Self.bond]))
        let first = bonds.keysRefused(by: Self.device, as: Self.entry(), at: .at(100))
        guard case .bondLost = first else { return #expect(first != nil) }
        #expect(!bonds.admits(Self.device, at: .at(999)))
        #expect(bonds.admits(Self.device, at: .at(1_000)))
        #expect(bonds.keysRefused(by: Self.device, as: Self.entry(), at: .at(1_000)) == nil)
        #expect(!bonds.admits(Self.device, at: .at(1_899)))
        // The same list again changes nothing; a link that works does.
        _ = bonds.update(.known([Self.bond]), at: .at(1_100))
        #expect(!bonds.admits(Self.device, at: .at(1_899)))
        bonds.clear(Self.device)
        #expect(bonds.admits(Self.device, at: .at(1_200)))
        #expect(bonds.keysRefused(by: Self.device, as: Self.entry(), at: .at(1_300)) != nil)
    }

    @Test func withoutBluetoothdNothingIsSaidOfRefusedKeys() {
        var bonds = Self.bench(.unknown)
        #expect(bonds.keysRefused(by: Self.device, as: Self.entry(), at: .at(100)) == nil)
        #expect(bonds.admits(Self.device, at: .at(100)))
    }

    @Test func aMissingBondIsToldOnceWhereTheAdapterIsThereAndTheListIsWhole() {
        func look(
            _ bonds: inout BondTable, remembered: BluetoothAddress = Self.own, at second: Double = 60
        ) -> Bool {
            bonds.missing(Self.device, as: Self.entry(), remembered: remembered, at: .at(second)) != nil
        }
        var bonds = Self.bench(.known([]))
        #expect(!look(&bonds, at: 9))
        #expect(!look(&bonds, remembered: Self.absent))
        #expect(look(&bonds))
        #expect(!look(&bonds))
        #expect(!bonds.admits(Self.device, at: .at(61)))
        var present = Self.bench(.known([Self.bond]))
        #expect(!look(&present))
        var unknown = Self.bench(.unknown)
        #expect(!look(&unknown))
    }

    @Test func anAdapterThatComesBackBringsItsBondsLater() {
        var bonds = Self.bench(.known([]))
        bonds.update(
            adapters: [
                AdapterState(id: .hci0, address: Self.own, isListening: true, reason: nil),
                AdapterState(id: AdapterID(index: 2), address: Self.absent, isListening: true, reason: nil),
            ], at: .at(60))
        let verdict = bonds.verdict(
            on: Self.device, as: Self.entry(), remembered: Self.absent, over: AdapterID(index: 2), at: .at(65)
        )
        #expect(verdict == .encrypted)
        #expect(bonds.obstacles.isEmpty)
    }

    @Test func aReloadLooksAnewAtWhatTheListWants() {
        var bonds = Self.bench(.known([]))
        #expect(Self.refuse(&bonds, remembered: nil) == .readFailed)
        bonds.reload()
        #expect(bonds.admits(Self.device, at: .at(61)))
        // A bond that is lost stays lost.
        #expect(Self.refuse(&bonds, remembered: Self.own) == .bondLost)
        bonds.reload()
        #expect(!bonds.admits(Self.device, at: .at(62)))
    }

    @Test func inventedAddressesMakeNoRoomForWhatWasLost() {
        var bonds = Self.bench(.known([]))
        #expect(Self.refuse(&bonds, remembered: Self.own) == .bondLost)
        for number in 2...BondTable.mostObstacles + 100 {
            _ = bonds.verdict(
                on: .device(number), as: Self.entry(requiresBond: true), remembered: nil, over: .hci0,
                at: .at(60))
        }
        #expect(bonds.obstacles.count == BondTable.mostObstacles)
        #expect(!bonds.admits(Self.device, at: .at(60)))
    }
}
