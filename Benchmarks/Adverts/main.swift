import BlueZBridge
import Glibc
import IngestBluetooth
import IngestCore

/// advert-benchmark sum|search|ours COUNT: looks at COUNT adverts of devices that are not allow-listed, and prints the
/// nanoseconds of CPU time that each took. `sum` adds up the bytes of each, `search` seeks one that none has, `ours`
/// decides about it as the gateway does.

/// Neither asked for the time nor waited on: no advert is wanted.
struct StoppedClock: GatewayClock {
    var now: MonotonicInstant { .init(nanoseconds: 0) }
    var wallNanoseconds: Int64 { 0 }
    func sleep(until deadline: MonotonicInstant) async throws {}
}

/// Device Found events as the kernel sends them (BlueZ doc/mgmt-api.txt), with what is in the air of a flat: a telephone,
/// a beacon, headphones, a watch; none of them allow-listed.
let events: [[UInt8]] = [
    [2, 1, 6, 10, 0xFF, 0x4C, 0, 0x10, 5, 1, 0x18, 0x2E, 0x6F, 0x31],
    [2, 1, 6, 26, 0xFF, 0x4C, 0, 2, 21] + [UInt8](repeating: 0x5A, count: 20) + [0xC5],
    [2, 1, 2, 3, 3, 0x6F, 0xFD, 23, 0x16, 0x6F, 0xFD] + [UInt8](repeating: 0x77, count: 20),
    [2, 1, 6, 3, 2, 0x0D, 0x18, 11, 9] + Array("Some watch".utf8),
].enumerated().map { number, data in
    let address: [UInt8] = [UInt8(number), 0x22, 0x33, 0x44, 0x55, 0xC6]
    let length: [UInt8] = [UInt8(data.count), 0]
    return address + [2, 0xC4, 0, 0, 0, 0] + length + data
}

/// An allow-list of five: two by address, three models by service and name.
let filter = AdvertisementFilter(
    addresses: [BluetoothAddress("F1:F1:F1:F1:F1:F1")!, BluetoothAddress("F2:F2:F2:F2:F2:F2")!],
    models: [
        [.service(0x1809)], [.service(0x1810), .namePrefix(Array("BM77".utf8))],
        [.service(0x1808), .namePrefix(Array("Contour".utf8))],
    ])

/// The CPU time of the process so far.
func nanosecondsOfCPU() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Adds up the bytes: what looking at each byte once costs. The compiler does sixteen at a time.
@inline(never) func sum(_ bytes: Span<UInt8>) -> Bool {
    var sum: UInt8 = 0
    for index in bytes.indices { sum &+= bytes[index] }
    return sum != 0
}

/// Whether a byte is missing: what looking at one byte after the other costs, where each may be the last.
@inline(never) func search(_ bytes: Span<UInt8>) -> Bool {
    for index in bytes.indices where bytes[index] == 0xEE { return false }
    return true
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let count = Int(arguments[2]), count > 0 else {
    fatalError("usage: advert-benchmark sum|search|ours COUNT")
}
let receiver = AdvertReceiver(clock: StoppedClock())
receiver.filter = filter
var taken = 0
let before = nanosecondsOfCPU()
switch arguments[1] {
case "sum":
    for number in 0..<count {
        let event = events[number & 3]
        if sum(event.span) { taken += 1 }
    }
case "search":
    for number in 0..<count {
        let event = events[number & 3]
        if search(event.span) { taken += 1 }
    }
default:
    for number in 0..<count {
        let event = events[number & 3]
        if receiver.receive(event.span, hasHandle: false, index: 0) { taken += 1 }
    }
}
let after = nanosecondsOfCPU()
// All are adverts of LE devices: a look that stopped early would say otherwise.
guard taken == count else { fatalError("\(count - taken) were not looked at") }
print(Double(after - before) / Double(count))
