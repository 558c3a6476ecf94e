import IngestRecords
import Synchronization

/// Posts records as samples of Junction's time series and of the body's summary, for one person
/// (docs/destinations/junction.md).
///
/// A batch is as many requests as it has series, sources and stages. It counts as taken when all of them are.
package final class Junction: Destination {
    /// A request begins within this time, so that the last one ends before a delivery counts as stuck
    /// (`DeliveryWorker.requestBound`): it takes 70 s at most.
    private static let patience = Duration.seconds(55)
    /// Batches that are remembered: one of each lane, and one from before a split.
    private static let rememberedBatches = 3

    private let session: JunctionSession
    /// What the operator set, as of the last reload.
    private let settings: Mutex<JunctionSettings>
    /// How many requests of a batch were taken, by the batch; the newest is the last.
    private let progress = Mutex<[(batch: String, taken: Int)]>([])

    package init(session: JunctionSession) {
        self.session = session
        settings = Mutex(session.settings)
    }

    /// Takes over what the catalogue says now.
    /// - Parameter providers: the slugs of the catalogue's models, by their numbers.
    package func use(providers: [Int: String]) {
        settings.withLock { $0.providers = providers }
    }

    package func deliver(_ batch: OutgoingBatch) async -> DeliveryAnswer {
        let records = batch.records.compactMap { RecordContent(json: $0) }
        guard records.count == batch.records.count else { return .unfit("cannot be read") }
        let requests: [JunctionForm.Request]
        let (cycles, erasures) = await session.cycles
        do {
            requests = try JunctionForm.requests(for: records, settings.withLock { $0 }, cycles: cycles)
        } catch {
            return .unfit(error)
        }
        do throws(JunctionSession.Obstacle) {
            let answer = try await send(requests, before: session.client.clock.now + Self.patience)
            if case .taken = answer {
                try await session.add(records.compactMap(JunctionCycles.entry), after: erasures)
            }
            return answer
        } catch {
            return error.answer
        }
    }

    /// Reads the API key and the files of TLS anew before the next request.
    @discardableResult
    package func renew() async -> Bool {
        await session.renew()
        return true
    }

    /// Sends what was not taken before, in order, up to the first that is not taken.
    private func send(
        _ requests: [JunctionForm.Request], before limit: MonotonicInstant
    ) async throws(JunctionSession.Obstacle) -> DeliveryAnswer {
        let user = try await session.userID(before: limit)
        let batch = IdempotencyKey.of(Array(user.utf8) + requests.flatMap(\.body))
        var answer = DeliveryAnswer.taken(httpStatus: 200)
        for (index, request) in requests.enumerated().dropFirst(taken(of: batch)) {
            try await session.connect(request.provider, of: user, before: limit)
            answer = try await post(request, of: user, before: limit)
            if answer.mayMeanNoSource, await session.mayBeDisconnected(request.provider) {
                try await session.connect(request.provider, of: user, before: limit)
                answer = try await post(request, of: user, before: limit)
            }
            guard case .taken = answer else { return answer }
            remember(batch, taken: index + 1)
        }
        forget(batch)
        return answer
    }

    private func post(
        _ request: JunctionForm.Request, of user: String, before limit: MonotonicInstant
    ) async throws(JunctionSession.Obstacle) -> DeliveryAnswer {
        let client = session.client
        let url = session.settings.api + request.series.path(user: user)
        return try await session.authorized(before: limit) {
            await client.post(request.body, to: url, as: $0, packs: true)
        }.meaning
    }

    // MARK: - What of a batch was taken

    private func taken(of batch: String) -> Int {
        progress.withLock { $0.first { $0.batch == batch }?.taken ?? 0 }
    }

    private func remember(_ batch: String, taken: Int) {
        progress.withLock { known in
            known.removeAll { $0.batch == batch }
            known = known.suffix(Self.rememberedBatches - 1) + [(batch, taken)]
        }
    }

    private func forget(_ batch: String) {
        progress.withLock { $0.removeAll { $0.batch == batch } }
    }
}

extension DeliveryAnswer {
    /// Junction refuses data for a source that the user is not connected to; it does not say in public by which
    /// status.
    fileprivate var mayMeanNoSource: Bool {
        switch self {
        case .refused, .inProgress: true
        case .misplaced(let status, _): status == 404
        default: false
        }
    }
}
