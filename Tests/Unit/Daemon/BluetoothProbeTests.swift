import FoundationEssentials
import TestSupport
import Testing

@testable import IngestDaemon

@Suite struct BluetoothProbeTests {
    private func adapter(powered: Bool = true, discovering: Bool = false) -> BluetoothProbe.Adapter {
        BluetoothProbe.Adapter(
            name: "hci0", isPowered: powered, isDiscovering: discovering, daemonVersion: "5.82")
    }

    private func levels(_ change: (inout BluetoothProbe.Facts) -> Void) -> [String] {
        var facts = BluetoothProbe.Facts(
            adapters: ["hci0"],
            switches: [BluetoothProbe.RadioSwitch(isSoftBlocked: false, isHardBlocked: false)],
            daemon: .running([adapter()]), service: nil)
        change(&facts)
        return BluetoothProbe(facts: facts).findings.map { "\($0.check.rawValue) \($0.level.rawValue)" }
    }

    @Test func eachPartIsJudged() {
        let well = ["adapter ok", "rfkill ok", "bluetoothd ok", "other-scanners ok"]
        #expect(levels { _ in } == well)
        #expect(levels { $0.daemon = .running([adapter(powered: false)]) } == well)
        #expect(levels { $0.adapters = nil }.first == "adapter error")
        #expect(levels { $0.adapters = [] }.first == "adapter error")
        #expect(levels { $0.switches[0].isSoftBlocked = true }.contains("rfkill error"))
        #expect(levels { $0.switches[0].isHardBlocked = true }.contains("rfkill error"))
        #expect(levels { $0.switches = [] } == ["adapter ok", "bluetoothd ok", "other-scanners ok"])
        #expect(levels { $0.daemon = .absent }.last == "bluetoothd warning")
        #expect(levels { $0.daemon = .unknown }.last == "bluetoothd warning")
        #expect(
            levels { $0.daemon = .running([adapter(discovering: true)]) }.last == "other-scanners warning")
        let deaf = GatewayStatus.Adapter(name: "hci0", isListening: false, reason: "is powered off")
        #expect(levels { $0.service = [deaf] }.contains("adapter error"))
    }

    @Test func switchesAndAdaptersAreReadFromTheKernel() async throws {
        try await withTemporaryDirectory { directory in
            for (name, type, soft, hard) in [
                ("rfkill0", "wlan", "1", "0"), ("rfkill1", "bluetooth", "0", "1"),
            ] {
                try FileManager.default.createDirectory(
                    atPath: "\(directory)/\(name)", withIntermediateDirectories: true)
                for (file, text) in [("type", type), ("soft", soft), ("hard", hard)] {
                    try "\(text)\n".write(
                        toFile: "\(directory)/\(name)/\(file)", atomically: true, encoding: .utf8)
                }
            }
            #expect(
                BluetoothProbe.Facts.switches(in: directory)
                    == [BluetoothProbe.RadioSwitch(isSoftBlocked: false, isHardBlocked: true)])
            for name in ["hci0", "hci0:64", "other"] {
                try "".write(toFile: "\(directory)/\(name)", atomically: true, encoding: .utf8)
            }
            #expect(BluetoothProbe.Facts.adapters(in: directory) == ["hci0"])
            #expect(BluetoothProbe.Facts.adapters(in: directory + "/none") == nil)
        }
    }

    @Test(
        arguments: [
            ("usb:v1D6Bp0246d0542", "5.66"), ("usb:v1D6Bp0246d0552", "5.82"), ("usb:v1234p0246d0542", nil),
            ("usb:v1D6Bp0246d", nil), ("usb:v1D6Bp0246dzzzz", nil),
        ] as [(String, String?)])
    func theDaemonsVersionIsInItsDeviceID(modalias: String, version: String?) {
        #expect(BluetoothProbe.Facts.version(ofModalias: modalias) == version)
    }
}
