import TestSupport
import Testing

@testable import IngestConfiguration
@testable import IngestOperator
@testable import IngestReading

struct FoundDeviceTests {
    private static let advert: [UInt8] = [0x02, 0x01, 0x06, 0x03, 0x03, 0x09, 0x18]
    private static let maker = PeripheralModel.sample(
        id: 2001, recognised: [[.namePrefix(Array("Acme".utf8))]])

    private static func model(_ id: Int, _ change: (inout PeripheralModel) -> Void) -> PeripheralModel {
        var model = PeripheralModel.sample(id: id)
        change(&model)
        return model
    }

    private static func found(
        _ data: [UInt8] = advert, of device: DeviceAddress = .device(1), isConnectable: Bool = true,
        listed: AirDevice.Listing? = nil, models: [PeripheralModel] = [.sample()]
    ) -> FoundDevice {
        var heard = AirDevice(
            address: device.address, addressType: device.type, signal: -61, isConnectable: isConnectable,
            data: data)
        heard.listed = listed
        return FoundDevice(heard, catalogue: Catalogue(models: models), readableProfiles: ["thermometer"])
    }

    private static func random(_ text: String) throws -> DeviceAddress {
        DeviceAddress(try #require(BluetoothAddress(text)), .random)
    }

    private static func name(_ name: String) -> [UInt8] {
        [UInt8(1 + name.utf8.count), 0x09] + name.utf8
    }

    @Test func anEntryPinsTheAddress() throws {
        let device = try Self.random("F1:F1:F1:F1:F1:F1")
        let found = Self.found(of: device)
        #expect(found.addressKind == .static)
        #expect(found.matches.map(\.entry) == ["- {id: 1002, address: \"F1:F1:F1:F1:F1:F1\"}"])
        let bonding = Self.found(of: device, models: [Self.model(1001) { $0.bonding = .required }])
        #expect(
            bonding.matches.map(\.entry)
                == ["- {id: 1001, address: \"F1:F1:F1:F1:F1:F1\", require_bond: true}"])
        #expect(bonding.matches.map(\.needsPairing) == [true])
        let watch = Self.found(of: device, models: [Self.model(1001) { $0.quirks = [.expectsClock] }])
        #expect(watch.matches.map(\.entry) == ["- {id: 1001, address: \"F1:F1:F1:F1:F1:F1\", clock: set}"])
    }

    @Test func anEntryIsOneThatTheConfigurationTakes() throws {
        let entry = try #require(Self.found(of: try Self.random("F1:F1:F1:F1:F1:F1")).matches.first?.entry)
        let text = "peripherals:\n  \(entry)\n"
        let catalogue = Catalogue(models: [.sample()])
        let checked = try Configuration.parse(
            text: text, path: "test", catalogue: catalogue, readableProfiles: ["thermometer"],
            host: .current(environment: ["STATE_DIRECTORY": "/tmp"]))
        #expect(checked.configuration.peripherals.first?.address?.description == "F1:F1:F1:F1:F1:F1")
    }

    @Test(arguments: [("4A:00:00:00:00:01", "resolvable"), ("0A:00:00:00:00:01", "non-resolvable")])
    func aPrivateAddressIsNotPinned(address: String, kind: String) throws {
        let found = Self.found(of: try Self.random(address))
        #expect(found.addressKind.rawValue == kind)
        #expect(found.matches.map(\.entry) == ["- {id: 1002}"])
        let lines = FoundDeviceText(found).lines
        let text = lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
        #expect(text.contains("private"))
        #expect(text.contains("ingestd pair 1002"))
    }

    @Test func aNameMovesNothingOnTheTerminal() {
        let lines = FoundDeviceText(Self.found(Self.advert + Self.name("A\u{9B}2J\n\u{202E}"))).lines
        #expect(lines.allSatisfy { TerminalText.line($0) == $0 })
    }

    @Test func theModelThatSaysMostOfItselfComesFirst() {
        let found = Self.found(Self.advert + Self.name("Acme T1"), models: [.sample(), Self.maker])
        #expect(found.matches.map(\.id) == [2001, 1002])
        #expect(found.name == "Acme T1")
        #expect(found.services == ["1809"])
    }

