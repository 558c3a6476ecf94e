import IngestDelivery

// What a broker is told and asked.
extension ConfigurationReader {
    /// Where a broker is: a host, and a port if it is another than usual.
    func brokerURL(_ reader: NodeReader) -> String? {
        guard let text = checkedURL(reader, schemes: ["mqtts"], onLoopback: ["mqtt"]) else { return nil }
        guard BrokerAddress(url: text) != nil else {
            reader.error(
                expected: "a broker's host and port with nothing behind them, as mqtts://broker.example")
            return nil
        }
        return text
    }

    func topic(_ reader: NodeReader?, _ placeholders: [TopicTemplate.Placeholder]) -> TopicTemplate? {
        guard let reader, let text = reader.text("a topic", limit: TopicTemplate.limit) else { return nil }
        do throws(TopicTemplate.Malformed) {
            return try TopicTemplate(text, allowed: placeholders)
        } catch {
            reader.error(expected: "\(error.expected)")
            return nil
        }
    }
}
