import FoundationEssentials
import Synchronization
import Testing

@testable import IngestDelivery
@testable import IngestRecords

@Suite struct MQTTTests {
    /// A broker that says what it is told to say, and keeps what it is asked.
    private final class Scripted: MessagePublisher {
        private let outcomes: Mutex<[PublishOutcome]>
        private let asked = Mutex<[(messages: [BrokerMessage], login: BrokerLogin)]>([])

        init(_ outcomes: PublishOutcome...) {
            self.outcomes = Mutex(outcomes)
        }

        var messages: [[BrokerMessage]] { asked.withLock { $0.map(\.messages) } }
        var passwords: [String?] { asked.withLock { $0.map(\.login.password) } }

        func publish(_ messages: [BrokerMessage], as login: BrokerLogin) async -> PublishOutcome {
            asked.withLock { $0.append((messages, login)) }
            return outcomes.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        }

        func shutdown() {}
    }

    private static func record(_ id: String) -> String {
        """
        {"version":1,"id":"\(id)","kind":"weight",\
        "time":{"value":"2026-11-20T09:15:00+00:00","source":"device","received":"2026-11-20T09:15:04Z"},\
        "measurements":[{"type":"weight","value":70.10,"unit":"kg"}],\
        "device":{"peripheral_id":1003,"address":"F1:F1:F1:F1:F1:F1"},"gateway":"box"}
        """
    }

    private static let batch = OutgoingBatch(gateway: "box", records: [record("a"), record("b")])

    private func deliver(_ outcome: PublishOutcome) async -> DeliveryAnswer {
        await MQTT(publisher: Scripted(outcome)) { BrokerLogin() }.deliver(Self.batch)
    }

