/// Some questions over the system bus, on a connection and a thread of their own.
struct BusInquiry: Sendable {
    /// All questions together.
    private static let limit = Duration.seconds(10)
    /// Each question.
    private static let answerLimit = Duration.seconds(5)

    var address = BusConnection.Address.system

    /// A connection to the system bus, for the questions of one inquiry.
    struct Bus: Sendable {
        fileprivate let connection: BusConnection

        func ask(_ call: BusCall) async throws(BusError) -> [BusValue] {
            try await connection.call(call, within: BusInquiry.answerLimit)
        }
    }

    /// - Returns: nil without a bus, if a question has no answer, and after 10 s.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (Bus) async throws(BusError) -> Value
    ) async -> Value? {
        let clock = SystemClock()
        guard let loop = try? RadioLoop(clock: clock) else { return nil }
        let address = address
        let connection = await loop.perform {
            try? BusConnection(address, loop: loop, handlers: BusConnection.Handlers())
        }
        guard let connection else {
            loop.stop()
            return nil
        }
        let result = await Task { try? await body(Bus(connection: connection)) }
            .result(within: Self.limit, by: clock)
        // Ends the questions under way, too.
        await loop.perform { connection.close() }
        loop.stop()
        guard case .success(let value)? = result else { return nil }
        return value
    }
}
