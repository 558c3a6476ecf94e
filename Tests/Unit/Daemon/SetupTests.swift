import FoundationEssentials
import IngestOperator
import Synchronization
import TestSupport
import Testing

@testable import IngestDaemon

/// The questions of `setup`, with answers that are typed in order.
@Suite struct DialogueTests {
    @Test func aWrongAnswerIsToldAndAskedAgain() async throws {
        let terminal = ScriptedTerminal(["", "maybe", "n"])
        let dialogue = Dialogue(terminal: terminal, asks: true)
        #expect(try await dialogue.confirm("Go on?", standard: true))
        #expect(try await !dialogue.confirm("Go on?", standard: true))
        #expect(terminal.lines == ["  Not so: expected y or n"])
        #expect(terminal.prompts == Array(repeating: "Go on? [Y]:", count: 3))
    }

    @Test func theEndOfTheInputEndsIt() async throws {
        let dialogue = Dialogue(terminal: ScriptedTerminal([]), asks: true)
        await #expect { _ = try await dialogue.confirm("Go on?", standard: true) } throws: {
            ($0 as? CommandFailure)?.status == .interrupted
        }
    }

    @Test func aMissingAnswerNamesItsFlagWhereNobodyCanBeAsked() async throws {
        let dialogue = Dialogue(terminal: ScriptedTerminal(["y"]), asks: false)
        await #expect { _ = try await dialogue.ask("Name", flag: "--name") { $0 } } throws: {
            let failure = $0 as? CommandFailure
            return failure?.status == .usage && failure?.message.hasPrefix("--name is missing") == true
        }
        #expect(try await dialogue.ask("Name", flag: "--name", standard: "box") { $0 } == "box")
        #expect(
            try await dialogue.ask("Name", flag: "--name", given: "other", standard: "box") { $0 } == "other")
    }

    @Test(
        arguments: [String(repeating: "a", count: 5000), "a\u{1B}[2Jb", "caf\u{FFFD}"])
    func whatIsTooLongOrNoTextIsRefused(answer: String) async throws {
        let terminal = ScriptedTerminal([answer, "good"])
        let dialogue = Dialogue(terminal: terminal, asks: true)
        #expect(try await dialogue.ask("Name", flag: nil) { $0 } == "good")
        #expect(terminal.lines.count { $0.hasPrefix("  Not so:") } == 1)
    }

    @Test func everyLineFitsAndHasNoSigns() throws {
        let terminal = ScriptedTerminal([])
        try Dialogue(terminal: terminal, asks: true).say(
            "Küche → \u{1B}[31m " + String(repeating: "/path", count: 40)
                + " and more words that are broken between them, as they are in other texts\n  indented "
                + String(repeating: "word ", count: 30))
        #expect(terminal.lines.count > 5)
        for line in terminal.lines {
            #expect(line.count <= 79)
            // Letters, where the locale of the test has them.
            #expect(
                line.unicodeScalars.allSatisfy {
                    (" "..."~").contains($0) || $0.properties.isAlphabetic && $0 < "\u{530}"
                })
        }
        #expect(terminal.lines.suffix(2).allSatisfy { $0.hasPrefix("  ") })
    }
}

/// The box, as `setup` looks at it.
@Suite struct BoxStepTests {
    private func run(_ service: FakeService, _ terminal: ScriptedTerminal, asks: Bool = true) async throws {
        try await BoxStep(
            dialogue: Dialogue(terminal: terminal, asks: asks), service: service, clock: JumpingClock()
        ).run()
    }

    @Test func aServiceThatDoesNotRunIsStarted() async throws {
        let service = FakeService(.init(statuses: [nil, .sample(isClockRight: false)]))
        let terminal = ScriptedTerminal([""])
        try await run(service, terminal)
        #expect(service.orders == ["enable"])
        #expect(terminal.text.contains("Adapter: hci0"))
        #expect(terminal.text.contains("not known to be right"))
    }

    @Test func anAdapterCanBePluggedInMeanwhile() async throws {
        let service = FakeService(
            .init(statuses: Array(repeating: .sample(adapters: []), count: 11) + [.sample()]))
        let terminal = ScriptedTerminal([""])
        try await run(service, terminal)
        #expect(terminal.prompts.last?.contains("Look again?") == true)
    }

