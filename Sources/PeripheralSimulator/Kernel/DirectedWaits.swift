/// Connection attempts that wait in the simulated kernel for a device that advertises to its bonded
/// central only. As in a real one, the controller's filter of repeated adverts is on while any waits.
/// Belongs to the radio's loop.
///
/// Sendable is checked by hand: everything that changes is touched on the loop only, from the air and
/// from connections, which run there.
final class DirectedWaits: @unchecked Sendable {
    private struct Wait {
        let device: DeviceAddress
        let timer: RadioLoop.Timer
        let done: (LinkError?) -> Void
    }

    private var waits: [Int: Wait] = [:]
    private var lastNumber = 0
    /// Devices whose adverts the filter has let through already.
    private var reported: Set<DeviceAddress> = []

    /// Calls `done` at the device's next directed advert, or with why there was none.
    func begin(
        _ device: DeviceAddress, within timeout: Duration, on loop: RadioLoop,
        done: @escaping (LinkError?) -> Void
    ) -> Int {
        lastNumber += 1
        let number = lastNumber
        let timer = loop.after(timeout) { [weak self] in self?.end(number, .notReachable, on: loop) }
        waits[number] = Wait(device: device, timer: timer, done: done)
        reported = []
        return number
    }

    func end(_ number: Int, _ error: LinkError?, on loop: RadioLoop) {
        guard let wait = waits.removeValue(forKey: number) else { return }
        loop.cancel(wait.timer)
        reported = []
        wait.done(error)
    }

    /// The device sends a directed advert.
    func advertised(_ device: DeviceAddress, on loop: RadioLoop) {
        for number in waits.filter({ $0.value.device == device }).keys { end(number, nil, on: loop) }
    }

    /// Whether the controller reports this advert of the device.
    func reports(_ device: DeviceAddress) -> Bool {
        waits.isEmpty || reported.insert(device).inserted
    }
}

extension SimulatedAir {
    /// As the gateway's own bound (L2CAP/LinkConnector.swift).
    private static let timeout = Duration.seconds(25)

    /// Waits for the next advert of a device that advertises to its central only, or for nothing if a device answers no
    /// connection request; others are there or not. Nil then, or why the wait ended without.
    func directedAdvert(of device: DeviceAddress, isolation: isolated (any Actor)) async -> LinkError? {
        guard peripherals.contains(where: { $0.device == device && ($0.isDirected || $0.isDeaf) }) else {
            return nil
        }
        let cancellation = Cancellation()
        return await withTaskCancellationHandler {
            await withCheckedContinuation(isolation: isolation) { continuation in
                cancellation.number = waits.begin(device, within: Self.timeout, on: loop) {
                    continuation.resume(returning: $0)
                }
            }
        } onCancel: {
            // After the wait has begun: that happens in the turn of the loop that is under way.
            loop.run { [waits, loop] in
                guard let number = cancellation.number else { return }
                waits.end(number, .ended(.byGateway), on: loop)
            }
        }
    }

    /// Sendable is checked by hand: set and read on the loop.
    private final class Cancellation: @unchecked Sendable {
        var number: Int?
    }
}
