import FoundationEssentials
import Synchronization
import Testing

@testable import IngestBluetooth
@testable import IngestDelivery
@testable import IngestPeripherals
@testable import IngestRecords

/// What Home Assistant is told; Tests/System/MQTT has it discover the sensors.
struct HomeAssistantTests {
    private final class Broker: MessagePublisher {
        private let asked = Mutex<[[BrokerMessage]]>([])
        private let answers: Mutex<[PublishOutcome]>

        init(_ answers: PublishOutcome...) { self.answers = Mutex(answers) }

        var requests: [[BrokerMessage]] { asked.withLock { $0 } }

        func publish(_ messages: [BrokerMessage], as login: BrokerLogin) async -> PublishOutcome {
            asked.withLock { $0.append(messages) }
            return answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                ?? .answered(messages.map { _ in 0 }, reply: nil)
        }

        func shutdown() {}
    }

    private static let scale = "F1:F1:F1:F1:F1:F1"

    private static func record(
        address: String? = scale, stage: String = "live", kind: String = "weight", subject: String? = nil,
        measurements: String = #"[{"type":"weight","value":70.10,"unit":"kg"}]"#
    ) -> String {
        let device = address.map {
            #"{"peripheral_id":1003,"address":"\#($0)","alias":"bathroom","manufacturer":"ACME","firmware":"1.0"}"#
        }
        return #"{"version":1,"id":"a","kind":"\#(kind)","stage":"\#(stage)","#
            + #""time":{"value":"2026-11-20T09:15:00+00:00","source":"device","received":"2026-11-20T09:15:04Z"},"#
            + #""measurements":\#(measurements)"# + (subject.map { #","subject":"\#($0)""# } ?? "")
            + #","device":\#(device ?? #"{"manufacturer":"ACME"}"#),"gateway":"ward.3"}"#
    }

    private static func destination(
        _ broker: Broker, topic: TopicTemplate = .standard, status: String? = "status/box",
        redacted: Set<RedactedField> = []
    ) -> (mqtt: MQTT, homeAssistant: HomeAssistant) {
        let homeAssistant = HomeAssistant(
            gateway: "ward.3", availabilityTopic: status, catalogue: Catalogue(models: []),
            hidesSubjects: redacted.contains(.subject))
        return (
            MQTT(topic: topic, redacted: redacted, homeAssistant: homeAssistant, publisher: broker) {
                BrokerLogin()
            },
            homeAssistant
        )
    }

    private static func batch(_ records: String...) -> OutgoingBatch {
        OutgoingBatch(gateway: "ward.3", records: records)
    }

