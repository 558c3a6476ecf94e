import BlueZBridge
import PeripheralSimulator
import TestSupport
import Testing

/// Adapters that do not work any more are switched off and on.
@Suite(.timeLimit(.minutes(15)))
struct AdapterResetTests {
    typealias Opcode = ManagementProtocol.Opcode

    private static let known = DeviceAddress(RadioBench.pinned, .random)

    /// Lets time pass in steps, with an advert of a listed device in each of them, or without.
    private func pass(
        _ duration: Duration, by step: Duration = .seconds(10), _ bench: RadioBench, hears: Bool = false
    ) async {
        let end = bench.clock.now + duration
        while bench.clock.now < end {
            await bench.clock.advance(by: step, bench.loop)
            if hears { await bench.kernel.advertise(.thermometerAdvert, from: Self.known) }
            await bench.loop.turned()
            // The next step would be too long for an answer, but for those that wait for the time.
            for _ in 0..<60 where await bench.radio.isAtWork { await bench.loop.turned() }
        }
    }

    /// What the adapter was told to do with its power, in order.
    private func powers(_ bench: RadioBench) async -> [[UInt8]] {
        await bench.kernel.received.filter { $0.opcode == Opcode.setPowered }.map(\.parameters)
    }

    @Test(arguments: [true, false])
    func aControllerThatDoesNotAnswerIsSwitchedOffAndOnAndHeardAgain(isBluetoothdRunning: Bool) async throws {
        let bench = try RadioBench(isBluetoothdRunning: isBluetoothdRunning)
        let listening = bench.listen()
        await bench.listening()
        await bench.kernel.die(.untilPoweredOn, 0)
        // Silence has the scan restarted, which the controller does not answer.
        await pass(.seconds(300), bench)
        #expect(await powers(bench) == [[0], [1]])
        let states = await bench.states { $0.first?.resets == 1 && $0.first?.isListening == true }
        #expect(states.first?.resetReason?.hasPrefix("no answer to command") == true)
        #expect(states.first?.isBeyondHelp == false)
        await bench.kernel.advertise(.thermometerAdvert, from: Self.known)
        var adverts = bench.radio.advertisements.makeAsyncIterator()
        #expect(await adverts.next()?.device == Self.known)
        // Nothing more is done to one that works.
        await pass(.seconds(3_600), bench, hears: true)
        #expect(await powers(bench) == [[0], [1]])
        listening.cancel()
        try await listening.value
    }

    /// The kernel still has something to disconnect, however often it is asked to.
    @Test(arguments: [(answers: 3, resets: 0), (answers: 20, resets: 1)])
    func anAttemptThatTheKernelKeepsHasTheAdapterSwitchedOffAndOn(answers: Int, resets: Int) async throws {
        let bench = try RadioBench()
        let listening = bench.listen()
        await bench.listening()
        await bench.kernel.answer(
            Opcode.disconnect,
            with: .init(repeating: .parameters([UInt8](repeating: 0, count: 7)), count: answers))
        // Nobody is there.
        let attempt = Task {
            try? await bench.radio.connect(
                to: Self.known, on: AdapterID(index: 0), remembered: nil, requiresEncryption: false)
        }
        _ = await bench.command(Opcode.disconnect)
        await pass(.seconds(20), by: .milliseconds(250), bench)
        #expect(await attempt.value == nil)
        #expect(await powers(bench).count == 2 * resets)
        if resets > 0 {
            let states = await bench.states { $0.first?.isListening == true }
            #expect(states.first?.resetReason == "a connection attempt that does not end")
        }
        listening.cancel()
        try await listening.value
    }

    /// Seen on Linux 6.12: the second question ends at once, although nobody answered it.
    @Test func aQuestionThatTheKernelEndsByItselfIsNoAnswer() async throws {
        let bench = try RadioBench()
        let listening = bench.listen()
        await bench.listening()
        await bench.kernel.die(.untilPoweredOn, 0)
        await bench.kernel.answer(
            Opcode.getClockInformation,
            with: [.late(.milliseconds(2_054)), .late(.milliseconds(34)), .late(.milliseconds(1_980))])
        // Until the silence is noticed, and the controller asked.
        while await !bench.kernel.received.contains(where: { $0.opcode == Opcode.getClockInformation }) {
            await pass(.seconds(1), by: .seconds(1), bench)
        }
        await pass(.seconds(10), by: .milliseconds(10), bench)
        #expect(await powers(bench) == [[0], [1]])
        listening.cancel()
        try await listening.value
    }

    @Test func whatDoesNotHelpThreeTimesIsToldAndTriedEachQuarterOfAnHour() async throws {
        let bench = try RadioBench()
        let listening = bench.listen()
        await bench.listening()
        await bench.kernel.die(.forGood, 0)
        await pass(.seconds(450), bench)
        let states = await bench.states { $0.first?.isBeyondHelp == true }
        #expect(states.first?.resets == 3)
        #expect(states.first?.isListening == false)
        await pass(.seconds(3_600), bench)
        // Off and on each time.
        let tries = await powers(bench).count / 2
        #expect((6...8).contains(tries), "\(tries) tries")
        // The radio waits for an answer of the controller, for which time has to pass.
        while await bench.radio.isAtWork { await bench.clock.advance(by: .seconds(1), bench.loop) }
        listening.cancel()
        try await listening.value
    }

    @Test func whoHearsNothingAfterADayOfAdvertsIsSwitchedOffOnce() async throws {
        let bench = try RadioBench()
        let listening = bench.listen()
        await bench.listening()
        await pass(.seconds(25 * 3_600), by: .seconds(60), bench, hears: true)
        #expect(await powers(bench) == [])
        await pass(.seconds(2 * 3_600), by: .seconds(30), bench)
        #expect(await powers(bench) == [[0], [1]])
        listening.cancel()
        try await listening.value
    }

    /// A cuff that is used twice a day, and nothing else.
    @Test func inAQuietHomeNothingIsSwitchedOffInAWeek() async throws {
        let bench = try RadioBench()
        let listening = bench.listen()
        await bench.listening()
        for _ in 0..<14 {
            await pass(.seconds(60), bench, hears: true)
            await pass(.seconds(12 * 3_600), by: .seconds(60), bench)
        }
        #expect(await powers(bench) == [])
        listening.cancel()
        try await listening.value
    }
}
