/// Generic health sensors: what they have stored, and what they observe.
extension ReadSession {
    /// As measurements, but a health sensor sends nothing before it is told to. What it has stored comes
    /// first: while it sends live observations it may refuse to report (response code 10).
    func readObservations(over link: any PeripheralLink) async throws(SessionError) {
        let live: Set = [GenericHealthSensor.live]
        let stored: Set = [GenericHealthSensor.stored]
        let access = GenericHealthSensor.recordAccess
        hasMemory = try await hasAny(of: stored, over: link)
        if hasMemory { hasMemory = try await hasControlPoint(access, over: link) }
        guard hasMemory else {
            try await subscribe(over: link)
            try await startLiveObservations(over: link)
            return try await takeAll(over: link)
        }
        try await subscribe(over: link) { stored.contains($0.characteristic) }
        var refusal: SessionError?
        do throws(SessionError) {
            try await transfer(access, of: stored, over: link)
            hasSucceeded = true
        } catch {
            // Once the control point has answered, what it observes is to be had all the same.
            guard case .noReport = error, reporting == nil else { throw error }
            refusal = error
        }
        if try await hasAny(of: live, over: link) {
            try await subscribe(over: link) { live.contains($0.characteristic) }
            try await startLiveObservations(over: link)
            var patience = Self.longestStreamPause
            while let value = try await nextValue(over: link, within: patience) {
                try await take(value, over: link)
                guard joining.isIncomplete else { break }
                patience = Self.packetTimeout
            }
        }
        try await readDetails(over: link)
        try await takeFurther(over: link)
        guard let refusal else { return }
        // A memory that is not read to its end is a failure, whatever came after it.
        hasSucceeded = false
        throw refusal
    }

    private func startLiveObservations(over link: any PeripheralLink) async throws(SessionError) {
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
