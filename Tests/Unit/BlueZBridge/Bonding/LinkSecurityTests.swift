import Glibc
import TestSupport
import Testing

@testable import BlueZBridge

@Suite struct LinkSecurityTests {
    private actor Caller {}

    /// Asked to encrypt without keys the kernel would pair: so it is not asked.
    @Test func withoutABondNoEncryptedLinkIsTried() async throws {
        let loop = try RadioLoop(clock: DrivenClock(wall: DrivenClock.morning))
        let asked = Notes<Bond>()
        let connector = KernelConnector(loop: loop, sockets: LinkSockets(nil)) { bond in
            asked.add(bond)
            return false
        }
        let bond = Bond(
            device: DeviceAddress(BluetoothAddress(value: 0xC100_5E00_5301), .random),
            adapter: BluetoothAddress(value: 0x0000_5E00_5300))
        await #expect(throws: LinkError.notEncrypted) {
            _ = try await connector.connect(
                to: bond.device, from: bond.adapter, requiresEncryption: true, isolation: Caller())
        }
        #expect(asked.all == [bond])
    }

    @Test(arguments: [
        (EACCES, true, LinkError.bondRefused), (EACCES, false, .notEncrypted), (EBADE, true, .bondRefused),
        (EKEYREJECTED, true, .bondRefused), (ENOSYS, true, .bondRefused),
        (ENOSYS, false, .refused(errno: ENOSYS)), (ECONNABORTED, true, .refused(errno: ECONNABORTED)),
        (EHOSTDOWN, true, .notReachable), (EBUSY, true, .busy),
    ])
    func theKernelsErrorSaysWhoLacksTheKeys(_ errno: Int32, _ isBonded: Bool, _ error: LinkError) {
        #expect(LinkError(connectErrno: errno, isBonded: isBonded) == error)
    }
}
