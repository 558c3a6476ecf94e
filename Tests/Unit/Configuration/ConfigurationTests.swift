import FoundationEssentials
import TestSupport
import Testing

@testable import IngestConfiguration

@Suite struct ConfigurationTests {
    /// The example of the reference (docs/configuration.md).
    static let example = """
        gateway:
          id: ward-3-box-1
          time_zone: Europe/London
          state_directory: /var/lib/ingestd
          trust_clock: false
        bluetooth: {adapter: any, links: 5, scan_interval: 60ms, scan_window: 30ms}
        passive: {quiet_period: 10s, cooldown: 5s, stream_interval: 60s, stream_max: 10m}
        peripherals:
          - id: 1000
          - id: 1001
            address: "F1:F1:F1:F1:F1:F1"
            alias: kitchen cuff
            subject: patient-17
            subject_since: 2026-11-01
            history: all
            destinations: [clinic]
            require_bond: true
            pair: manual
            passkey: cuff-passkey
            key: sensor-key
            clock: observe
        queue: {max_size: 1GiB, keep_submitted: 7d}
        destinations:
          - name: clinic
            type: webhook
            url: https://clinic.example/readings
            credential: clinic-token
            batch: {max_records: 100, max_wait: 2s}
            kinds: [blood-pressure]
            peripherals: [1001]
            order: fresh
        events: {values: false}
        hooks: {ready-to-read: /etc/ingestd/beep, read: /etc/ingestd/chime}
        logging: {level: info, subsystems: {bluetooth: debug}}
        """

