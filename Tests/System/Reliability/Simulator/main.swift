// peripheral-simulator SOCKET SEED: busy peripherals for gateways that come and go. Each reading and each
// step of it is a line of JSON on standard output. A line "rest" on standard input ends the measuring, its end the
// program.
import BlueZBridge
import FoundationEssentials
import Glibc
import IngestCore
import PeripheralSimulator
import SystemPackage

/// The machine's clocks.
struct MachineClock: GatewayClock {
    private static let clock = ContinuousClock()

    var now: MonotonicInstant {
        MonotonicInstant(nanoseconds: 0) + Self.clock.systemEpoch.duration(to: Self.clock.now)
    }

    var wallNanoseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000_000) }

    func sleep(until deadline: MonotonicInstant) async throws {
        try await Self.clock.sleep(for: deadline.since(now))
    }
}

/// Writes a line of the ledger.
@Sendable func tell(_ line: String) {
    do {
        try FileDescriptor.standardOutput.writeAll("\(line)\n".utf8)
    } catch {
        fatalError("the ledger cannot be written: \(error)")
    }
}

/// Two hexadecimal digits a byte, in quotes.
@Sendable func text(_ bytes: [UInt8]) -> String {
    "\"" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\""
}

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count == 2, let path = arguments.first, let seed = arguments.last.flatMap({ UInt64($0) })
else {
    _ = try? FileDescriptor.standardError.writeAll("usage: peripheral-simulator SOCKET SEED\n".utf8)
    exit(64)
}
let clock = MachineClock()
let loop = try RadioLoop(clock: clock)
let busy = BusyPeripherals(seed: seed, loop: loop, clock: clock) { made in
    let packets = made.packets.map(text).joined(separator: ",")
    tell(
        #"{"event":"made","address":"\#(made.device)","characteristic":"\#(made.characteristic)","#
            + #""packets":[\#(packets)],"stored":\#(made.isStored)}"#)
}
for peripheral in busy.peripherals {
    await peripheral.observe { value in
        tell(
            #"{"event":"\#(value.fate.rawValue)","address":"\#(value.device)","#
                + #""characteristic":"\#(value.characteristic)","hex":\#(text(value.payload))}"#)
    }
}
for peripheral in busy.peripherals {
    let address = peripheral.device.address
    Task.detached {
        for await occurrence in peripheral.occurrences {
            switch occurrence {
            case .connected: tell(#"{"event":"linked","address":"\#(address)"}"#)
            case .linkEnded: tell(#"{"event":"link-ended","address":"\#(address)"}"#)
            default: break
            }
        }
    }
}
let host = try PeripheralHost(
    path: path, loop: loop,
    adapters: (0..<2).map {
        SimulatedAdapter(index: $0, address: BluetoothAddress(value: 0x0000_5E00_5300 + UInt64($0)))
    },
    peripherals: busy.peripherals)
await host.start()
// Not on the main actor, which waits for input.
let living = Task.detached { [busy] in try await busy.run() }
while let line = readLine() {
    if line == "rest" { await busy.rest() }
}
living.cancel()
