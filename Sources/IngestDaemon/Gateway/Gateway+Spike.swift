import IngestConfiguration
import IngestCore
import IngestDelivery

extension Gateway {
    /// The deliveries to Spike's webhook.
    func makeSpikes(_ parts: DeliveryParts) -> [Delivery] {
        configuration.destinations.filter { $0.type == .spike }.map { destination in
            let credentials = credentials
            let spike = Spike(
                settings: SpikeSettings(url: destination.url ?? ""),
                transport: parts.transports[destination], clock: clock,
                secret: { [name = destination.credential] in
                    guard let name else { return "" }
                    return try credentials.read(name).text ?? ""
                })
            let worker = DeliveryWorker(
                name: destination.name, gateway: configuration.gateway.id, store: parts.store,
                destination: logged(spike, destination.name), batching: destination.batching, clock: clock,
                events: parts.events, heartbeat: parts.pulse.register(destination.name))
            return Delivery(to: destination.name, by: worker) { _ in
                await spike.renew()
                worker.retryNow()
            }
        }
    }
}