    @Test func everyKeyOfTheExampleHasItsValue() throws {
        let checked = try Samples.parse(Self.example)
        let configuration = checked.configuration
        #expect(
            checked.warnings.map(\.description) == [
                "c.yaml:9:9: peripherals[0].id: warning: this version cannot read Generic glucose meter: it knows "
                    + "no profile glucose",
                "c.yaml:20:10: peripherals[1].key: warning: has no effect: Generic blood pressure monitor "
                    + "broadcasts no readings",
            ])
        #expect(
            configuration.gateway
                == .init(
                    id: "ward-3-box-1", timeZone: "Europe/London", stateDirectory: "/var/lib/ingestd",
                    trustsClock: false))
        #expect(
            configuration.bluetooth
                == .init(
                    adapter: .any, links: 5, scanInterval: .milliseconds(60),
                    scanWindow: .milliseconds(30)))
        #expect(
            configuration.passive
                == .init(
                    quietPeriod: .seconds(10), cooldown: .seconds(5), streamInterval: .seconds(60),
                    streamMaximum: .seconds(600)))
        #expect(configuration.queue == .init(maximumSize: 1_073_741_824, keepSubmitted: .seconds(7 * 86_400)))
        #expect(configuration.events == .init(includesValues: false))
        #expect(configuration.hooks == .init(readyToRead: "/etc/ingestd/beep", read: "/etc/ingestd/chime"))
        #expect(configuration.logging == .init(level: .info, subsystems: [.bluetooth: .debug]))
        var clinic = DestinationSettings(
            name: "clinic", form: WebhookSettings(url: "https://clinic.example/readings"))
        clinic.credential = .named("clinic-token")
        clinic.kinds = [.bloodPressure]
        clinic.peripherals = [.model(1001)]
        #expect(configuration.destinations == [clinic])
        let catalogue = try Samples.catalogue()
        #expect(
            configuration.peripherals == [
                AllowedPeripheral(model: try #require(catalogue[1000])),
                AllowedPeripheral(
                    model: try #require(catalogue[1001]), address: BluetoothAddress(value: 0xF1F1_F1F1_F1F1),
                    alias: "kitchen cuff", subject: "patient-17", subjectSince: "2026-11-01",
                    destinations: ["clinic"], requiresBond: true, passkey: "cuff-passkey", key: "sensor-key"),
            ])
    }

    @Test func furtherKeysOfDestinationsAreCarried() throws {
        let text = """
            peripherals: [{id: 1001, address: "00:11:22:33:44:55", users: {1: p, 2: q}, history: 90d}]
            destinations:
              - {name: a, type: webhook, url: "http://[::1]:80/x", format: ndjson, gzip: true, headers: {X-Ward: "3"},
                 signing_key: s, ca_file: /etc/ca.pem, client_certificate: c, client_key: /run/closed-secret,
                 proxy: "http://127.0.0.1:3128", order: strict, redact: [raw, subject],
                 status: {url: "http://localhost/status", every: 2h}}
              - {name: b, type: fhir, url: "https://fhir.example/r4", patient_system: "urn:oid:1.2.3", auth: basic}
              - {name: c, type: junction, user: p, region: eu, environment: sandbox}
              - {name: d, type: validic, api: v1, organization: o, user: p, credential: t, kinds: [glucose, battery]}
              - {name: e, type: spike, url: "https://x.example/cb/a", credential: s,
                 main_callback_url: "https://x.example/cb"}
              - {name: f, type: mqtt, url: "mqtts://broker.example", topic: "wards/{subject}",
                 status_topic: "status/{gateway}", user: u, redact: [address]}
            """
        let checked = try Samples.parse(text)
        // A blood pressure monitor alone feeds them all.
        #expect(
            checked.warnings.map { "\($0.line ?? 0) \($0.message)" } == [
                "9 no peripheral that feeds d gives records of a kind that it takes",
                "10 no peripheral that feeds e gives records of a kind that it takes",
            ])
        let all = checked.configuration.destinations
        #expect(all.map { $0.type.typeName } == ["webhook", "fhir", "junction", "validic", "spike", "mqtt"])
        let webhook = try #require(all[0].form as? WebhookSettings)
        #expect(webhook.format == .ndjson && webhook.usesGzip && all[0].order == .strict)
        #expect(webhook.headers == [.init(name: "X-Ward", value: "3")])
        #expect(webhook.redacted == [.raw, .subject])
        #expect(webhook.status == StatusSettings(url: "http://localhost/status", interval: .seconds(7_200)))
        #expect(webhook.signingKey == .named("s") && all[0].transport.clientCertificate == .named("c"))
        #expect(all[0].transport.clientKey == .path("/run/closed-secret"))
        #expect(all[0].transport.caFile == "/etc/ca.pem")
        #expect(all[0].transport.proxy == ProxyAddress(url: "http://127.0.0.1:3128"))
        #expect(all[0].isLoopback && !all[1].isLoopback)
        let fhir = try #require(all[1].form as? FHIRSettings)
        #expect(fhir.patientSystem == "urn:oid:1.2.3" && fhir.authentication == .basic)
        let junction = try #require(all[2].form as? JunctionSettings)
        #expect(junction.api == "https://api.sandbox.eu.junction.com")
        #expect(junction.authentication == .signInToken && all[2].form.person == "p")
        let validic = try #require(all[3].form as? ValidicSettings)
        #expect(validic.api == .v1(organization: "o", userID: "p") && validic.person == "p")
        #expect(all[3].deliveredKinds == [.glucose])
        let mqtt = try #require(all[5].form as? MQTTSettings)
        #expect(try mqtt.topic == TopicTemplate("wards/{subject}") && mqtt.user == "u")
        #expect(try mqtt.statusTopic == TopicTemplate("status/{gateway}"))
        let entry = try #require(checked.configuration.peripherals.first)
        #expect(entry.users == [1: "p", 2: "q"] && entry.history == .within(.seconds(90 * 86_400)))
    }

    @Test func anEmptyFileHasTheDefaults() throws {
        let checked = try Samples.parse("")
        let configuration = checked.configuration
        #expect(configuration.gateway.id == "gateway-test" && configuration.gateway.timeZone == nil)
        #expect(
            configuration.gateway.stateDirectory == "/var/lib/ingestd" && !configuration.gateway.trustsClock)
        #expect(configuration.bluetooth == .init(adapter: .any, scanInterval: nil, scanWindow: nil))
        #expect(
            configuration.passive.quietPeriod == .seconds(10) && configuration.passive.cooldown == .seconds(5)
        )
        #expect(configuration.queue.maximumSize == 1 << 30)
        #expect(configuration.logging == .init(level: .info, subsystems: [:]))
        #expect(
            checked.warnings.map(\.description) == [
                "c.yaml:1:1: peripherals: warning: the allow-list is empty, so nothing is read; `ingestd "
                    + "peripherals` lists the models to add",
                "c.yaml:1:1: destinations: warning: there is no destination, so readings are kept and delivered to "
                    + "nobody",
            ])
    }

    @Test func theEnvironmentNamesTheStateDirectory() throws {
        var host = Samples.host
        host.environment["STATE_DIRECTORY"] = "/srv/state:/srv/other"
        #expect(try Samples.parse("", host: host).configuration.gateway.stateDirectory == "/srv/state")
    }

    @Test func aMachineWithoutIDNeedsAName() throws {
        var host = Samples.host
        host.gatewayID = nil
        let found = try Samples.findings("peripherals: []", host: host)
        #expect(
            found.contains(
                "c.yaml:1:1: gateway.id: expected a name, because this machine has no /etc/machine-id to derive "
                    + "one from"))
        #expect(try Samples.parse("gateway: {id: x}", host: host).configuration.gateway.id == "x")
    }

    @Test func theGatewaysNameDoesNotDiscloseTheMachineID() throws {
        let id = "0123456789abcdef0123456789abcdef"
        let name = try #require(GatewayIdentity.name(machineID: id + "\n"))
        #expect(!name.contains(id.prefix(8)))
        #expect(GatewayIdentity.name(machineID: "uninitialized\n") == nil)
    }

    @Test func allErrorsAreToldAtOnce() throws {
        let text = """
            gateway: {id: ""}
            peripherals:
              - {id: 77, address: x, subject: p}
              - {id: 1002, address: "C0:00:00:00:00:01", alias: k}
              - {id: 1001, address: "c0:00:00:00:00:01", alias: k}
            destinations:
              - {name: a, type: webhook, url: "https://a.example"}
              - {name: a, type: webhook, url: "https://b.example"}
            """
        #expect(
            try Samples.findings(text) == [
                "c.yaml:1:15: gateway.id: expected a name of 1 to 64 letters, digits, dots, dashes or underscores, "
                    + "found \"\"",
                "c.yaml:3:10: peripherals[0].id: no model of the catalogue has ID 77; `ingestd peripherals` lists them",
                "c.yaml:3:23: peripherals[0].address: expected a Bluetooth address such as F1:F1:F1:F1:F1:F1, found \"x\"",
                "c.yaml:5:25: peripherals[2].address: C0:00:00:00:00:01 is already the address of peripherals[1]",
                "c.yaml:5:53: peripherals[2].alias: \"k\" is already the alias of peripherals[1]",
                "c.yaml:8:12: destinations[1].name: a is already the name of destinations[0]",
            ])
    }

    @Test(arguments: [
        (
            "peripherals: [{id: 1002}, {id: 1002}]",
            "1:27: peripherals[1]: warning: has no effect: peripherals[0] already allows any device of model 1002"
        ),
        (
            "peripherals: [{id: 1000}, {id: 2061}]",
            "1:27: peripherals[1]: warning: has no effect: peripherals[0] stands before it and recognises every "
                + "device of model 2061 as one of model 1000; put the special one first"
        ),
        (
            "peripherals: [{id: 32}]",
            "1:20: peripherals[0].id: warning: AgaMatrix Jazz Wireless 2 cannot be read: see `ingestd peripherals 32`"
        ),
        (
            "peripherals: [{id: 1009}, {id: 2093}]",
            "1:27: peripherals[1]: warning: has no effect: peripherals[0] stands before it and recognises every "
                + "device of model 2093 as one of model 1009; put the special one first"
        ),
        (
            "peripherals: [{id: 1002, key: /run/open-secret}]",
            "1:31: peripherals[0].key: warning: /run/open-secret is readable for everybody; chmod o-r it"
        ),
        (
            "peripherals: [{id: 1002, passkey: /run/no-secret}]",
            "1:35: peripherals[0].passkey: warning: /run/no-secret: there is no such file, or you may not see it"
        ),
        (
            "peripherals: [{id: 1008, require_bond: true}]",
            "1:40: peripherals[0].require_bond: warning: has no effect: BTHome sensor is read from what it "
                + "broadcasts, without a link"
        ),
        (
            "peripherals: [{id: 1002, key: k}]",
            "1:31: peripherals[0].key: warning: has no effect: Generic thermometer broadcasts no readings"
        ),
        (
            "peripherals: [{id: 1002, pair: auto}]",
            "1:32: peripherals[0].pair: warning: has no effect: Generic thermometer needs no bond; add "
                + "`require_bond: true` to have one"
        ),
        (
            "peripherals: [{id: 1002, subject_since: 2024-02-29}]",
            "1:41: peripherals[0].subject_since: warning: has no effect without subject or users"
        ),
        (
            "peripherals: [{id: 1001, destinations: [a]}, {id: 1002, destinations: [c]}]",
            "2:60: destinations[1]: warning: no peripheral of the allow-list feeds b"
        ),
        (
            "peripherals: [{id: 1001, destinations: [a]}, {id: 1002, destinations: [weights]}]",
            "2:60: destinations[1]: warning: no peripheral that feeds weights gives records of a kind that it takes"
        ),
    ])
    func whatIsMerelySuspiciousIsAWarning(peripherals: String, expected: String) throws {
        let urls = ["a", "b", "c"].prefix(peripherals.contains("[c]") ? 3 : 1)
        var list = urls.map { "{name: \($0), type: webhook, url: \"https://x\"}" }.joined(separator: ", ")
        if peripherals.contains("[weights]") {
            list += ", {name: weights, type: webhook, url: \"https://x\", kinds: [weight]}"
        }
        let warnings = try Samples.parse("\(peripherals)\ndestinations: [\(list)]").warnings
        #expect(warnings.map(\.description).contains("c.yaml:" + expected))
    }

    /// A scale lists the service, and a Mi scale sends its data: the entry for the one leaves the other.
    @Test func anEntryForBroadcastsLeavesDevicesThatAreConnectedTo() throws {
        let text = """
            peripherals: [{id: 1009}, {id: 1003}, {id: 1004}]
            destinations: [{name: a, type: webhook, url: "https://x"}]
            """
        let found = try Samples.findings(text)
        #expect(!found.contains { $0.contains("has no effect") }, "\(found)")
    }

    @Test func noAddressIsAskedForWhereItWouldNotHelp() throws {
        let text = """
            peripherals: [{id: 32}]
            destinations: [{name: a, type: webhook, url: "https://x"}]
            """
        #expect(try Samples.findings(text).count == 1)
    }

    @Test(arguments: [
        "{id: 1002, pair: auto, require_bond: true}", "{id: 2001, pair: auto}", "{id: 1002, pair: manual}",
        "{id: 1008, key: k}",
    ])
    func whatHasAnEffectIsNoWarning(entry: String) throws {
        let text = "peripherals: [\(entry)]\ndestinations: [{name: a, type: webhook, url: \"https://x\"}]"
        let found = try Samples.findings(text)
        #expect(!found.contains { $0.contains("has no effect") }, "\(found)")
    }

    @Test func aKeyOfAnotherTypeIsAWarning() throws {
        let text = """
            peripherals: [{id: 1002, address: "00:11:22:33:44:55", subject: u}]
            destinations: [{name: a, type: validic, topic: t, user: u, credential: c}]
            """
        #expect(
            try Samples.findings(text) == [
                "c.yaml:2:48: destinations[0].topic: warning: has no effect for type validic"
            ])
    }

    @Test(arguments: [
        "gzip: maybe", "headers: {cookie: a}", "format: xml", "signing_key: a/b", "patient_system: x",
        "region: asia", "environment: test", "organization: [o]", "application_id: [a]",
        "main_callback_url: x", "topic: \"a/#\"", "status_topic: \"{kind}\"", "auth: [a]", "user: [u]",
        "batch: {max_records: 0}", "proxy: x", "redact: [name]", "redact: []",
        "status: x", "status: {url: x}", "protocol: 4",
    ])
    func aWrongValueIsAnErrorInADestinationOfAnyType(entry: String) throws {
        let key = try #require(entry.split(separator: ":").first)
        let entries = ["name: a", "url: \"https://x\"", "credential: c", entry]
        for type in ["webhook", "fhir", "junction", "validic", "spike", "mqtt", "none"] {
            let text = "destinations: [{\((entries + ["type: \(type)"]).joined(separator: ", "))}]"
            let found = try Samples.findings(text).filter {
                $0.contains("destinations[0].\(key)") && !$0.contains("key is missing")
            }
            #expect(found.contains { !$0.contains(": warning: ") }, "\(type)")
            #expect(found.count { $0.contains(": warning: ") } <= 1, "\(found)")
        }
    }

    @Test(arguments: ["api: v3", "api: [a]", "user_id: [u]", "auth: digest"])
    func theseValuesAreTakenInADestinationOfAnotherType(entry: String) throws {
        let text = "destinations: [{name: a, type: webhook, url: \"https://x\", \(entry)}]"
        let key = try #require(entry.split(separator: ":").first)
        let found = try Samples.findings(text).filter { $0.contains("[0].\(key)") }
        #expect(found.map { $0.contains("has no effect for type webhook") } == [true], "\(found)")
    }

    @Test(arguments: [
        ("subject: p", 0), ("users: {1: q, 2: p}", 0), ("subject: q", 1), ("users: {1: q}", 1),
        ("subject: q, destinations: [b]", 0),
    ])
    func aUserWhomNobodyOfTheAllowListIsGivesAWarning(subject: String, count: Int) throws {
        let text = """
            peripherals: [{id: 1003, address: "00:11:22:33:44:55", \(subject)}, {id: 1001, destinations: [b]}]
            destinations:
              - {name: a, type: validic, user: p, credential: c}
              - {name: b, type: webhook, url: "https://x"}
            """
        let found = try Samples.findings(text).filter { $0.contains("has its user as a subject") }
        #expect(found.count == count)
        #expect(
            found.allSatisfy {
                $0.hasPrefix("c.yaml:3:5: destinations[0]: warning: no peripheral that feeds a")
            })
    }

    @Test func aDestinationWithASessionNamesThePersonAndTheToken() throws {
        let found = try Samples.findings("destinations: [{name: a, type: validic}]")
        #expect(found.contains { $0.contains("destinations[0].user: expected the person") })
        #expect(found.contains { $0.contains("destinations[0].credential: expected the person's") })
    }

    @Test func validicsFirstAPIHasKeysOfItsOwn() throws {
        func findings(_ keys: String) throws -> [String] {
            try Samples.findings(
                "peripherals: [{id: 1002, address: \"00:11:22:33:44:55\", subject: u}]\n"
                    + "destinations: [{name: a, type: validic, user: u, credential: c\(keys)}]")
        }
        #expect(try findings(", api: v1, organization: o, user_id: i").isEmpty)
        #expect(
            try findings(", api: v1") == [
                "c.yaml:2:16: destinations[0].organization: expected the id of the organization, but the key is "
                    + "missing"
            ])
        #expect(
            try findings(", api: v1, organization: o, application_id: i") == [
                "c.yaml:2:107: destinations[0].application_id: warning: has no effect with api: v1"
            ])
        #expect(
            try findings(", organization: o, user_id: i") == [
                "c.yaml:2:79: destinations[0].organization: warning: has no effect with api: inform",
                "c.yaml:2:91: destinations[0].user_id: warning: has no effect with api: inform",
            ])
        #expect(
            try findings(", api: v2") == [
                "c.yaml:2:70: destinations[0].api: expected inform or v1, found \"v2\"; did you mean v1?"
            ])
        let text = """
            destinations:
              - {name: a, type: validic, api: v1, organization: o, user: u, credential: c}
              - {name: b, type: webhook, api: v1, url: "https://x"}
            """
        let destinations = try Samples.parse(text).configuration.destinations
        let validic = try #require(destinations[0].form as? ValidicSettings)
        #expect(validic.api == .v1(organization: "o", userID: "u"))
        #expect(validic.kinds?.contains(.bodyComposition) == true)
        #expect(destinations[0].deliveredKinds?.contains(.heartRate) == false)
        #expect(
            try Samples.findings(text).contains {
                $0.contains("[1].api: warning: has no effect for type webhook")
            })
    }

    @Test func anAPIKeyIsForTrials() throws {
        func findings(_ keys: String) throws -> [String] {
            try Samples.findings(
                "peripherals: [{id: 1002, address: \"00:11:22:33:44:55\", subject: u}]\n"
                    + "destinations: [{name: a, type: junction, user: u\(keys)}]")
        }
        #expect(try findings("").isEmpty)
        #expect(
            try findings(", auth: api-key, credential: c") == [
                "c.yaml:2:57: destinations[0].auth: warning: an API key opens every user of the team to who has this "
                    + "box: for trials; sign-in-token opens one"
            ])
        #expect(
            try findings(", credential: c") == [
                "c.yaml:2:63: destinations[0].credential: warning: has no effect with auth: sign-in-token; auth: "
                    + "api-key uses it"
            ])
        #expect(
            try findings(", gzip: true") == [
                "c.yaml:2:57: destinations[0].gzip: warning: has no effect for type junction"
            ])
    }

    @Test func aSecretInTheWrongPlaceIsNotRepeated() throws {
        let found = try Samples.findings(
            "destinations: [{name: a, type: webhook, url: \"https://tok:s3cret@x\", credential: \"s3cret value\"}]"
        )
        #expect(found.filter { !$0.contains("warning:") }.count == 2)
        #expect(!found.contains { $0.contains("s3cret") })
    }

    @Test func aTooLargeOrTooDeepFileIsRefused() throws {
        let large = String(repeating: "#\n", count: YAMLDocument.maximumSize)
        #expect(try Samples.findings(large) == ["c.yaml: expected at most 1 MiB"])
        let deep = try Samples.findings(String(repeating: "[", count: 100_000))
        #expect(deep.count == 1 && deep[0].contains("not valid YAML"))
    }

    @Test func aMissingFileIsToldWithWhatToDo() throws {
        let check = ConfigurationCheck(
            path: "/nowhere/ingestd.yaml", installedCatalogue: "/nowhere/p.yaml", readableProfiles: [],
            host: Samples.host)
        #expect(check.configuration == nil)
        #expect(
            check.diagnostics.map(\.description) == [
                "/nowhere/ingestd.yaml: there is no such file; name another with --config, or put the shipped "
                    + "ingestd.yaml there"
            ])
        #expect(
            check.json
                == #"{"diagnostics":[{"message":"there is no such file; name another with --config, or put the shipped ingestd.yaml there","path":"/nowhere/ingestd.yaml","severity":"error"}],"ok":false}"#
        )
    }

    @Test(arguments: [("ingestd.yaml", 0, 0, 2), ("demo.yaml", 4, 1, 0)])
    func aShippedFileIsGood(name: String, peripherals: Int, destinations: Int, warnings: Int) throws {
        let check = ConfigurationCheck(
            path: Repository.root + "/config/" + name, installedCatalogue: "/nowhere/p.yaml",
            readableProfiles: Profiles.names, host: Samples.host)
        #expect(check.configuration?.peripherals.count == peripherals)
        #expect(check.configuration?.destinations.count == destinations)
        #expect(check.diagnostics.count == warnings)
    }

    @Test func aSpecialModelBeforeAGenericOneIsNotSuspicious() throws {
        let found = try Samples.findings(
            """
            peripherals:
              - {id: 2020}
              - {id: 2040, clock: set}
              - {id: 1001}
              - {id: 2021, address: "F1:F1:F1:F1:F1:F1"}
            destinations: [{name: a, type: webhook, url: "https://x"}]
            """)
        #expect(found == [])
    }

    @Test func aModelThatExpectsItsClockToBeSetIsToldOf() throws {
        let found = try Samples.findings(
            """
            peripherals:
              - {id: 2040}
              - {id: 2040, address: "F1:F1:F1:F1:F1:F1", clock: set}
            destinations: [{name: a, type: webhook, url: "https://x"}]
            """)
        #expect(
            found == [
                "c.yaml:2:10: peripherals[0].id: warning: A&D UA-651BLE expects its clock to be set; "
                    + "add `clock: set`, or its times may be wrong"
            ])
    }

    @Test func theReferenceHasARowForEachKey() throws {
        for (file, sections) in [
            ("configuration.md", ConfigurationKeys.all), ("peripherals.md", CatalogueKeys.all),
        ] {
            let lines = try Set(
                YAMLDocument.contents(of: Repository.root + "/docs/" + file).split(separator: "\n"))
            for section in sections {
                for key in section.keys {
                    let row = "| `\(key.name)` | \(key.type) | \(key.defaultValue) | \(key.meaning) |"
                    #expect(lines.contains(Substring(row)), "\(file), \(section.path): \(row)")
                }
            }
        }
    }

    @Test(
        arguments: [
            ("passive: {cooldown: 7s}", []), ("hooks: {read: /etc/ingestd/beep}", []),
            ("queue: {max_size: 2GiB}", ["queue"]),
            ("gateway: {id: other}\nbluetooth: {adapter: hci1}", ["gateway", "bluetooth"]),
            ("destinations: [{name: a, type: webhook, url: \"https://a.example/\", kinds: [glucose]}]", []),
            ("destinations: [{name: a, type: webhook, url: \"https://b.example/\"}]", ["destinations"]),
        ] as [(String, [String])])
    func whatAReloadCannotTakeOverIsNamed(_ change: String, _ expected: [String]) throws {
        let before = "destinations: [{name: a, type: webhook, url: \"https://a.example/\"}]"
        let after = change.contains("destinations:") ? change : before + "\n" + change
        let old = try Samples.parse(before).configuration
        #expect(old.sectionsForRestart(to: try Samples.parse(after).configuration) == expected)
    }

    @Test func scanTimesAreInUnitsOf625Microseconds() {
        #expect(Configuration.Bluetooth.scanUnits(.milliseconds(60)) == 0x60)
        #expect(Configuration.Bluetooth.scanUnits(.milliseconds(30)) == 0x30)
        #expect(Configuration.Bluetooth.scanUnits(.microseconds(2_500)) == 4)
        #expect(Configuration.Bluetooth.scanUnits(.milliseconds(10_240)) == 0x4000)
    }
}
