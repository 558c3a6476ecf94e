import IngestPeripherals
import IngestRecords
import Synchronization

/// Has Home Assistant show a sensor for each measured value of each device, by the discovery messages of its MQTT
/// integration (https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery), which the broker keeps. A sensor is
/// announced before the first record that it shows. docs/destinations/mqtt.md says what it shows.
package final class HomeAssistant: Sendable {
    fileprivate struct Sensor: Hashable {
        let address: String
        let kind: RecordKind
        let type: String
        let subject: String?
    }

    /// What was announced.
    fileprivate struct Announced: Equatable {
        let unit: String
        let stateTopic: String
        let peripheralID: Int?
        /// The configuration was read again since, and names may be others.
        var isOutdated = false
    }

    private struct Standing {
        var sensors: [Sensor: Announced] = [:]
        /// Of sensors whose devices are not allowed any more, and which the broker still keeps.
        var removed: Set<String> = []
        /// Times in a row that the broker took none.
        var failures = 0
    }

    /// What the broker is to keep.
    struct Messages: Sendable {
        fileprivate let sensors: [Sensor: Announced]
        fileprivate let removed: Set<String>
        let all: [BrokerMessage]
    }

    /// All sensors together.
    static let mostSensors = 4096
    /// At a time: fewer than the broker's connection remembers the answers of.
    static let mostMessages = 500
    /// Then nothing is announced until the configuration is read again: records go out all the same.
    static let mostFailures = 5

    private let gateway: String
    private let availabilityTopic: String?
    private let catalogue: Catalogue
    private let hidesSubjects: Bool
    private let standing = Mutex(Standing())

    /// - Parameters:
    ///   - availabilityTopic: where the broker keeps whether the gateway is connected.
    ///   - hidesSubjects: whether records do not say whom they belong to.
    init(gateway: String, availabilityTopic: String?, catalogue: Catalogue, hidesSubjects: Bool) {
        self.gateway = gateway
        self.availabilityTopic = availabilityTopic
        self.catalogue = catalogue
        self.hidesSubjects = hidesSubjects
    }

    /// What is to be announced before these records, and taken back; nil if nothing is.
    func messages(before records: [(content: RecordContent, topic: String)]) -> Messages? {
        standing.withLock { standing in
            guard standing.failures < Self.mostFailures else { return nil }
            var fresh: [Sensor: Announced] = [:]
            let removed = standing.removed.sorted().prefix(Self.mostMessages).map {
                BrokerMessage(topic: $0, payload: [], isRetained: true)
            }
            var all = Array(removed)
            // What a device had stored is not how it is now, and what was entered or imported is of no device.
            for (record, topic) in records where record.stage == .live && !record.address.isEmpty {
                for value in record.values {
                    let sensor = Sensor(
                        address: record.address, kind: record.kind, type: value.type,
                        subject: hidesSubjects ? nil : record.subject)
                    let announced = Announced(
                        unit: value.unit, stateTopic: topic, peripheralID: record.peripheralID)
                    guard (fresh[sensor] ?? standing.sensors[sensor]) != announced else { continue }
                    let count = standing.sensors.count + fresh.count
                    guard all.count < Self.mostMessages, count < Self.mostSensors else { continue }
                    fresh[sensor] = announced
                    all.append(
                        BrokerMessage(
                            topic: configurationTopic(sensor),
                            payload: configuration(of: sensor, announced, record), isRetained: true))
                }
            }
            return all.isEmpty ? nil : Messages(sensors: fresh, removed: Set(removed.map(\.topic)), all: all)
        }
    }

    /// What came of them.
    func note(_ messages: Messages, _ outcome: PublishOutcome) {
        standing.withLock { standing in
            switch outcome {
            // A broker that does not allow them will not another time either.
            case .answered:
                standing.failures = 0
                standing.removed.subtract(messages.removed)
                standing.sensors.merge(messages.sensors) { $1 }
            // That is nothing of theirs.
            case .failed, .refused: break
            case .closed, .ended, .tooLarge, .tooSlow, .withoutAcknowledgement: standing.failures += 1
            }
        }
    }

    /// The configuration was read again: everything is announced anew, and what is not allowed any more taken back.
    /// - Parameter entries: those whose readings go to the broker.
    func allow(_ entries: [AllowedPeripheral]) {
        standing.withLock { standing in
            standing.failures = 0
            for (sensor, announced) in standing.sensors {
                let isAllowed = entries.contains { entry in
                    entry.address.map { $0.description == sensor.address }
                        ?? (entry.model.id == announced.peripheralID)
                }
                if isAllowed {
                    standing.sensors[sensor]?.isOutdated = true
                } else {
                    standing.sensors[sensor] = nil
                    standing.removed.insert(configurationTopic(sensor))
                }
            }
        }
    }

    // MARK: The message

    private func configurationTopic(_ sensor: Sensor) -> String {
        "homeassistant/sensor/\(Self.identifier("ingestd", gateway))/\(identifier(sensor))/config"
    }

    private func identifier(_ sensor: Sensor) -> String {
        let parts = [
            sensor.address.replacing(":", with: ""), sensor.kind.rawValue, sensor.type, sensor.subject,
        ]
        return Self.identifier(parts.compactMap(\.self))
    }

    /// Of letters, digits, dashes and underscores, which is all that a topic of discovery may have; other bytes as
    /// `_` and two digits, so that two never look the same.
    private static func identifier(_ parts: [String]) -> String {
        parts.map { part in
            TopicTemplate.level(part).map { letter in
                letter.isASCII && (letter.isLetter || letter.isNumber || letter == "-")
                    ? String(letter) : letter == "%" ? "_" : Self.hexadecimal(letter)
            }.joined()
        }.joined(separator: "__")
    }

    private static func identifier(_ parts: String...) -> String { identifier(parts) }

    private static func hexadecimal(_ letter: Character) -> String {
        letter.utf8.map { "_" + String($0, radix: 16, uppercase: true) }.joined()
    }

    private func configuration(of sensor: Sensor, _ announced: Announced, _ record: RecordContent) -> [UInt8]
    {
        let shown = HomeAssistantUnit(unit: announced.unit, type: sensor.type)
        var text = JSONText()
        text.beginObject()
        text.member("name", Self.name(of: sensor))
        text.member("unique_id", Self.identifier("ingestd", gateway) + "__" + identifier(sensor))
        text.member("state_topic", announced.stateTopic)
        text.member("value_template", Self.template(for: sensor, unit: announced.unit))
        text.member("state_class", "measurement")
        text.member("force_update", true)
        if let unit = shown.unit { text.member("unit_of_measurement", unit) }
        if let deviceClass = shown.deviceClass { text.member("device_class", deviceClass) }
        if let availabilityTopic {
            text.member("availability_topic", availabilityTopic)
            text.member("availability_template", "{{ value_json.status }}")
        }
        text.key("device")
        text.beginObject()
        text.member("identifiers", ["ingestd_\(sensor.address)"])
        text.key("connections")
        text.beginArray()
        text.beginArray()
        text.value("bluetooth")
        text.value(sensor.address)
        text.endArray()
        text.endArray()
        let model = record.peripheralID.flatMap { catalogue[$0]?.name }
        text.member("name", record.alias ?? model ?? sensor.address)
        if let manufacturer = record.manufacturer { text.member("manufacturer", manufacturer) }
        if let model = record.model ?? model { text.member("model", model) }
        if let firmware = record.firmware { text.member("sw_version", firmware) }
        text.endObject()
        text.key("origin")
        text.beginObject()
        text.member("name", "ingestd")
        text.endObject()
        text.endObject()
        return text.bytes
    }

    private static func name(of sensor: Sensor) -> String {
        let words = ["spo2": "SpO2", "bmi": "BMI", "hba1c": "HbA1c"]
        let name =
            words[sensor.type]
            ?? sensor.type.prefix(1).uppercased() + String(sensor.type.dropFirst()).replacing("-", with: " ")
        return name + (sensor.subject.map { " (\($0))" } ?? "")
    }

    /// A topic may bring records of other devices and persons. What a template renders as nothing leaves a sensor as it is.
    private static func template(for sensor: Sensor, unit: String) -> String {
        var conditions = [
            "value_json.kind == \(quoted(sensor.kind.rawValue))", "value_json.stage == 'live'",
            "(value_json.device | default({})).address == \(quoted(sensor.address))",
        ]
        if let subject = sensor.subject { conditions.append("value_json.subject == \(quoted(subject))") }
        if sensor.kind == .glucose {
            // A meter that was tested.
            let flags = Reading.controlSolutionFlags.sorted().map(quoted).joined(separator: ", ")
            conditions.append("not (value_json.flags | default([]) | select('in', [\(flags)]) | list)")
        }
        return "{% if \(conditions.joined(separator: " and ")) %}"
            + "{% set found = value_json.measurements | default([]) | selectattr('type', 'eq', \(quoted(sensor.type)))"
            + " | selectattr('unit', 'eq', \(quoted(unit))) | map(attribute='value') | list %}"
            + "{% if found %}{{ found | last }}{% endif %}{% endif %}"
    }

    /// A text in a template: whatever could end it, or begin another expression, is written as its number.
    private static func quoted(_ text: String) -> String {
        let inside = text.unicodeScalars.map { scalar in
            if scalar.isASCII,
                scalar.properties.isAlphabetic || " -._:/0123456789[]%".unicodeScalars.contains(scalar)
            {
                return String(scalar)
            }
            let digits = String(scalar.value, radix: 16)
            return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
        }
        return "'\(inside.joined())'"
    }
}