    @Test func withoutATerminalAMissingAdapterIsAFailure() async throws {
        let blocked = GatewayStatus.Adapter(name: "hci0", isListening: false, reason: "is blocked by rfkill")
        let listed = GatewayStatus.Peripheral(
            id: 1002, alias: nil, address: nil, isPinned: false, state: .unheard)
        let service = FakeService(.init(statuses: [.sample(adapters: [blocked], peripherals: [listed])]))
        await #expect {
            try await run(service, ScriptedTerminal([]), asks: false)
        } throws: {
            let failure = $0 as? CommandFailure
            return failure?.status == .unavailable && failure?.message.contains("rfkill") == true
        }
    }
}

/// The destination, asked for and written.
@Suite struct DestinationStepTests {
    private func run(
        _ path: String, _ terminal: ScriptedTerminal, _ answers: DestinationStep.Answers = .init(),
        asks: Bool = true, test: FixedTest = FixedTest(), name: String = "clinic"
    ) async throws -> FakeService {
        let up = GatewayStatus.Destination(name: name, state: "up", pending: 0, submitted: 0, failed: 0)
        let service = FakeService(.init(statuses: [.sample(), .sample(destinations: [up])]))
        try await DestinationStep(
            dialogue: Dialogue(terminal: terminal, asks: asks), service: service,
            clock: JumpingClock(), test: test, written: WrittenFiles(), path: path,
            answers: answers
        ).run(try loaded(path))
        return service
    }

    @Test func everyTypeIsOfferedWithWhatItNeeds() {
        let needs = DestinationForms.all.map { form in
            "\(form.typeName): "
                + DestinationDraft(type: form.typeName).needs().missing.map(\.key).joined(separator: " ")
        }
        #expect(
            needs == [
                "webhook: url", "fhir: url", "junction: user", "validic: user credential",
                "spike: url credential main_callback_url", "mqtt: url",
            ])
        #expect(DestinationDraft(type: "junction").needs().ignoresCredential)
        #expect(!DestinationDraft(type: "webhook").needs().ignoresCredential)
    }

    @Test func aWebhookIsWrittenWithItsTokenInAFileOfItsOwn() async throws {
        try await withConfiguration { path in
            let terminal = ScriptedTerminal([
                "9", "1", "my clinic", "clinic", "http://clinic.example/", "https://clinic.example/readings",
                "s3cret-t0ken",
            ])
            let service = try await run(path, terminal)
            #expect(terminal.left.isEmpty)
            #expect(terminal.secrets == 1)
            #expect(!terminal.text.contains("s3cret"))
            #expect(terminal.lines.count { $0.hasPrefix("  Not so:") } == 3)
            #expect(service.orders == ["restart"])
            let directory = String(path.dropLast("/ingestd.yaml".count))
            let credential = directory + "/credentials/clinic"
            let settings = try #require(try loaded(path).destinations.first)
            #expect(settings.name == "clinic")
            #expect(settings.form.url == "https://clinic.example/readings")
            #expect(settings.credential == .path(credential))
            #expect(try String(contentsOfFile: credential, encoding: .utf8) == "s3cret-t0ken\n")
            #expect(FileStatus(credential)?.permissions == 0o640)
            let piece = try String(
                contentsOfFile: directory + "/conf.d/destination-clinic.yaml", encoding: .utf8)
            #expect(!piece.contains("s3cret"))
        }
    }

    @Test func answersAreCorrectedAfterATestThatFails() async throws {
        try await withConfiguration { path in
            let terminal = ScriptedTerminal([
                "1", "clinic", "https://clinc.example/", "s3cret", "y",
                "", "", "https://clinic.example/", "",
            ])
            _ = try await run(path, terminal, test: FixedTest(failing: ["https://clinc.example/"]))
            #expect(terminal.left.isEmpty)
            let settings = try #require(try loaded(path).destinations.first)
            #expect(settings.form.url == "https://clinic.example/")
            #expect(settings.credential != nil)
        }
    }

    @Test func aTestThatFailsCanBeLeft() async throws {
        try await withConfiguration { path in
            let test = FixedTest(failing: ["https://clinic.example/"])
            let begin = ["1", "clinic", "https://clinic.example/", "", "n"]
            await #expect(throws: CommandFailure.self) {
                _ = try await run(path, ScriptedTerminal(begin + ["n"]), test: test)
            }
            let destinations = try loaded(path).destinations
            #expect(destinations.isEmpty)
            _ = try await run(path, ScriptedTerminal(begin + ["y"]), test: test)
            #expect(try loaded(path).destinations.count == 1)
        }
    }

    @Test func flagsAnswerEverything() async throws {
        try await withConfiguration { path in
            let test = FixedTest(failing: ["https://fhir.example/r4"])
            var answers = DestinationStep.Answers(
                type: "fhir", name: "clinic", keys: ["auth=basic"], url: "https://fhir.example/r4",
                secret: "user:password")
            await #expect {
                _ = try await run(path, ScriptedTerminal([]), answers, asks: false, test: test)
            } throws: {
                let failure = $0 as? CommandFailure
                return failure?.status == .unavailable && failure?.message.contains("--untested") == true
            }
            answers.isUntested = true
            _ = try await run(path, ScriptedTerminal([]), answers, asks: false, test: test)
            let settings = try #require(try loaded(path).destinations.first?.form as? FHIRSettings)
            #expect(settings.authentication == .basic)
        }
    }

    @Test(arguments: [
        (DestinationStep.Answers(type: "webhook"), "--url is missing"),
        (DestinationStep.Answers(type: "pigeon"), "--destination-type"),
        (
            DestinationStep.Answers(type: "webhook", keys: ["colour=red"]),
            "--destination-key: type webhook has no key"
        ),
        (DestinationStep.Answers(type: "webhook", url: "http://clinic.example/"), "--url: expected"),
        (DestinationStep.Answers(type: "validic", keys: ["user=patient-17"]), "--token-file is missing"),
    ])
    func aFlagThatIsMissingOrWrongIsNamed(answers: DestinationStep.Answers, message: String) async throws {
        try await withConfiguration { path in
            await #expect {
                _ = try await run(path, ScriptedTerminal([]), answers, asks: false, name: "webhook")
            } throws: {
                let failure = $0 as? CommandFailure
                return failure?.status == .usage && failure?.message.contains(message) == true
            }
            let destinations = try loaded(path).destinations
            #expect(destinations.isEmpty)
        }
    }

    @Test func oneThatIsThereIsNamedAndKept() async throws {
        let text = "destinations: [{name: clinic, type: webhook, url: \"http://127.0.0.1:9/\"}]\n"
        try await withConfiguration(text) { path in
            let terminal = ScriptedTerminal([])
            let service = try await run(path, terminal)
            #expect(service.orders.isEmpty)
            #expect(terminal.lines == ["Destination: clinic (webhook)."])
        }
    }
}

