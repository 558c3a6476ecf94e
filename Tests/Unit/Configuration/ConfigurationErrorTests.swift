import FoundationEssentials
import Testing

@testable import IngestConfiguration

/// Lines that make a file otherwise free of findings; cases come after them, from line 3.
private let destinations = "destinations:\n  - {name: a, type: webhook, url: \"https://a.example/\"}\n"
private let peripherals = "peripherals:\n  - id: 1002\n"

@Suite struct ConfigurationErrorTests {
    /// What stands in the file may be a person's name or a device's address.
    @Test(arguments: [
        ("peripherals: [{id: 1000, address: Anna}]", "1:35: peripherals[0].address: expected"),
        ("peripherals: [{id: 1000, Anna: 7}]", "1:26: peripherals[0].…: unknown key; expected one of"),
        (
            "peripherals: [{id: 1000, address: \"C0:01:00:00:00:01\", users: {Anna: x}}]",
            "peripherals[0].users.…"
        ),
        (
            "peripherals: [{id: 1000, address: \"C0:01:00:00:00:01\"}, {id: 1001, address: \"C0:01:00:00:00:01\"}]",
            "peripherals[1].address"
        ),
        (
            "destinations: [{name: a, type: webhook, url: Anna}, {name: Anna Smith}]",
            "destinations[0].url: expected a URL"
        ),
    ])
    func anEventHasNothingOfTheFile(_ text: String, _ expected: String) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appending(path: "c.yaml").path
        // A warning comes before it.
        try Data((text + "\ngateway: {trust_clock: maybe}\n").utf8).write(to: URL(filePath: path))
        let check = ConfigurationCheck(
            path: path, installedCatalogue: "/nowhere/p.yaml", readableProfiles: Profiles.names,
            host: Samples.host)
        let rejection = try #require(check.rejection)
        #expect(rejection.contains(expected), "\(rejection)")
        #expect(rejection.hasSuffix(" more: see ingestd check"))
        #expect(!rejection.contains("Anna") && !rejection.contains("C0:01"), "\(rejection)")
    }

    /// One value of the wrong kind is one finding, and no empty list.
    @Test(arguments: [
        ("peripherals: {id: 1001}\n" + destinations, "1:14: peripherals: expected a list, found a mapping"),
        (peripherals + "destinations: all\n", "3:15: destinations: expected a list, found \"all\""),
        ("- peripherals\n", "1:1: expected a mapping, found a list"),
    ])
    func aSectionOfTheWrongKindIsToldOnce(text: String, expected: String) throws {
        #expect(try Samples.findings(text) == ["c.yaml:" + expected])
    }

    @Test func whatIsLeftOutIsCountedAndErrorsComeBeforeWarnings() throws {
        let entry = "{id: 1002, address: \"C0:00:00:00:00:%\", key: k}"
        let warnings = (10..<99).map { entry.replacing("%", with: "\($0)") }.joined(separator: ", ")
        let errors = (0..<150).map { "wrong\($0): 1" }.joined(separator: "\n")
        let found = try Samples.findings("peripherals: [\(warnings)]\n\(errors)\n" + destinations)
        #expect(found.count == 201)
        #expect(found.count { $0.contains("unknown key") } == 150)
        #expect(found.last == "c.yaml: and 39 more, which are not shown")
    }

    @Test func aKeyObeysNoTerminal() throws {
        let found = try Samples.findings(destinations + peripherals + "\"a\\nb\\e[31m\": 1")
        #expect(found.count == 1)
        #expect(
            found.allSatisfy { !$0.unicodeScalars.contains { $0.properties.generalCategory == .control } })
    }

    /// What is wrong with a file of models hides nothing that is wrong with the configuration, and
    /// a model that may stand there is not called missing.
    @Test func aBadCatalogueHidesNoOtherError() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        let models = directory.appending(path: "peripherals.d")
        try FileManager.default.createDirectory(at: models, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try Data("models: [{id: 12000}]\n".utf8).write(to: models.appending(path: "own.yaml"))
        let path = directory.appending(path: "c.yaml").path
        let text = destinations + "peripherals: [{id: 12000}, {id: 1002, adress: x}]\n"
        try Data(text.utf8).write(to: URL(filePath: path))
        let check = ConfigurationCheck(
            path: path, installedCatalogue: "/nowhere/p.yaml", readableProfiles: Profiles.names,
            host: Samples.host)
        #expect(check.configuration == nil)
        let errors = check.diagnostics.filter { $0.severity == .error }.map(\.description)
        #expect(errors.contains { $0.contains("own.yaml") })
        #expect(errors.contains { $0.contains("peripherals[1].adress: unknown key; did you mean address?") })
        #expect(!errors.contains { $0.contains("no model of the catalogue") }, "\(errors)")
    }

    @Test(arguments: [
        ("gatway: {}", "c.yaml:5:1: gatway: unknown key; did you mean gateway?"),
        (
            "xyzzy: 1",
            "c.yaml:5:1: xyzzy: unknown key; expected one of gateway, bluetooth, passive, peripherals, queue, "
                + "destinations, events, hooks, logging"
        ),
        ("gateway: 7", "c.yaml:5:10: gateway: expected a mapping, found \"7\""),
        (
            "gateway:\n  id: a b",
            "c.yaml:6:7: gateway.id: expected a name of 1 to 64 letters, digits, dots, dashes or underscores, "
                + "found \"a b\""
        ),
        (
            "gateway: {trust_clock: \"true\"}",
            "c.yaml:5:24: gateway.trust_clock: expected true or false, found \"true\""
        ),
        (
            "gateway: {time_zone: Europe/Londn}",
            "c.yaml:5:22: gateway.time_zone: expected a time zone of this machine such as Europe/London, "
                + "found \"Europe/Londn\""
        ),
        (
            "gateway: {state_directory: lib}",
            "c.yaml:5:28: gateway.state_directory: expected the absolute path of a directory, found \"lib\""
        ),
        (
            "bluetooth: {adapter: hci01}",
            "c.yaml:5:22: bluetooth.adapter: expected any, an adapter such as hci0, or an adapter's address, "
                + "found \"hci01\""
        ),
        (
            "bluetooth: {scan_interval: 2ms}",
            "c.yaml:5:28: bluetooth.scan_interval: expected 2.5ms to 10240ms, found \"2ms\""
        ),
        (
            "bluetooth: {scan_interval: 30ms, scan_window: 60ms}",
            "c.yaml:5:47: bluetooth.scan_window: expected at most scan_interval, 30ms, found \"60ms\""
        ),
        (
            "bluetooth: {links: 9}",
            "c.yaml:5:20: bluetooth.links: expected a number from 1 to 8, found \"9\""
        ),
        (
            "bluetooth: {scan_window: 61ms}",
            "c.yaml:5:26: bluetooth.scan_window: expected at most scan_interval, 60ms, found \"61ms\""
        ),
        (
            "bluetooth: {scan_interval: 20ms}",
            "c.yaml:5:28: bluetooth.scan_interval: expected at least scan_window, 30ms, found \"20ms\""
        ),
        (
            "passive: {quiet_period: 10}",
            "c.yaml:5:25: passive.quiet_period: expected a duration such as 60ms, 10s, 15m, 12h or 7d, found \"10\""
        ),
        (
            "passive: {cooldown: }",
            "c.yaml:5:21: passive.cooldown: expected a duration such as 60ms, 10s, 15m, 12h or 7d, found nothing"
        ),
        (
            "queue: {max_size: 1GB}",
            "c.yaml:5:19: queue.max_size: expected a size such as 512KiB, 16MiB or 1GiB, found \"1GB\""
        ),
        ("queue: {max_size: 1MiB}", "c.yaml:5:19: queue.max_size: expected 16MiB to 1TiB, found \"1MiB\""),
        ("events: {values: 1}", "c.yaml:5:18: events.values: expected true or false, found \"1\""),
        (
            "hooks: {read: chime}",
            "c.yaml:5:15: hooks.read: expected the absolute path of a program, found \"chime\""
        ),
        (
            "logging: {level: loud}",
            "c.yaml:5:18: logging.level: expected trace, debug, info, notice, warning, error or critical, "
                + "found \"loud\""
        ),
        (
            "logging: {subsystems: {queue: debgu}}",
            "c.yaml:5:31: logging.subsystems.queue: expected trace, debug, info, notice, warning, error or "
                + "critical, found \"debgu\"; did you mean debug?"
        ),
        (
            "logging: {subsystems: {bluetoth: debug}}",
            "c.yaml:5:24: logging.subsystems.bluetoth: unknown subsystem; did you mean bluetooth?"
        ),
        (
            "gateway: [",
            "c.yaml:6:1: not valid YAML: while parsing a flow node, did not find expected node content"
        ),
        (
            "events: {}\nevents: {}",
            "c.yaml:5:1: events: expected each key once; it stands here and again below"
        ),
        // With quotes or without, it is the same key.
        ("1: x\n\"1\": x", "c.yaml:5:1: 1: expected each key once; it stands here and again below"),
    ])
    func aBadSectionIsToldWithItsPlace(text: String, expected: String) throws {
        #expect(try Samples.findings(destinations + peripherals + text) == [expected])
    }

    @Test(arguments: [
        ("- {}", "3:5: peripherals[0].id: expected a catalogue ID, but the key is missing"),
        (
            "- id: 4711",
            "3:9: peripherals[0].id: no model of the catalogue has ID 4711; `ingestd peripherals` lists them"
        ),
        ("- id: cuff", "3:9: peripherals[0].id: expected a catalogue ID from 1 to 999999, found \"cuff\""),
        (
            "- {id: 1001, address: \"F1:F1\"}",
            "3:25: peripherals[0].address: expected a Bluetooth address such as F1:F1:F1:F1:F1:F1, found \"F1:F1\""
        ),
        (
            "- {id: 1001, subject: p}",
            "3:25: peripherals[0].subject: expected an address beside it: only a known device has a known user"
        ),
        (
            "- {id: 1001, users: {1: p}}",
            "3:23: peripherals[0].users: expected an address beside it: only a known device has a known user"
        ),
        (
            "- {id: 1001, address: \"F1:F1:F1:F1:F1:F1\", subject: p, users: {1: q}}",
            "3:65: peripherals[0].users: expected subject or users, not both"
        ),
        (
            "- {id: 1001, address: \"F1:F1:F1:F1:F1:F1\", users: {255: q}}",
            "3:54: peripherals[0].users.255: expected a user slot from 0 to 254"
        ),
        (
            "- {id: 1001, address: \"F1:F1:F1:F1:F1:F1\", subject: unassigned}",
            "3:55: peripherals[0].subject: expected somebody: unassigned is what readings of nobody are"
        ),
        (
            "- {id: 1001, address: \"F1:F1:F1:F1:F1:F1\", users: {1: \"|box\"}}",
            "3:57: peripherals[0].users.1: expected a name that does not begin with |"
        ),
        (
            "- {id: 1001, destinations: [b]}",
            "3:31: peripherals[0].destinations[0]: there is no destination \"b\""
        ),
        (
            "- {id: 1001, destinations: []}",
            "3:30: peripherals[0].destinations: expected at least one destination"
        ),
        ("- {id: 1001, pair: never}", "3:22: peripherals[0].pair: expected manual or auto, found \"never\""),
        ("- {id: 1001, clock: fix}", "3:23: peripherals[0].clock: expected observe or set, found \"fix\""),
        (
            "- {id: 1001, history: some}",
            "3:25: peripherals[0].history: expected all, none or a duration such as 90d, found \"some\""
        ),
        (
            "- {id: 1001, alias: \"17\"}",
            "3:23: peripherals[0].alias: expected a word, because numbers are catalogue IDs, found \"17\""
        ),
        (
            "- {id: 1001, passkey: \"12 34\"}",
            "3:25: peripherals[0].passkey: expected the name of a credential (letters, digits, dots, dashes, "
                + "underscores) or the absolute path of its file"
        ),
        ("- {id: 1001, adress: x}", "3:16: peripherals[0].adress: unknown key; did you mean address?"),
    ])
    func aBadPeripheralIsToldWithItsPlace(entry: String, expected: String) throws {
        let text =
            "destinations: [{name: a, type: webhook, url: \"https://a.example/\"}]\nperipherals:\n  \(entry)\n"
        #expect(try Samples.findings(text).filter { !$0.contains("warning:") } == ["c.yaml:" + expected])
    }

    @Test(arguments: [
        ("type: webhook", "3:5: destinations[0].url: expected a URL, but the key is missing"),
        (
            "type: ftp",
            "3:21: destinations[0].type: expected webhook, fhir, junction, validic, spike or mqtt, found \"ftp\""
        ),
        (
            "type: webhook, url: \"http://a.example/\"",
            "3:35: destinations[0].url: expected https://: http:// is for this machine only (localhost, 127.0.0.1, ::1)"
        ),
        (
            "type: webhook, url: \"http://127.0.0.1.a.example/\"",
            "3:35: destinations[0].url: expected https://: http:// is for this machine only (localhost, 127.0.0.1, ::1)"
        ),
        (
            "type: fhir, url: \"https://a.example/r4\", auth: digest",
            "3:62: destinations[0].auth: expected bearer or basic"
        ),
        (
            "type: mqtt, url: \"mqtt://broker\"",
            "3:32: destinations[0].url: expected mqtts://: mqtt:// is for this machine only (localhost, 127.0.0.1, ::1)"
        ),
        (
            "type: webhook, url: \"ftp://localhost\"",
            "3:35: destinations[0].url: expected a URL that begins with https://"
        ),
        (
            "type: webhook, url: \"https://u:secret@a.example\"",
            "3:35: destinations[0].url: expected a URL without user and password; use credential"
        ),
        (
            "type: junction",
            "3:5: destinations[0].user: expected the person for whom to sign in, but the key is missing"
        ),
        (
            "type: junction, user: a, auth: api-key",
            "3:5: destinations[0].credential: expected the API key, but the key is missing"
        ),
        (
            "type: junction, user: a, auth: password",
            "3:46: destinations[0].auth: expected sign-in-token or api-key, found \"password\""
        ),
        (
            "type: junction, user: a, region: mars",
            "3:48: destinations[0].region: expected us or eu, found \"mars\""
        ),
        (
            "type: junction, user: a, kinds: [weigth]",
            "3:48: destinations[0].kinds[0]: expected blood-pressure, glucose, glucose-context, body-temperature, weight, "
                + "body-composition, pulse-oximetry, heart-rate, continuous-glucose, health-observation, battery, bthome, mi-scale, mibeacon, "
                + "activity, workout, sleep, nutrition, reproductive-health or laboratory, "
                + "found \"weigth\"; did you mean weight?"
        ),
        (
            "type: junction, user: a, peripherals: [kitchn]",
            "3:54: destinations[0].peripherals[0]: \"kitchn\" is neither a catalogue ID nor an alias of the "
                + "allow-list; did you mean kitchen?"
        ),
        (
            "type: junction, user: a, peripherals: [999]",
            "3:54: destinations[0].peripherals[0]: no model of the catalogue has ID 999"
        ),
        (
            "type: junction, user: a, batch: {max_records: 0}",
            "3:61: destinations[0].batch.max_records: expected a number from 1 to 1000, found \"0\""
        ),
        (
            "type: junction, user: a, client_key: k",
            "3:52: destinations[0].client_key: expected client_certificate beside it"
        ),
        (
            "type: webhook, url: \"https://a.example\", headers: {Authorization: x}",
            "3:66: destinations[0].headers.Authorization: expected no secrets here; use credential"
        ),
        (
            "type: webhook, url: \"https://a.example\", headers: {X-A: x, x-a: y}",
            "3:74: destinations[0].headers.x-a: this header stands here twice: case does not count"
        ),
        (
            "type: webhook, url: \"https://a.example\", proxy: \"https://p.example\"",
            "3:63: destinations[0].proxy: expected a URL that begins with http:// or socks5://"
        ),
        (
            "type: webhook, url: \"https://a.example\", proxy: \"http://p.example/x\"",
            "3:63: destinations[0].proxy: expected a proxy's host and port with nothing behind them, as "
                + "http://proxy.example:3128"
        ),
        (
            "type: webhook, url: \"http://localhost\", proxy: \"http://p.example\"",
            "3:62: destinations[0].proxy: expected a proxy on this machine: http:// in url goes no further"
        ),
        (
            "type: webhook, url: \"https://a.example\", status: {every: 15m}",
            "3:64: destinations[0].status.url: expected a URL, but the key is missing"
        ),
        (
            "type: webhook, url: \"https://a.example\", status: {url: \"http://a.example\"}",
            "3:70: destinations[0].status.url: expected https://: http:// is for this machine only (localhost, "
                + "127.0.0.1, ::1)"
        ),
        (
            "type: webhook, url: \"https://a.example\", status: {url: \"https://a.example\", every: 30s}",
            "3:98: destinations[0].status.every: expected 1m to 1d, found \"30s\""
        ),
        (
            "type: webhook, url: \"https://a.example\", status: {url: \"http://localhost\"}, proxy: \"http://p.example\"",
            "3:98: destinations[0].proxy: expected a proxy on this machine: http:// in url goes no further"
        ),
        (
            "type: webhook, url: \"https://[2001:db8::1]\", proxy: \"socks5://p.example\"",
            "3:67: destinations[0].proxy: expected a host name in url, not an address: it is what the "
                + "certificate is for"
        ),
    ])
    func aBadDestinationIsToldWithItsPlace(keys: String, expected: String) throws {
        let text =
            "peripherals: [{id: 1002, alias: kitchen}]\ndestinations:\n  - {name: a, \(keys)}\n"
        let found = try Samples.findings(text).filter { !$0.contains("warning:") }
        #expect(found == ["c.yaml:" + expected])
    }
}
