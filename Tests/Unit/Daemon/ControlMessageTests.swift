import FoundationEssentials
import Testing

@testable import IngestDaemon

/// What goes over the control socket.
@Suite struct ControlMessageTests {
    private static func refusal(_ body: () throws -> Void) -> FailureReason? {
        do {
            try body()
        } catch let refusal as ControlMessage.Refusal {
            return refusal.reason
        } catch {
            Issue.record(error)
        }
        return nil
    }

    @Test func aRefusalIsASentenceAndAReason() throws {
        let refusal = ControlMessage.Refusal(error: "try again", reason: .readingUnderWay)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = String(decoding: try encoder.encode(refusal), as: UTF8.self)
        #expect(text == #"{"error":"try again","reason":"reading-under-way"}"#)
    }

    @Test(arguments: FailureReason.allCases)
    func aReasonIsReadAsItIsWritten(reason: FailureReason) throws {
        let text = try JSONEncoder().encode([reason])
        #expect(try JSONDecoder().decode([FailureReason].self, from: text) == [reason])
        #expect(reason.rawValue.utf8.allSatisfy { $0 == UInt8(ascii: "-") || 0x61...0x7A ~= $0 })
    }

    /// The service may be newer than the command.
    @Test func aReasonThatIsNotKnownIsAnother() throws {
        let step = try JSONDecoder().decode(
            OperatorStep.self, from: Data(#"{"step":"failed","number":3,"reason":"moon-phase"}"#.utf8))
        #expect(step.reason == .other)
        #expect(IngestDaemon.ExitStatus(.other) == .badData)
    }

    @Test(
        arguments: [
            (.badTarget, .usage), (.noKeeper, .unavailable), (.notSeen, .unavailable), (.busy, .tryAgain),
            (.notHeard, .tryAgain), (.noBond, .tryAgain), (.queueFull, .tryAgain), (.noTime, .tryAgain),
            (.wrongPasskey, .badData), (.unassigned, .badData), (.tokenRefused, .badData),
        ] as [(FailureReason, IngestDaemon.ExitStatus)])
    func theExitCodeFollowsFromTheReason(reason: FailureReason, status: IngestDaemon.ExitStatus) {
        #expect(IngestDaemon.ExitStatus(reason) == status)
    }

    @Test func aTargetIsAnIDOrAnAddress() throws {
        #expect(try ControlMessage.Target(target: "1001").parsed() == .model(1001))
        let address = try #require(BluetoothAddress("F1:F1:F1:F1:F1:F1"))
        #expect(try ControlMessage.Target(target: "f1:f1:f1:f1:f1:f1").parsed() == .device(address))
        for text in ["", "cuff", "F1:F1:F1:F1:F1", "-1"] {
            #expect(
                Self.refusal { _ = try ControlMessage.Target(target: text).parsed() } == .badTarget, "\(text)"
            )
        }
    }

    @Test(arguments: [0, 121, -5])
    func aScanHasABound(seconds: Int) {
        #expect(Self.refusal { _ = try ControlMessage.Scan(seconds: seconds).parsed() } == .badRequest)
    }

    @Test(arguments: [0, 601])
    func aReadHasABound(seconds: Int) {
        let read = ControlMessage.Read(target: "1001", timeout: seconds, isDryRun: false)
        #expect(Self.refusal { _ = try read.parsed() } == .badRequest)
    }

    @Test func anAnswerIsAPasskeyOrAYes() throws {
        #expect(try ControlMessage.Answer(passkey: "123 456").parsed() == .passkey(123_456))
        #expect(try ControlMessage.Answer().parsed() == .passkey(nil))
        #expect(try ControlMessage.Answer(sameNumber: true).parsed() == .sameNumber(true))
        #expect(Self.refusal { _ = try ControlMessage.Answer(passkey: "12345").parsed() } == .badPasskey)
    }
}
