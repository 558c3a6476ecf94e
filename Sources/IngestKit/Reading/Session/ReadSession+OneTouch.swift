/// Drives LifeScan's own protocol over the link.
extension ReadSession {
    /// Reads what the meter has measured since the last exchange that was finished.
    func readOneTouchMeter() async throws(SessionError) {
        try await subscribe()
        forgetMarkOfOtherHistory()
        while try await exchange() {}
        hasSucceeded = true
        await details.read()
    }

    /// - Returns: whether the meter has more than one exchange takes.
    private func exchange() async throws(SessionError) -> Bool {
        let way = RecordCommitter.Way.stored(isFirstTransfer: known.memory.storedRecords == nil)
        var exchange = OneTouchVerioExchange(after: try await oneTouchMark())
        var step = exchange.start()
        var newest = known.memory.storedRecords?.mark
        var leftCount = 0
        while true {
            for packet in step.packets { try await write(packet) }
            switch step.end {
            case .failed(let failure): throw .noReport(failure.message)
            case .done(let last, let hasMore):
                // Records that are missing at the end are not asked for again.
                let number = max(newest?.number ?? 0, last.map { Int($0) } ?? 0)
                newest?.number = number
                try await remember(newest)
                tellSkipped(leftCount)
                return hasMore
            case nil: break
            }
            guard let value = try await values.next(within: Self.firstValueTimeout) else {
                throw .noReport("the meter stopped in the middle of reporting its records")
            }
            step = exchange.received(value.value)
            guard let record = step.record else { continue }
            committer.setRecordNumber(Int(record.number))
            let payload = ReceivedValue(
                characteristic: value.characteristic, value: record.payload, isIndication: false,
                received: value.received)
            let (id, transfer) = try await committer.commit(
                [payload], way: way, transfer: StoredTransfer(filter: .sequenceNumber, memory: nil))
            leftCount += transfer?.leftCount ?? 0
            // One that stays in the meter is known by its id all the same.
            guard let name = id?.text ?? transfer?.memory(session: nil, history: nil).mark?.id else {
                continue
            }
            newest = StoredRecordsMemory.Mark(number: Int(record.number), id: name)
        }
    }

    /// The mark, with the record that it stands for: when the meter has another one there, its memory
    /// was cleared.
    private func oneTouchMark() async throws(SessionError) -> OneTouchVerioExchange.Mark? {
        guard let mark = known.memory.storedRecords?.mark, let number = UInt16(exactly: mark.number) else {
            return nil
        }
        let stored: StoredPayload?
        do {
            stored = try await environment.store.record(
                numbered: mark.number, kind: .glucose, of: known.device.address)
        } catch {
            throw environment.storeFailure(error)
        }
        return OneTouchVerioExchange.Mark(
            number: number, record: stored.flatMap { $0.id.text == mark.id ? $0.bytes : nil })
    }

    private func remember(_ mark: StoredRecordsMemory.Mark?) async throws(SessionError) {
        known.memory.storedRecords = StoredRecordsMemory(mark: mark, history: entry.history.description)
        guard known.outlivesRun else { return }
        do {
            _ = try await environment.store.commit(QueueTransaction(memory: (known.device, known.memory)))
        } catch {
            throw environment.storeFailure(error)
        }
    }

    private func write(_ packet: [UInt8]) async throws(SessionError) {
        do {
            try await link.writeWithoutResponse(packet, to: OneTouchVerio.command, in: OneTouchVerio.service)
        } catch {
            throw .link(error)
        }
    }
}