/// How Home Assistant writes a unit of UCUM, and what kind of sensor it has for it, where it has one
/// (https://www.home-assistant.io/integrations/sensor/#device-class).
struct HomeAssistantUnit: Equatable {
    /// Nil for a bare number.
    var unit: String?
    var deviceClass: String?

    init(unit: String, type: String) {
        switch unit {
        case "Cel": (self.unit, deviceClass) = ("°C", "temperature")
        case "[degF]": (self.unit, deviceClass) = ("°F", "temperature")
        case "kg", "g": (self.unit, deviceClass) = (unit, "weight")
        case "[lb_av]": (self.unit, deviceClass) = ("lb", "weight")
        case "mm[Hg]": (self.unit, deviceClass) = ("mmHg", "pressure")
        case "kPa": (self.unit, deviceClass) = ("kPa", "pressure")
        case "m", "km": (self.unit, deviceClass) = (unit, "distance")
        case "[in_i]": (self.unit, deviceClass) = ("in", "distance")
        case "s", "min", "h": (self.unit, deviceClass) = (unit, "duration")
        case "%" where ["battery", "humidity"].contains(type): (self.unit, deviceClass) = ("%", type)
        case "/min" where type.hasSuffix("-rate") || type.contains("pulse-rate"): self.unit = "bpm"
        case "kg/m2": self.unit = "kg/m²"
        case "Ohm": self.unit = "Ω"
        case "1", "": break
        default: self.unit = unit
        }
    }
}