    @Test func aSensorIsAnnouncedBeforeItsFirstRecordAndOnce() async throws {
        let broker = Broker()
        let (mqtt, _) = Self.destination(broker)
        for _ in 0..<2 { #expect(await mqtt.deliver(Self.batch(Self.record())) == .taken()) }
        #expect(broker.requests.map(\.count) == [1, 1, 1])
        let message = broker.requests[0][0]
        #expect(message.isRetained && !broker.requests[1][0].isRetained)
        #expect(message.topic == "homeassistant/sensor/ingestd__ward_2E3/F1F1F1F1F1F1__weight__weight/config")
        let template =
            #"{% if value_json.kind == 'weight' and value_json.stage == 'live' and "#
            + #"(value_json.device | default({})).address == 'F1:F1:F1:F1:F1:F1' %}{% set found = "#
            + #"value_json.measurements | default([]) | selectattr('type', 'eq', 'weight') | "#
            + #"selectattr('unit', 'eq', 'kg') | map(attribute='value') | list %}"#
            + #"{% if found %}{{ found | last }}{% endif %}{% endif %}"#
        let expected =
            #"{"name":"Weight","unique_id":"ingestd__ward_2E3__F1F1F1F1F1F1__weight__weight","#
            + #""state_topic":"ingestd/ward.3/weight","value_template":"\#(template)","#
            + #""state_class":"measurement","force_update":true,"unit_of_measurement":"kg","#
            + #""device_class":"weight","availability_topic":"status/box","#
            + #""availability_template":"{{ value_json.status }}","#
            + #""device":{"identifiers":["ingestd_F1:F1:F1:F1:F1:F1"],"#
            + #""connections":[["bluetooth","F1:F1:F1:F1:F1:F1"]],"name":"bathroom","manufacturer":"ACME","#
            + #""sw_version":"1.0"},"origin":{"name":"ingestd"}}"#
        #expect(String(decoding: message.payload, as: UTF8.self) == expected)
    }

    @Test func eachDeviceKindTypeAndPersonHasASensor() async {
        let broker = Broker()
        let (mqtt, _) = Self.destination(broker)
        let fat = #"[{"type":"body-fat","value":20,"unit":"%"},{"type":"weight","value":70,"unit":"kg"}]"#
        _ = await mqtt.deliver(
            Self.batch(
                Self.record(), Self.record(address: "F1:F1:F1:F1:F1:F2"), Self.record(subject: "patient-2"),
                Self.record(kind: "body-composition", measurements: fat)))
        #expect(Set(broker.requests[0].map(\.topic)).count == 5 && broker.requests[0].count == 5)
    }

    @Test func aSensorOfAPersonIsNotAnnouncedWhereRecordsNameNobody() async {
        let broker = Broker()
        let (mqtt, _) = Self.destination(broker, redacted: [.subject])
        _ = await mqtt.deliver(Self.batch(Self.record(subject: "patient-2")))
        #expect(!String(decoding: broker.requests[0][0].payload, as: UTF8.self).contains("patient-2"))
    }

    @Test(arguments: [
        Self.record(stage: "historical"), Self.record(address: nil),
        Self.record(kind: "undecoded", measurements: "[]"),
    ])
    func whatIsNoLiveValueOfADeviceIsNotAnnounced(_ record: String) async {
        let broker = Broker()
        let (mqtt, _) = Self.destination(broker)
        _ = await mqtt.deliver(Self.batch(record))
        #expect(broker.requests.count == 1 && broker.requests[0].allSatisfy { !$0.isRetained })
    }

    @Test func noPersonsNameEndsATextOfTheTemplate() async {
        let broker = Broker()
        let (mqtt, _) = Self.destination(broker)
        _ = await mqtt.deliver(Self.batch(Self.record(subject: "' }}{{ 1 %} é")))
        let text = String(decoding: broker.requests[0][0].payload, as: UTF8.self)
        #expect(
            text.contains(
                #"value_json.subject == '\\U00000027 \\U0000007d\\U0000007d\\U0000007b\\U0000007b 1 %\\U0000007d \\U000000e9'"#
            ), "\(text)")
    }

    @Test func anotherUnitOrTopicIsAnnouncedAnew() async throws {
        let broker = Broker()
        let (mqtt, _) = Self.destination(broker, topic: try TopicTemplate("r/{subject}"))
        let pounds = #"[{"type":"weight","value":155,"unit":"[lb_av]"}]"#
        _ = await mqtt.deliver(Self.batch(Self.record()))
        _ = await mqtt.deliver(Self.batch(Self.record(measurements: pounds)))
        _ = await mqtt.deliver(Self.batch(Self.record(subject: "p")))
        #expect(broker.requests.map { $0[0].isRetained } == [true, false, true, false, true, false])
    }

    // MARK: Reloads

