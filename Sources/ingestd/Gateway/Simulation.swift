import BlueZBridge
import IngestKit
import PeripheralSimulator

/// The built-in peripherals of `run --radio simulated`.
struct Simulation: Sendable {
    let radio: SimulatedRadio

    init(loop: RadioLoop, clock: any GatewayClock, zone: TimeZoneRules) throws(SystemError) {
        radio = try SimulatedRadio.builtIn(clock: clock, loop: loop, zone: zone)
    }

    /// What the peripherals saw confirmed, a line each: to be compared with what arrived.
    func summary() async -> String {
        await radio.report().peripherals.map { peripheral in
            "simulated \(peripheral.address): \(peripheral.readings) readings, \(peripheral.confirmed) "
                + "confirmed, \(peripheral.linksAccepted) links"
        }.joined(separator: "\n")
    }
}
