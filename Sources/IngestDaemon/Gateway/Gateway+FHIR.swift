import IngestConfiguration
import IngestCore
import IngestDelivery

extension Gateway {
    /// The deliveries to FHIR servers.
    func fhirDeliveries(_ parts: DeliveryParts) -> [Delivery] {
        configuration.destinations.filter { $0.type == .fhir }.map { destination in
            let credentials = credentials
            let fhir = FHIR(
                settings: FHIRSettings(
                    url: destination.url ?? "", patientSystem: destination.patientSystem,
                    authentication: destination.auth.flatMap(FHIRSettings.Authentication.init) ?? .bearer,
                    usesGzip: destination.compresses, headers: destination.headers),
                transport: parts.transports[destination], clock: clock,
                credential: { try destination.credential.map { try credentials.read($0).text ?? "" } })
            let worker = DeliveryWorker(
                name: destination.name, gateway: configuration.gateway.id, store: parts.store,
                destination: logged(fhir, destination.name), batching: destination.batching,
                clock: clock, events: parts.events, heartbeat: parts.pulse.register(destination.name))
            return Delivery(to: destination.name, by: worker) { _ in
                await fhir.renew()
                worker.retryNow()
            }
        }
    }
}