    @Test func eachRecordIsAMessageWithItsOwnBytes() async {
        let publisher = Scripted(.answered([0, 0], reply: nil))
        let answer = await MQTT(publisher: publisher) { BrokerLogin() }.deliver(Self.batch)
        #expect(answer == .taken())
        #expect(publisher.messages.map { $0.map(\.topic) } == [["ingestd/box/weight", "ingestd/box/weight"]])
        #expect(
            publisher.messages.flatMap { $0.map { String(decoding: $0.payload, as: UTF8.self) } }
                == Self.batch.records)
    }

    @Test func aMessageHasNothingThatTheDestinationDoesNotGet() async {
        let publisher = Scripted(.answered([0, 0], reply: nil))
        let mqtt = MQTT(redacted: [.address], publisher: publisher) { BrokerLogin() }
        #expect(await mqtt.deliver(Self.batch) == .taken())
        #expect(
            publisher.messages.flatMap { $0.map { String(decoding: $0.payload, as: UTF8.self) } }
                == Self.batch.records.map {
                    $0.replacing(#","address":"F1:F1:F1:F1:F1:F1""#, with: "")
                })
    }

    @Test func whatIsNoRecordIsNotSent() async {
        let publisher = Scripted(.answered([0], reply: nil))
        let answer = await MQTT(publisher: publisher) { BrokerLogin() }
            .deliver(OutgoingBatch(gateway: "box", records: ["{}"]))
        #expect(answer == .unfit("is no record that can be read"))
        #expect(publisher.messages.isEmpty)
    }

    @Test func theBrokersWordsAreKeptWithoutThePassword() async {
        let publisher = Scripted(.answered([0x00, 0x99], reply: "no s3cret here"))
        let answer = await MQTT(publisher: publisher) { BrokerLogin(user: "box", password: "s3cret") }
            .deliver(Self.batch)
        #expect(
            answer
                == .refused(
                    httpStatus: nil, error: MQTTReason.message(0x99), reply: "no [credential] here"))
    }

    // MARK: Reason codes

    typealias Outcome = PolicyTests.Outcome

    @Test(arguments: [
        (UInt8(0x00), Outcome.taken), (0x10, .unavailable), (0x80, .failing), (0x83, .failing),
        (0x87, .unauthorized),
        (0x90, .misplaced), (0x91, .unavailable), (0x95, .tooLarge), (0x97, .busy), (0x99, .refused),
        // None that a PUBACK has.
        (0x01, .unavailable), (0x18, .unavailable), (0x7F, .unavailable), (0xFF, .unavailable),
    ])
    func anAcknowledgementMeansOneThing(_ code: UInt8, _ expected: Outcome) {
        #expect(Outcome(MQTTReason.answer(code, in: .message)) == expected)
    }

    @Test(arguments: [
        (UInt8(0x80), Outcome.unavailable), (0x81, .unavailable), (0x82, .unavailable), (0x83, .unavailable),
        (0x84, .misplaced), (0x85, .misplaced), (0x86, .unauthorized), (0x87, .unauthorized),
        (0x88, .unavailable), (0x89, .busy), (0x8A, .unauthorized), (0x8C, .unauthorized), (0x90, .misplaced),
        (0x95, .misplaced), (0x97, .busy), (0x99, .unavailable), (0x9A, .misplaced), (0x9B, .misplaced),
        (0x9C, .misplaced), (0x9D, .misplaced), (0x9F, .busy),
    ])
    func aRefusedConnectionMeansOneThing(_ code: UInt8, _ expected: Outcome) {
        #expect(Outcome(MQTTReason.answer(code, in: .connection)) == expected)
    }

    @Test(arguments: [
        (UInt8(0x80), Outcome.unavailable), (0x81, .unavailable), (0x82, .unavailable), (0x83, .unavailable),
        (0x87, .unauthorized), (0x89, .busy), (0x8B, .unavailable), (0x8D, .unavailable),
        (0x8E, .unavailable),
        (0x90, .misplaced), (0x93, .unavailable), (0x95, .tooLarge), (0x96, .busy), (0x97, .busy),
        (0x98, .unavailable), (0x99, .refused), (0x9A, .misplaced), (0x9B, .misplaced), (0x9C, .misplaced),
        (0x9D, .misplaced), (0xA0, .unavailable),
    ])
    func theEndOfAConnectionMeansOneThing(_ code: UInt8, _ expected: Outcome) {
        #expect(Outcome(MQTTReason.answer(code, in: .end)) == expected)
    }

    @Test(arguments: [
        (UInt8(1), Outcome.misplaced, "does not speak MQTT 3.1.1; see protocol (return code 1)"),
        (2, .misplaced, "does not take the client identifier; see application_id (return code 2)"),
        (3, .unavailable, "is not available (return code 3)"),
        (4, .unauthorized, "does not take user and password (return code 4)"),
        (
            5, .unauthorized,
            "does not allow this user to connect, or to publish under this topic (return code 5)"
        ),
        // What the library finds by itself, and what no specification has.
        (0x90, .misplaced, "does not take the topic (reason 0x90)"),
        (6, .unavailable, "gives a reason that is not known (reason 0x06)"),
    ])
    func aReturnCodeMeansOneThing(_ code: UInt8, _ expected: Outcome, _ words: String) {
        let answer = MQTTReason.answer(code, in: .returnCode)
        #expect(Outcome(answer) == expected)
        switch answer {
        case .misplaced(_, words), .unavailable(_, words, _), .unauthorized(_, words): break
        default: Issue.record("\(answer)")
        }
    }

    @Test func onlySuccessSubmits() {
        let taken = (UInt8.min...UInt8.max).filter { MQTTReason.answer($0, in: .message) == .taken() }
        #expect(taken == [0x00])
        for packet in [MQTTReason.Packet.connection, .returnCode, .end] {
            #expect(!(UInt8.min...UInt8.max).contains { MQTTReason.answer($0, in: packet) == .taken() })
        }
    }

    @Test func theWordsNameTheCode() {
        #expect(MQTTReason.message(0x10) == "has no subscriber for the topic (reason 0x10)")
        #expect(MQTTReason.message(0x01) == "gives a reason that is not known (reason 0x01)")
    }

    @Test func theDocumentHasARowForEachCode() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let document = try String(
            contentsOf: root.appending(path: "docs/destinations/mqtt.md"), encoding: .utf8)
        for code in UInt8.min...UInt8.max where !MQTTReason.message(code).hasPrefix("gives a reason") {
            let digits = String(code, radix: 16, uppercase: true)
            #expect(document.contains("\n| `0x\(digits)`"), "0x\(digits)")
        }
    }

    // MARK: Several messages

    @Test(arguments: [
        ([UInt8(0x00), 0x00], Outcome.taken), ([0x00, 0x10], .unavailable), ([0x99, 0x00], .refused),
        ([0x99, 0x87], .unauthorized), ([0x95, 0x97], .busy), ([0x80, 0x99], .failing),
        ([0x90, 0x10], .misplaced),
    ])
    func theAnswerThatConcernsMostCounts(_ reasons: [UInt8], _ expected: Outcome) async {
        #expect(Outcome(await deliver(.answered(reasons, reply: nil))) == expected)
    }

    @Test func theBrokersWordsAreKeptWithWhatIsRefused() async {
        #expect(
            await deliver(.answered([0x00, 0x99], reply: "not JSON"))
                == .refused(httpStatus: nil, error: MQTTReason.message(0x99), reply: "not JSON"))
    }

    @Test func whatCannotBeAnsweredInTimeIsHalved() async {
        #expect(await deliver(.tooSlow) == .tooLarge())
        #expect(await deliver(.tooLarge) == .tooLarge())
    }

    @Test func aBrokerThatAcknowledgesNothingIsTheWrongOne() async {
        #expect(Outcome(await deliver(.withoutAcknowledgement)) == .misplaced)
        #expect(
            await deliver(.failed("the connection was refused"))
                == .unavailable(httpStatus: nil, error: "the connection was refused", retryAfter: nil))
    }

    // MARK: A broker that closes the connection

    private static let closes = DeliveryAnswer.failing(
        error: "closes the connection at this message, and MQTT 3.1.1 has it give no reason")

    private static func single(_ id: String) -> OutgoingBatch {
        OutgoingBatch(gateway: "box", records: [record(id)])
    }

    @Test func ofSeveralRecordsEachHalfIsTriedAlone() async {
        let mqtt = MQTT(version: .v311, publisher: Scripted(.closed(acknowledged: 1))) { BrokerLogin() }
        #expect(await mqtt.deliver(Self.batch) == .tooLarge())
    }

    @Test func aRecordIsSetAsideWhenTheBrokerClosesAtItAlone() async {
        let publisher = Scripted(
            .closed(acknowledged: 0), .closed(acknowledged: 0), .answered([0], reply: nil),
            .closed(acknowledged: 0), .closed(acknowledged: 0), .closed(acknowledged: 0))
        let mqtt = MQTT(version: .v311, publisher: publisher) { BrokerLogin() }
        var answers: [DeliveryAnswer] = []
        for id in ["a", "a", "b", "a", "a", "a"] { answers.append(await mqtt.deliver(Self.single(id))) }
        #expect(answers.dropLast() == [Self.closes, Self.closes, .taken(), Self.closes, Self.closes])
        #expect(Outcome(answers[5]) == .refused)
    }

    @Test func aBrokerThatTakesNothingHasNoRecordSetAside() async {
        let mqtt = MQTT(version: .v311, publisher: Scripted(.closed(acknowledged: 0))) { BrokerLogin() }
        for _ in 0..<50 {
            for id in ["a", "b"] { #expect(await mqtt.deliver(Self.single(id)) == Self.closes) }
        }
    }

    @Test func aRecordThatIsTakenIsNotSuspectedAnyMore() async {
        let publisher = Scripted(
            .closed(acknowledged: 0), .closed(acknowledged: 0), .closed(acknowledged: 0),
            .closed(acknowledged: 0),
            .answered([0], reply: nil), .closed(acknowledged: 0))
        let mqtt = MQTT(version: .v311, publisher: publisher) { BrokerLogin() }
        var answers: [DeliveryAnswer] = []
        for _ in 0..<6 { answers.append(await mqtt.deliver(Self.single("a"))) }
        #expect(answers[4...] == [.taken(), Self.closes])
    }

    // MARK: Status documents

    @Test func aStatusDocumentIsKeptByTheBroker() async {
        let publisher = Scripted(.answered([0x10], reply: nil))
        let mqtt = MQTT(publisher: publisher) { BrokerLogin() }
        #expect(await mqtt.tell(Array("{}".utf8), under: "status/box") == .taken())
        #expect(
            publisher.messages == [
                [BrokerMessage(topic: "status/box", payload: Array("{}".utf8), isRetained: true)]
            ])
    }

    @Test(arguments: [
        (PublishOutcome.answered([0x87], reply: nil), Outcome.unauthorized), (.tooLarge, .tooLarge),
        (.closed(acknowledged: 0), .failing), (.failed("no connection within 10 s"), .unavailable),
    ])
    func aStatusDocumentThatIsNotTakenSaysWhy(_ outcome: PublishOutcome, _ expected: Outcome) async {
        let mqtt = MQTT(version: .v311, publisher: Scripted(outcome)) { BrokerLogin() }
        let answer = await mqtt.tell([], under: "status/box")
        #expect(Outcome(answer) == expected && answer.failure?.error.isEmpty == false)
    }

    // MARK: Credentials

    private final class Passwords: Sendable {
        private let left: Mutex<[String]>
        init(_ texts: String...) { left = Mutex(texts) }

        @Sendable func next() throws(BrokerLoginError) -> BrokerLogin {
            let text = left.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            guard let text else { throw BrokerLoginError(message: "the credential cannot be read") }
            return BrokerLogin(user: "box", password: text)
        }
    }

    @Test func aReplacedPasswordIsTriedAtOnce() async {
        let publisher = Scripted(.refused(0x86), .answered([0, 0], reply: nil))
        let mqtt = MQTT(publisher: publisher, login: Passwords("old", "new").next)
        #expect(await mqtt.deliver(Self.batch) == .taken())
        #expect(publisher.passwords == ["old", "new"])
    }

    @Test func theSamePasswordIsNotTriedTwice() async {
        let publisher = Scripted(.refused(0x86))
        let mqtt = MQTT(publisher: publisher, login: Passwords("old", "old").next)
        #expect(
            await mqtt.deliver(Self.batch) == .unauthorized(httpStatus: nil, error: MQTTReason.message(0x86)))
        #expect(publisher.passwords == ["old"])
    }

    @Test func whoIsLetInIsNotAskedForAnotherPasswordAtOnce() async {
        let publisher = Scripted(.answered([0x87, 0x00], reply: nil))
        let mqtt = MQTT(publisher: publisher, login: Passwords("old", "new").next)
        #expect(Outcome(await mqtt.deliver(Self.batch)) == .unauthorized)
        #expect(publisher.passwords == ["old"])
        _ = await mqtt.deliver(Self.batch)
        #expect(publisher.passwords == ["old", "new"])
    }

    @Test func thePasswordIsReadOnceUntilAReload() async {
        let publisher = Scripted(.answered([0, 0], reply: nil))
        let mqtt = MQTT(publisher: publisher, login: Passwords("first", "second").next)
        for _ in 0..<2 { _ = await mqtt.deliver(Self.batch) }
        await mqtt.renew()
        _ = await mqtt.deliver(Self.batch)
        #expect(publisher.passwords == ["first", "first", "second"])
    }

    @Test func withoutItsCredentialNothingIsSent() async {
        let publisher = Scripted(.answered([0, 0], reply: nil))
        let answer = await MQTT(publisher: publisher, login: Passwords().next).deliver(Self.batch)
        #expect(
            answer == .unavailable(httpStatus: nil, error: "the credential cannot be read", retryAfter: nil))
        #expect(publisher.messages.isEmpty)
    }
}