/// The device, chosen, named, written and paired.
@Suite struct DeviceStepTests {
    private static func device(
        _ address: String, signal: Int, data: String, type: AddressType = .random,
        listed: AirDevice.Listing? = nil
    ) throws -> AirDevice {
        var device = AirDevice(
            address: try #require(BluetoothAddress(address)), addressType: type, signal: signal,
            isConnectable: true, data: try #require(Hex.bytes(data)))
        device.listed = listed
        return device
    }

    private static let thermometer = "0201060303" + "0918"
    private static let cuff = "0201060303" + "1018"

    private func run(
        _ path: String, _ terminal: ScriptedTerminal, _ service: FakeService,
        _ answers: DeviceStep.Answers = .init(), asks: Bool = true
    ) async throws -> SetupDevice {
        try await DeviceStep(
            dialogue: Dialogue(terminal: terminal, asks: asks), service: service, written: WrittenFiles(),
            path: path, answers: answers
        ).run(try loaded(path))
    }

    @Test func aDeviceIsChosenByItsNumberAndWritten() async throws {
        try await withConfiguration { path in
            let far = try Self.device("C0:00:00:00:00:02", signal: -80, data: Self.thermometer)
            let near = try Self.device("C0:00:00:00:00:01", signal: -40, data: Self.cuff)
            let stranger = try Self.device("C0:00:00:00:00:09", signal: -30, data: "020106")
            let service = FakeService(
                .init(statuses: [.sample()], air: [[], [stranger, far], [stranger, near, far]]))
            let terminal = ScriptedTerminal(["r", "7", "2", "kitchen cuff", "patient-17"])
            let device = try await run(path, terminal, service)
            #expect(terminal.left.isEmpty)
            #expect(device.address?.description == "C0:00:00:00:00:01")
            #expect(terminal.text.contains(" 1  -80 dBm  C0:00:00:00:00:02  new: 1002 Generic thermometer"))
            #expect(terminal.text.contains(" 2  -40 dBm  C0:00:00:00:00:01  new: 1001"))
            #expect(terminal.text.contains("1 more of no known model"))
            #expect(service.orders == ["scan", "scan", "scan", "reload"])
            let entry = try #require(try loaded(path).peripherals.first)
            #expect(entry.alias == "kitchen cuff")
            #expect(entry.subject == "patient-17")
            #expect(entry.address == device.address)
        }
    }

    @Test func ofManyDevicesAScreenfulIsShown() throws {
        var list = DeviceList()
        let catalogue = try loadedCatalogue()
        let found = try (1...40).map { number in
            FoundDevice(
                try Self.device(
                    "C0:00:00:00:00:\(Hex.text([UInt8(number)]))", signal: -number, data: Self.thermometer),
                catalogue: catalogue, readableProfiles: Profiles.names)
        }
        let lines = list.add(found)
        #expect(lines.count == 16)
        #expect(lines.allSatisfy { $0.count <= 79 })
        #expect(lines.last?.contains("25 with weaker signals") == true)
        #expect(list.add(found).first?.hasPrefix("16") == true)
    }

    @Test func lettersAreShownWhereTheLocaleHasThem() {
        #expect(PlainText.plain("Küche — Łódź 心\u{1B}", showsLetters: true) == "Küche ? Łódź ??")
        #expect(PlainText.plain("Küche", showsLetters: false) == "K?che")
        #expect(PlainText.isOfUTF8(["LC_ALL": "", "LC_CTYPE": "de_DE.UTF-8", "LANG": "C"]))
        #expect(PlainText.isOfUTF8(["LANG": "C.utf8"]))
        #expect(!PlainText.isOfUTF8(["LC_ALL": "C", "LANG": "de_DE.UTF-8"]))
        #expect(!PlainText.isOfUTF8([:]))
    }

    /// Two cuffs of one maker are told apart by their names, and no name hides the model.
    @Test(arguments: [
        ("Cuff B-0002", "Cuff B-0002"),
        (String(repeating: "x", count: 29), String(repeating: "x", count: 20)),
    ])
    func aDeviceIsShownByItsNameAndItsModel(name: String, shown: String) throws {
        var list = DeviceList()
        let data = Self.cuff + Hex.text([UInt8(1 + name.utf8.count), 0x09] + Array(name.utf8))
        let found = FoundDevice(
            try Self.device("C0:00:00:00:00:01", signal: -60, data: data),
            catalogue: try loadedCatalogue(), readableProfiles: Profiles.names)
        let line = try #require(list.add([found]).first)
        #expect(line.hasPrefix(" 1  -60 dBm  C0:00:00:00:00:01  \"\(shown)\"  new: 1001 Generic"))
        #expect(line.count <= 80)
    }

    private func loadedCatalogue() throws -> Catalogue {
        try Catalogue.load(additions: "").catalogue
    }

    @Test func aPrivateAddressIsPinnedOnceItIsPaired() async throws {
        try await withConfiguration { path in
            // 41… is resolvable. 2040 is a cuff that must be paired.
            let name = "A&D_UA-651BLE".utf8.map { $0 }
            let data = Self.cuff + Hex.text([UInt8(1 + name.count), 0x09] + name)
            let heard = try Self.device("41:00:00:00:00:01", signal: -40, data: data)
            let identity = try #require(BluetoothAddress("F1:00:00:00:00:01"))
            var asked = OperatorStep(.passkeyWanted, "Type what it shows.")
            asked.number = 1
            let refused = OperatorStep(.failed, "wrong passkey", reason: .wrongPasskey)
            let service = FakeService(
                .init(
                    statuses: [.sample()], air: [[heard]],
                    pairings: [[refused], [asked, OperatorStep(.paired, "Paired.", address: identity)]]))
            let terminal = ScriptedTerminal(["1", "", "cuff", "patient-17", "y", "12", "123456"])
            let device = try await run(path, terminal, service)
            #expect(terminal.left.isEmpty)
            #expect(service.orders == ["scan", "reload", "pair 2040", "pair 2040", "reload"])
            let passkey = service.state.withLock { $0.answers.first?.passkey }
            #expect(passkey == "123456")
            #expect(device.address == identity)
            let entry = try #require(try loaded(path).peripherals.first)
            #expect(entry.address == identity)
            #expect(entry.subject == "patient-17")
            #expect(entry.requiresBond)
        }
    }

    @Test func flagsAnswerEverything() async throws {
        try await withConfiguration { path in
            let service = FakeService(.init(statuses: [.sample()]))
            let answers = DeviceStep.Answers(
                model: 1002, address: "F1:F1:F1:F1:F1:F1", subject: "patient-17")
            _ = try await run(path, ScriptedTerminal([]), service, answers, asks: false)
            #expect(service.orders == ["reload"])
            #expect(try loaded(path).peripherals.first?.alias == "thermometer")
        }
    }

    @Test(arguments: [
        (DeviceStep.Answers(), "--model is missing"),
        (DeviceStep.Answers(model: 4711), "--model 4711"),
        (DeviceStep.Answers(model: 1002, address: "cuff"), "--address: expected"),
        (DeviceStep.Answers(model: 1002, alias: "17"), "--alias: expected"),
        (DeviceStep.Answers(model: 1002, subject: "patient-17"), "--subject needs --address"),
    ])
    func aFlagThatIsMissingOrWrongIsNamed(answers: DeviceStep.Answers, message: String) async throws {
        try await withConfiguration { path in
            let service = FakeService(.init(statuses: [.sample()]))
            await #expect {
                _ = try await run(path, ScriptedTerminal([]), service, answers, asks: false)
            } throws: {
                let failure = $0 as? CommandFailure
                return failure?.status == .usage && failure?.message.contains(message) == true
            }
            let peripherals = try loaded(path).peripherals
            #expect(peripherals.isEmpty)
        }
    }
}

