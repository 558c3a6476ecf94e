/// Where the gateway tells of what is neither a record's nor a destination's: straight to the sink.
/// Those about records and destinations go through the store's outbox instead, in the transaction
/// that they tell of.
package struct EventLog: Sendable {
    private let sink: any EventSink

    package init(sink: any EventSink) {
        self.sink = sink
    }

    package func emit(_ event: Event) {
        sink.write(event.entry())
    }
}
