import FoundationEssentials
import Testing

@testable import IngestRecords
@testable import IngestSupervision

@Suite struct StatusDocumentTests {
    private static let clinic = GatewayStatus.Destination(
        name: "clinic", state: "down", pending: 2, oldest: 60, submitted: 1_203, failed: 0,
        lastError: "s3cret words of a server", nextTry: 5, user: "patient-17", userID: "7a3f",
        authentication: ["token"])

    private static func cuff(_ number: Int, _ state: GatewayStatus.Peripheral.State = .idle)
        -> GatewayStatus.Peripheral
    {
        let octet = String(number % 256, radix: 16, uppercase: true)
        return GatewayStatus.Peripheral(
            id: 1001, alias: nil, address: "F1:F1:F1:F1:F1:\(octet.count == 1 ? "0" : "")\(octet)",
            isPinned: true,
            state: state, lastSeen: 3, signal: -61, lastReading: 7_300, battery: 5, isBonded: true,
            failures: 0,
            tag: "0badcafe")
    }

    private static func document(
        _ peripherals: [GatewayStatus.Peripheral], isClockRight: Bool = true,
        kernel: String? = "6.1.0-28-amd64",
        without redacted: Set<RedactedField> = []
    ) -> String {
        let status = GatewayStatus(
            version: "1.2.3", gateway: "box", uptime: 60, isClockRight: isClockRight, undated: 0,
            adapters: [.init(name: "hci0", isListening: true)], peripherals: peripherals,
            destinations: [clinic],
            queue: .init(bytes: 1, maximumBytes: 2, level: "normal"))
        return StatusDocument(
            status, kernel: kernel, wallSeconds: isClockRight ? 1_795_166_100 : nil, without: redacted
        ).json
    }

    @Test func aDocumentHasEverythingButWhatStaysOnTheBox() {
        let device =
            #"{"address":"F1:F1:F1:F1:F1:02","battery":5,"bonded":true,"failures":0,"id":1001,"last_reading_s":7300,"#
            + #""last_seen_s":3,"pinned":true,"signal":-61,"state":"bond-missing","tag":"0badcafe"}"#
        let expected =
            #"{"adapters":[{"beyond_help":false,"links":3,"links_configured":3,"listening":true,"name":"hci0","#
            + #""resets":0}],"clock_right":true,"destinations":[{"authentication":["token"],"failed":0,"#
            + #""name":"clinic","next_try_s":5,"oldest_s":60,"pending":2,"skipped":0,"state":"down","#
            + #""submitted":1203}],"devices":[\#(device)],"gateway":"box","healthy":false,"#
            + #""kernel":"6.1.0-28-amd64","lost_bonds":1,"problems":["0badcafe must be paired: ingestd status","#
            + #""clinic is down, 2 waiting: it is tried again by itself"],"queue":{"bytes":1,"level":"normal","#
            + #""max_bytes":2},"software":"1.2.3","started":"2026-11-20T09:14:00Z","status":"online","#
            + #""time":"2026-11-20T09:15:00Z","undated":0,"uptime_s":60,"version":1}"#
        #expect(Self.document([Self.cuff(2, .bondMissing)]) == expected)
    }

    @Test func aDestinationThatGetsNoAddressGetsNoneHere() {
        let document = Self.document([Self.cuff(2, .bondMissing)], without: [.address])
        #expect(!document.contains("F1:F1") && document.contains("0badcafe"))
    }

    @Test func aClockThatMayBeWrongSaysNoTime() {
        let document = Self.document([], isClockRight: false, kernel: nil)
        for member in ["time", "started", "kernel"] { #expect(!document.contains("\"\(member)\"")) }
    }

    @Test func ofTooManyDevicesThoseThatNeedSomebodyAreTold() throws {
        let document = Self.document((0..<2_000).map { Self.cuff($0) } + [Self.cuff(5, .bondMissing)])
        struct Read: Decodable {
            let devices: [GatewayStatus.Peripheral]
            let furtherDevices: Int

            enum CodingKeys: String, CodingKey {
                case devices
                case furtherDevices = "further_devices"
            }
        }
        let read = try JSONDecoder().decode(Read.self, from: Data(document.utf8))
        #expect(read.devices.count == StatusDocument.mostDevices && read.devices[0].state == .bondMissing)
        #expect(read.furtherDevices == 1_501)
        #expect(document.utf8.count < 256 << 10)
    }

    @Test func problemsAreBounded() throws {
        let many = (0..<100).map { number in
            var cuff = Self.cuff(number, .bondMissing)
            cuff.alias = String(repeating: "x", count: 1_000)
            return cuff
        }
        struct Read: Decodable { let problems: [String] }
        let read = try JSONDecoder().decode(Read.self, from: Data(Self.document(many).utf8))
        #expect(read.problems.count == StatusDocument.mostProblems)
        #expect(read.problems.allSatisfy { $0.count <= StatusDocument.longestProblem })
    }
}