/// The first reading, waited for.
@Suite struct ReadingStepTests {
    private static func found(_ states: RecordStanding.State...) throws -> FoundRecord {
        FoundRecord(
            id: "1", record: RecordSummary(json: try record("a").json), obstacle: nil,
            standings: states.map { RecordStanding(destination: "clinic", state: $0) })
    }

    private func run(_ service: FakeService, _ terminal: ScriptedTerminal) async throws -> Bool {
        let model = try #require(try Catalogue.load(additions: "").catalogue[1002])
        return try await ReadingStep(
            dialogue: Dialogue(terminal: terminal, asks: true), service: service,
            clock: JumpingClock(), patience: .seconds(60)
        ).run(SetupDevice(model: model, address: nil, alias: "porch"), after: 7)
    }

    @Test func eachStepIsToldAndNoValue() async throws {
        let peripheral = GatewayStatus.Peripheral(
            id: 1002, alias: "porch", address: nil, isPinned: false, state: .reading)
        let service = FakeService(
            .init(
                statuses: [.sample(peripherals: [peripheral])],
                records: [nil, try Self.found(.waiting), try Self.found(.done)]))
        let terminal = ScriptedTerminal([])
        #expect(try await run(service, terminal))
        #expect(terminal.text.contains("It is being read."))
        #expect(terminal.lines.count { $0.hasPrefix("It gave a reading: ") } == 1)
        #expect(terminal.lines.last?.hasPrefix("Delivered to clinic: ") == true)
        #expect(terminal.lines.last?.contains(" of porch, ") == true)
    }

    @Test func whatWasNotTakenIsSaid() async throws {
        let service = FakeService(.init(statuses: [.sample()], records: [try Self.found(.setAside)]))
        let terminal = ScriptedTerminal([])
        #expect(try await !run(service, terminal))
        #expect(terminal.text.contains("clinic did not take it"))
    }

    @Test func theWaitHasAnEnd() async throws {
        let service = FakeService(.init(statuses: [.sample()]))
        let terminal = ScriptedTerminal([])
        #expect(try await !run(service, terminal))
        #expect(terminal.text.contains("No reading was delivered within 1 min."))
    }
}
