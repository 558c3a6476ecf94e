import IngestConfiguration
import IngestCore
import IngestDelivery
import IngestStorage
import MQTTBridge

extension Gateway {
    /// The deliveries to MQTT brokers.
    func makeBrokers(_ parts: DeliveryParts) -> [Delivery] {
        configuration.destinations.filter { $0.type == .mqtt }.compactMap { destination in
            destination.url.flatMap { BrokerAddress(url: $0) }.map { broker(destination, at: $0, parts) }
        }
    }

    private func broker(
        _ destination: DestinationSettings, at address: BrokerAddress, _ parts: DeliveryParts
    ) -> Delivery {
        let (credentials, gateway) = (credentials, configuration.gateway.id)
        let publisher = MQTTPublisher(
            MQTTPublisher.Settings(
                address: address,
                clientID: destination.applicationID ?? "ingestd-\(gateway)-\(destination.name)",
                status: destination.statusTopic.map { BrokerStatus(topic: $0, gateway: gateway) }))
        let mqtt = MQTT(topic: destination.topic ?? .standard, publisher: publisher) {
            () throws(BrokerLoginError) in
            try BrokerLogin(of: destination, isEncrypted: address.isEncrypted, credentials: credentials)
        }
        let worker = DeliveryWorker(
            name: destination.name, gateway: gateway, store: parts.store,
            destination: logged(mqtt, destination.name),
            batching: BatchSettings(
                maxRecords: destination.batch.maximumRecords, maxWait: destination.batch.maximumWait),
            clock: clock, events: parts.events, heartbeat: parts.pulse.register(destination.name))
        return Delivery(
            to: destination.name, by: worker, atEnd: { await publisher.shutdown() },
            renew: { _ in
                mqtt.renew()
                worker.retryNow()
            })
    }
}