    @Test func thereIsNoEntryForWhatIsListedOrCannotBeRead() {
        #expect(Self.found(listed: .init(id: 1002, alias: "kitchen")).matches.map(\.entry) == [nil])
        let unreadable = Self.found(models: [Self.model(5) { $0.profile = "other" }])
        #expect(unreadable.matches.map(\.entry) == [nil])
        #expect(unreadable.matches.map(\.isReadable) == [false])
        // Nothing can be read of what takes no connection.
        #expect(Self.found(isConnectable: false).matches.isEmpty)
        #expect(Self.found([0x02, 0x01, 0x06]).matches.isEmpty)
    }

    @Test func theWayToABondIsOfTheModelThatItIsListedAs() {
        let bonding = Self.model(2040) { $0.bonding = .required }
        func text(listed id: Int?, isBonded: Bool?) -> String {
            var heard = AirDevice(
                address: DeviceAddress.device(1).address, addressType: .random, signal: -61,
                isConnectable: true, data: Self.advert)
            heard.listed = id.map { .init(id: $0, alias: nil) }
            heard.isBonded = isBonded
            let found = FoundDevice(
                heard, catalogue: Catalogue(models: [bonding, .sample()]), readableProfiles: ["thermometer"])
            return FoundDeviceText(found).lines.joined(separator: " ").split(separator: " ").joined(
                separator: " ")
        }
        #expect(text(listed: 2040, isBonded: false).contains("must be paired: ingestd pair 2040"))
        #expect(!text(listed: 1002, isBonded: false).contains("pair"))
        #expect(
            text(listed: nil, isBonded: false)
                .contains("must be paired: with its entry in place, ingestd pair 2040"))
        #expect(text(listed: 2040, isBonded: nil).contains("must be paired, if it is not yet"))
        #expect(!text(listed: 2040, isBonded: true).contains("must be"))
    }

    @Test(arguments: [
        ("Cuff\u{1B}[2J", "Cuff\\u{1b}[2J"), ("a\nb\r", "a\\u{a}b\\u{d}"), ("\u{202E}evil", "\\u{202e}evil"),
        ("z\u{0301}\u{0301}", "z\\u{301}\\u{301}"), ("Fieberthermometer für Ä", "Fieberthermometer für Ä"),
        ("\u{0}", "\\u{0}"), ("tab\there", "tab\\u{9}here"),
    ])
    func aNameCannotMoveTheCursor(sent: String, shown: String) {
        #expect(Self.found(Self.name(sent)).name == shown)
    }

    @Test func aLongNameIsCut() {
        let name = Self.found(Self.name(String(repeating: "x", count: 200))).name
        #expect(name == String(repeating: "x", count: 60) + "…")
        // What is not UTF-8 is a name all the same.
        #expect(Self.found([0x03, 0x09, 0xFF, 0xFE]).name == "\u{FFFD}\u{FFFD}")
    }

    @Test func noLineButAnEntryIsLongerThan80Columns() throws {
        let services: [UInt8] = (0..<40).flatMap { [UInt8($0), 0x18] }
        let data =
            Self.advert + [UInt8(1 + services.count), 0x02] + services
            + Self.name(String(repeating: "血", count: 60)) + [0x03, 0xFF, 0x57, 0x01]
        let models = (0..<30).map { PeripheralModel.sample(id: 2000 + $0) }
        for address in ["F1:F1:F1:F1:F1:F1", "4A:00:00:00:00:01"] {
            let text = FoundDeviceText(Self.found(data, of: try Self.random(address), models: models))
            #expect(text.lines.count > 3)
            for line in text.lines {
                #expect(line.unicodeScalars.reduce(0) { $0 + ($1.isASCII ? 1 : 2) } <= 80)
            }
        }
    }

    @Test func aDeviceIsOneObject() throws {
        let found = Self.found(
            Self.advert + Self.name("Acme \"T1\""), of: try Self.random("F1:F1:F1:F1:F1:F1"))
        #expect(
            found.json
                == #"{"address":"F1:F1:F1:F1:F1:F1","address_type":"static","companies":[],"#
                + #""connectable":true,"in_pairing_mode":true,"matches":[{"entry":"#
                + #""- {id: 1002, address: \"F1:F1:F1:F1:F1:F1\"}","id":1002,"name":"Sample","#
                + #""needs_pairing":false,"readable":true}],"name":"Acme \"T1\"","services":["1809"],"#
                + #""signal":-61}"#)
    }
}
