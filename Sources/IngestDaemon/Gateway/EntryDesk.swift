/// Takes entries into the queue, for the control socket or for a command that has the queue to itself.
struct EntryDesk: Sendable {
    let queue: SQLiteQueue
    let clock: JudgedClock
    /// Its id.
    let gateway: String
    let keeper: QueueKeeper

    func take(_ message: ControlMessage.Entries) async throws -> ControlMessage.Entered {
        guard let wall = clock.trustedWallNanoseconds else {
            throw ControlMessage.Refusal(
                error: "the gateway's clock is not known to be right, so nothing can be dated: set it, or "
                    + "gateway.trust_clock, and try again", reason: .noTime)
        }
        // What peripherals send has the last of the room.
        if keeper.level != .normal, message.entries.contains(where: { $0.origin != .manual }) {
            throw ControlMessage.Refusal(
                error:
                    "the queue is nearly full of records that are not delivered: see why a destination does "
                    + "not take them, or allow more (queue.max_size), and import again", reason: .queueFull)
        }
        let received = wall / 1_000_000_000
        let records = try message.entries.map { entry throws(ControlMessage.Refusal) in
            guard let record = EnteredRecord(entry, gateway: gateway, received: received) else {
                throw .malformed
            }
            return record
        }
        let image = try image(of: message, received: received)
        var room = ImageRoom.ample
        if let image { room = await keeper.room(forImageOfBytes: image.bytes.count) }
        let outcome = try await queue.entries.enter(records, image: image, room: room)
        return ControlMessage.Entered(
            added: outcome.news.count { $0 }, last: records.last?.id.text,
            image: outcome.image.map(ControlMessage.EnteredImage.init))
    }

    private func image(
        of message: ControlMessage.Entries, received: Int64
    ) throws(ControlMessage.Refusal) -> EnteredImage? {
        guard let image = message.image else { return nil }
        guard let entry = message.entries.last, EntryImage(image.data) == image.type,
            let entered = EnteredImage(image.data, of: entry, gateway: gateway, received: received)
        else { throw .malformed }
        return entered
    }
}