    private static func entry(_ address: String?, model: Int = 1003) throws -> AllowedPeripheral {
        AllowedPeripheral(
            model: PeripheralModel(
                id: model, name: "Scale", type: "scale", manufacturer: nil, model: nil,
                profile: "weight-scale",
                recognised: [], bonding: .none,
                instructions: .init(pairing: "", beforeMeasurement: "", duringMeasurement: ""),
                readyBeforeMeasurement: false, rearm: nil, quirks: []),
            address: try address.map { try #require(BluetoothAddress($0)) })
    }

    @Test func aReloadAnnouncesAgain() async throws {
        let broker = Broker()
        let (mqtt, homeAssistant) = Self.destination(broker)
        _ = await mqtt.deliver(Self.batch(Self.record()))
        homeAssistant.allow([try Self.entry(Self.scale)])
        _ = await mqtt.deliver(Self.batch(Self.record()))
        #expect(broker.requests.map { $0[0].isRetained } == [true, false, true, false])
        #expect(broker.requests[0] == broker.requests[2])
    }

    @Test func aDeviceThatIsNotAllowedAnyMoreIsTakenBack() async throws {
        let broker = Broker()
        let (mqtt, homeAssistant) = Self.destination(broker)
        let other = Self.record(address: "F1:F1:F1:F1:F1:F2")
        _ = await mqtt.deliver(Self.batch(Self.record(), other))
        homeAssistant.allow([try Self.entry("F1:F1:F1:F1:F1:F2")])
        _ = await mqtt.deliver(Self.batch(other))
        let told = broker.requests[2]
        #expect(told.map(\.payload.isEmpty) == [true, false] && told.allSatisfy(\.isRetained))
        #expect(told[0].topic == broker.requests[0][0].topic)
        _ = await mqtt.deliver(Self.batch(other))
        #expect(broker.requests.count == 5)
    }

    @Test func anEntryForAModelKeepsItsDevices() async throws {
        let broker = Broker()
        let (mqtt, homeAssistant) = Self.destination(broker)
        _ = await mqtt.deliver(Self.batch(Self.record()))
        homeAssistant.allow([try Self.entry(nil)])
        #expect(homeAssistant.messages(before: []) == nil)
        homeAssistant.allow([try Self.entry(nil, model: 1001)])
        #expect(homeAssistant.messages(before: [])?.all.map(\.payload) == [[]])
    }

    // MARK: Failures

    @Test func whatTheBrokerDoesNotAllowKeepsNoRecordBackAndIsNotToldAgain() async {
        let broker = Broker(.answered([0x87], reply: nil))
        let (mqtt, _) = Self.destination(broker)
        for _ in 0..<2 { #expect(await mqtt.deliver(Self.batch(Self.record())) == .taken()) }
        #expect(broker.requests.count == 3)
    }

    @Test func withoutAConnectionItIsToldWithTheNextRecord() async {
        let broker = Broker(.failed("no connection within 10 s"))
        let (mqtt, _) = Self.destination(broker)
        #expect(
            await mqtt.deliver(Self.batch(Self.record()))
                == .unavailable(httpStatus: nil, error: "no connection within 10 s", retryAfter: nil))
        #expect(await mqtt.deliver(Self.batch(Self.record())) == .taken())
        #expect(broker.requests.map { $0[0].isRetained } == [true, true, false])
    }

    @Test func aBrokerThatClosesTheConnectionAtItIsLeftAlone() async {
        let broker = Broker(
            .closed(acknowledged: 0), .answered([0], reply: nil), .closed(acknowledged: 0),
            .answered([0], reply: nil), .closed(acknowledged: 0), .answered([0], reply: nil),
            .closed(acknowledged: 0), .answered([0], reply: nil), .closed(acknowledged: 0))
        let (mqtt, _) = Self.destination(broker)
        for _ in 0..<8 { #expect(await mqtt.deliver(Self.batch(Self.record())) == .taken()) }
        #expect(broker.requests.count { $0[0].isRetained } == HomeAssistant.mostFailures)
    }

    @Test func sensorsAreBounded() async {
        let broker = Broker()
        let (mqtt, _) = Self.destination(broker)
        for number in 0..<20 {
            let values = (0..<300).map { #"{"type":"t\#(number)-\#($0)","value":1,"unit":"1"}"# }
            _ = await mqtt.deliver(
                Self.batch(Self.record(measurements: "[\(values.joined(separator: ","))]")))
        }
        let announced = broker.requests.flatMap(\.self).filter(\.isRetained)
        #expect(announced.count == HomeAssistant.mostSensors)
        #expect(broker.requests.allSatisfy { $0.count <= HomeAssistant.mostMessages })
    }

    @Test(
        arguments: [
            ("Cel", "body-temperature", "°C", "temperature"),
            ("[degF]", "body-temperature", "°F", "temperature"),
            ("mm[Hg]", "systolic", "mmHg", "pressure"), ("/min", "pulse-rate", "bpm", nil),
            ("/min", "heart-rate", "bpm", nil), ("/min", "respiration", "/min", nil),
            ("%", "battery", "%", "battery"),
            ("%", "spo2", "%", nil), ("1", "steps", nil, nil), ("mg/dL", "glucose", "mg/dL", nil),
            ("Ohm", "impedance", "Ω", nil),
        ] as [(String, String, String?, String?)])
    func aUnitIsWrittenAsHomeAssistantDoes(
        _ unit: String, _ type: String, _ shown: String?, _ deviceClass: String?
    ) {
        let found = HomeAssistantUnit(unit: unit, type: type)
        #expect(found.unit == shown && found.deviceClass == deviceClass)
    }
}
