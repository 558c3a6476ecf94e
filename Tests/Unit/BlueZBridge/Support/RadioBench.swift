import BlueZBridge
import PeripheralSimulator
import TestSupport

/// The real radio on a simulated kernel, with a clock that stands still.
struct RadioBench {
    typealias Opcode = ManagementProtocol.Opcode

    static let address = BluetoothAddress(value: 0x0000_5E00_5300)
    static let thermometers = AdvertisementFilter(models: [[.service(0x1809)]])
    static let pinned = BluetoothAddress(value: 0xC000_0000_0001)

    let clock = DrivenClock(wall: DrivenClock.morning)
    let loop: RadioLoop
    let kernel: SimulatedKernel
    let radio: SimulatedRadio

    init(
        adapters: [SimulatedAdapter] = [SimulatedAdapter(index: 0, address: address)],
        selection: AdapterSelection = .any, timing: ScanTiming? = nil, isBluetoothdRunning: Bool = true,
        log: SubsystemLog = .silent
    ) throws {
        loop = try RadioLoop(clock: clock)
        radio = try SimulatedRadio(
            loop: loop, clock: clock, adapters: adapters, peripherals: [], selection: selection,
            timing: timing, log: log, isBluetoothdRunning: { isBluetoothdRunning })
        kernel = radio.kernel
    }

    /// Starts to listen.
    func listen(for filter: AdvertisementFilter = thermometers) -> Task<Void, any Error> {
        Task { try await radio.listen(for: filter) }
    }

    /// Waits for adapter states of this kind.
    @discardableResult
    func states(_ isWanted: ([AdapterState]) -> Bool) async -> [AdapterState] {
        for await states in radio.adapters where isWanted(states) { return states }
        return []
    }

    /// Waits until hci0 listens.
    func listening() async {
        await states { $0.first?.isListening == true }
        // What follows the announcement in the same turn.
        await loop.turned()
    }

    /// Waits for a command.
    func command(_ opcode: UInt16) async -> SimulatedKernel.Command? {
        for await command in kernel.commands where command.opcode == opcode { return command }
        return nil
    }
}
