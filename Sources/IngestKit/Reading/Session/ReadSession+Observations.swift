/// Generic health sensors: what they have stored, and what they observe.
extension ReadSession {
    /// As measurements, but a health sensor sends nothing before it is told to. What it has stored comes
    /// first: while it sends live observations it may refuse to report (response code 10).
    func readObservations() async throws(SessionError) {
        let live: Set = [GenericHealthSensor.live]
        let stored: Set = [GenericHealthSensor.stored]
        let access = GenericHealthSensor.recordAccess
        known.hasStoredRecords = try await hasAny(of: stored)
        if known.hasStoredRecords { known.hasStoredRecords = try await hasControlPoint(access) }
        guard known.hasStoredRecords else {
            try await subscribe()
            try await startLiveObservations()
            return try await takeAll()
        }
        try await subscribe { stored.contains($0.characteristic) }
        var refusal: SessionError?
        do throws(SessionError) {
            try await transfer(access, of: stored)
            hasSucceeded = true
        } catch {
            // Once the control point has answered, what it observes is to be had all the same.
            guard case .noReport = error, reporting == nil else { throw error }
            refusal = error
        }
        if try await hasAny(of: live) {
            try await subscribe { live.contains($0.characteristic) }
            try await startLiveObservations()
            var patience = Self.longestStreamPause
            while let value = try await values.next(within: patience) {
                try await take(value)
                guard committer.isIncomplete else { break }
                patience = Self.packetTimeout
            }
        }
        await details.read()
        try await takeFurther()
        guard let refusal else { return }
        // A memory that is not read to its end is a failure, whatever came after it.
        hasSucceeded = false
        throw refusal
    }

    private func startLiveObservations() async throws(SessionError) {
        let service = HealthSensorControl.service
        let controlPoint = HealthSensorControl.controlPoint
        do throws(LinkError) {
            guard try await link.has(controlPoint, in: service) else { return }
            try await link.subscribe(to: controlPoint, in: service)
            try await link.write(HealthSensorControl.startLiveObservations, to: controlPoint, in: service)
        } catch {
            throw .link(error)
        }
    }
}
