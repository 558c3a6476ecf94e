/// What a broker keeps of a gateway under its status topic, for whoever watches it: whether it is connected.
package struct BrokerStatus: Sendable, Equatable {
    package let topic: String
    /// JSON; `offline` is the will, which the broker publishes when the connection breaks.
    package let online: String
    package let offline: String

    package init(topic template: TopicTemplate, gateway: String) {
        topic = template.topic { _ in gateway }
        online = Self.json(gateway, "online")
        offline = Self.json(gateway, "offline")
    }

    private static func json(_ gateway: String, _ status: String) -> String {
        var text = JSONText()
        text.beginObject()
        text.member("version", 1)
        text.member("gateway", gateway)
        text.member("status", status)
        text.endObject()
        return String(decoding: text.bytes, as: UTF8.self)
    }
}
