import TestSupport
import Testing

@testable import IngestCore
@testable import IngestDaemon
@testable import IngestStorage

/// Who may use the page of `ingestd console`.
@Suite struct ConsoleSessionTests {
    private func cookie(_ header: String) -> String { String(header.prefix { $0 != ";" }) }

    @Test func itsKeyOpensItOnce() throws {
        let session = ConsoleSession(clock: DrivenClock())
        #expect(throws: ConsoleSession.Refusal.unknown) { try session.open(with: "") }
        #expect(throws: ConsoleSession.Refusal.unknown) {
            try session.open(with: String(session.key.dropLast()))
        }
        let header = try session.open(with: session.key)
        #expect(header.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
        #expect(throws: ConsoleSession.Refusal.used) { try session.open(with: session.key) }
        #expect(session.isOpen(to: cookie(header)))
    }

    @Test func keysAndCookiesAreOfOneSession() throws {
        let (one, other) = (ConsoleSession(clock: DrivenClock()), ConsoleSession(clock: DrivenClock()))
        #expect(one.key != other.key && one.key.count == 32)
        let header = try one.open(with: one.key)
        #expect(!header.contains(one.key))
        #expect(!other.isOpen(to: cookie(header)))
    }

    @Test func aCookieIsFoundAmongOthersAndCountsWhole() throws {
        let session = ConsoleSession(clock: DrivenClock())
        let own = cookie(try session.open(with: session.key))
        #expect(session.isOpen(to: "theme=dark; \(own); x=y"))
        for wrong in [
            nil, "", "=", own + "0", String(own.dropLast()), own.uppercased(), "x" + own, own + "=1",
        ] {
            #expect(!session.isOpen(to: wrong), "\(wrong ?? "none")")
        }
    }

    @Test func onlyWhatIsLetInCountsAsUse() async throws {
        let clock = DrivenClock()
        let session = ConsoleSession(clock: clock)
        let start = session.lastRequest
        clock.advance(by: .seconds(60))
        _ = session.isOpen(to: "ingestd-console=0")
        #expect(session.lastRequest == start)
        _ = try session.open(with: session.key)
        #expect(session.lastRequest == start + .seconds(60))
    }

    @Test func onlyRootAndTheServicesUserAreToldReadings() async throws {
        let desk = ReadingDesk(path: "/nowhere/queue.db")
        let question = ControlMessage.Readings(since: 0, subject: "patient-17")
        for user in [nil, 65_534] as [UInt32?] {
            await #expect(throws: ControlMessage.Refusal.self) {
                try await desk.readings(question, user: user)
            }
        }
        await #expect(throws: StoreError.self) { try await desk.readings(question, user: 0) }
    }

    @Test func aQuestionSaysWhoseReadings() async throws {
        let desk = ReadingDesk(path: "/nowhere/queue.db")
        for question in [
            ControlMessage.Readings(since: 0),
            .init(since: 0, device: BluetoothAddress("F1:F1:F1:F1:F1:F1"), subject: "patient-17"),
        ] {
            await #expect(throws: ControlMessage.Refusal.self) { try await desk.readings(question, user: 0) }
        }
    }
}
