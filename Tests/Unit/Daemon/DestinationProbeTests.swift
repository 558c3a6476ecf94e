import FoundationEssentials
import TestSupport
import Testing

@testable import IngestDaemon

/// A network whose every answer a test decides, and that notes what it is asked.
private struct FakeNetwork: DestinationNetwork {
    var resolve: Failure?
    var connect: Failure?
    var certificate: Result<CertificateDates, Failure> = .success(
        CertificateDates(notBefore: 0, notAfter: 4_000_000_000))
    var outcome = TrialOutcome.accepted
    var answer = DeliveryAnswer.taken(httpStatus: 200)
    var hangs = false
    let seen = Seen()

    final class Seen: Sendable {
        let asked = Noted<Void>()
        let batches = Noted<OutgoingBatch>()
        let hosts = Noted<String>()
        let ports = Noted<Int>()
    }

    func resolve(_ host: String) async throws(Failure) {
        seen.hosts.note(host)
        if let resolve { throw resolve }
    }

    func connect(to host: String, port: Int, isProxy: Bool) async throws(Failure) {
        seen.ports.note(port)
        if let connect { throw connect }
    }

    func certificate(at url: String, _ parts: DestinationParts) async throws(Failure) -> CertificateDates {
        try certificate.get()
    }

    func tryOut(_ form: any DestinationForm, _ parts: DestinationParts) async -> TrialOutcome {
        seen.asked.note(())
        if hangs { try? await Task.sleep(for: .seconds(3600)) }
        return outcome
    }

    func deliver(
        _ batch: OutgoingBatch, to form: any DestinationForm, _ parts: DestinationParts
    ) async -> DeliveryAnswer {
        seen.batches.note(batch)
        return answer
    }
}

@Suite struct DestinationProbeTests {
    private let failure = HTTPTransport.Failure(message: "the connection was refused")

    private func webhook(_ change: (inout DestinationSettings) -> Void = { _ in }) -> DestinationSettings {
        var settings = DestinationSettings(
            name: "clinic", form: WebhookSettings(url: "https://clinic.example/secret-path"))
        change(&settings)
        return settings
    }

    private func probe(
        _ network: FakeNetwork, clock: any GatewayClock = DrivenClock(wall: DrivenClock.morning),
        mayReadAll: Bool = true
    ) throws -> DestinationProbe {
        let configuration = try sampleConfiguration("gateway: {id: box, state_directory: /nowhere}")
        return DestinationProbe(
            surroundings: DestinationProbe.Surroundings(
                configuration, credentials: Credentials(environment: [:]), mayReadAll: mayReadAll),
            network: network, clock: clock, permissions: { _ in 0o644 })
    }

    /// Check and level of each finding.
    private func short(_ findings: [Finding]) -> [String] {
        findings.map { "\($0.check.rawValue) \($0.level.rawValue)" }
    }

    @Test func eachStepIsToldInItsOrder() async throws {
        let network = FakeNetwork()
        let findings = try await probe(network).findings(of: webhook())
        #expect(short(findings) == ["dns ok", "tcp ok", "tls ok", "request ok"])
        #expect(findings.allSatisfy { $0.destination == "clinic" && $0.remedy == nil })
        #expect(network.seen.hosts.all == ["clinic.example"] && network.seen.ports.all == [443])
        #expect(network.seen.batches.all.isEmpty)
    }

    @Test func theFirstStepThatFailsIsTheLast() async throws {
        let name = try await probe(FakeNetwork(resolve: failure)).findings(of: webhook())
        #expect(short(name) == ["dns error"])
        let port = try await probe(FakeNetwork(connect: failure)).findings(of: webhook())
        #expect(short(port) == ["dns ok", "tcp error"])
        let certificate = try await probe(FakeNetwork(certificate: .failure(failure)))
            .findings(of: webhook())
        #expect(short(certificate) == ["dns ok", "tcp ok", "tls error"])
        for findings in [name, port, certificate] { #expect(findings.last?.remedy != nil) }
    }

    @Test func nothingOfTheURLIsTold() async throws {
        for network in [FakeNetwork(), FakeNetwork(resolve: failure), FakeNetwork(connect: failure)] {
            for finding in try await probe(network).findings(of: webhook()) {
                #expect(!(finding.message + (finding.remedy ?? "")).contains("clinic.example"))
                #expect(!(finding.message + (finding.remedy ?? "")).contains("secret-path"))
            }
        }
    }

    @Test func aCertificateIsWarnedOfForTwoWeeksBeforeItsEnd() async throws {
        let now = DrivenClock.morning / 1_000_000_000
        func level(_ days: Int64) async throws -> [String] {
            let dates = CertificateDates(notBefore: 0, notAfter: now + days * 86_400 + 60)
            return short(
                try await probe(FakeNetwork(certificate: .success(dates))).findings(of: webhook())
                    .filter { $0.check == .tls })
        }
        #expect(try await level(14) == ["tls ok"])
        #expect(try await level(13) == ["tls warning"])
        #expect(try await level(0) == ["tls warning"])
    }

    @Test func anAddressIsNotLookedUpAndPlainTextHasNoCertificate() async throws {
        let settings = DestinationSettings(
            name: "near", form: WebhookSettings(url: "http://127.0.0.1:8099/readings"))
        let network = FakeNetwork()
        #expect(short(try await probe(network).findings(of: settings)) == ["tcp ok", "request ok"])
        #expect(network.seen.hosts.all.isEmpty && network.seen.ports.all == [8099])
    }

    @Test func throughAProxyTheProxyIsFound() async throws {
        let network = FakeNetwork()
        let settings = webhook { $0.transport.proxy = ProxyAddress(url: "http://proxy.example:3128") }
        let findings = try await probe(network).findings(of: settings)
        #expect(short(findings) == ["dns ok", "tcp ok", "tls ok", "request ok"])
        #expect(network.seen.hosts.all == ["proxy.example"] && network.seen.ports.all == [3128])
    }

    @Test(arguments: [
        ("https://status.example/box", ["status.example"], [443, 443]),
        ("https://clinic.example:8443/box", ["clinic.example"], [443, 8443]),
        ("http://localhost:8099/box", ["localhost"], [443, 8099]),
        // The server that gets the records.
        ("https://clinic.example/box", [], [443]),
    ])
    func whereStatusDocumentsGoIsLookedAtToo(_ url: String, _ hosts: [String], _ ports: [Int]) async throws {
        var form = WebhookSettings(url: "https://clinic.example/secret-path")
        form.status = StatusSettings(url: url)
        let network = FakeNetwork()
        let findings = try await probe(network)
            .findings(of: DestinationSettings(name: "clinic", form: form))
        #expect(network.seen.hosts.all == ["clinic.example"] + hosts && network.seen.ports.all == ports)
        let further = findings.dropFirst(4)
        let checks = url.hasPrefix("https") ? ["dns ok", "tcp ok", "tls ok"] : ["dns ok", "tcp ok"]
        #expect(short(Array(further)) == (hosts.isEmpty ? [] : checks))
        #expect(further.allSatisfy { $0.message.contains("status.url") })
    }

    @Test func anAnswerIsToldForWhatItMeans() async throws {
        func last(_ outcome: TrialOutcome) async throws -> String {
            short(try await probe(FakeNetwork(outcome: outcome)).findings(of: webhook())).last ?? ""
        }
        #expect(try await last(.none) == "request ok")
        #expect(try await last(.notAllowed(httpStatus: 403)) == "request warning")
        #expect(try await last(.failed(.unauthorized(httpStatus: 401))) == "request error")
        #expect(
            try await last(.failed(.unavailable(httpStatus: 503, error: "HTTP 503", retryAfter: nil)))
                == "request error")
    }

    @Test func aServerThatNeverAnswersIsGivenUp() async throws {
        let clock = DrivenClock(wall: DrivenClock.morning)
        let network = FakeNetwork(hangs: true)
        let probe = try probe(network, clock: clock)
        let task = Task { await probe.findings(of: webhook()) }
        try await eventually("the last step") { !network.seen.asked.all.isEmpty }
        // The step's limit may begin a moment later than the step.
        let driver = Task {
            while !Task.isCancelled {
                clock.advance(by: .seconds(1))
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        let findings = await task.value
        driver.cancel()
        #expect(findings.last?.level == .error)
        #expect(findings.last?.message.contains("10 s") == true)
    }

    @Test func ofABrokerTheLoginHasTheLastWord() async throws {
        let settings = try #require(broker)
        let trusted = FakeNetwork(certificate: .failure(failure))
        #expect(
            short(try await probe(trusted).findings(of: settings)) == ["dns ok", "tcp ok", "request ok"])
        var refused = trusted
        refused.outcome = .failed(.unauthorized(httpStatus: nil, error: "does not take user and password"))
        #expect(
            short(try await probe(refused).findings(of: settings)) == ["dns ok", "tcp ok", "request error"])
        var broken = trusted
        broken.outcome = .failed(.unavailable(httpStatus: nil, error: "TLS failed", retryAfter: nil))
        #expect(
            short(try await probe(broken).findings(of: settings)) == ["dns ok", "tcp ok", "tls error"])
    }

    @Test func aBrokerIsReachedWithoutProxy() async throws {
        var settings = try #require(broker)
        settings.transport.proxy = ProxyAddress(url: "http://proxy.example:3128")
        let network = FakeNetwork()
        _ = try await probe(network).findings(of: settings)
        #expect(network.seen.hosts.all == ["broker.example"] && network.seen.ports.all == [8883])
    }

    private var broker: DestinationSettings? {
        try? sampleConfiguration(
            "destinations: [{name: broker, type: mqtt, url: \"mqtts://broker.example\"}]"
        ).destinations.first
    }

    @Test func withoutItsCredentialNothingIsAsked() async throws {
        let settings = webhook { $0.credential = .path("/nowhere/token") }
        let findings = try await probe(FakeNetwork()).findings(of: settings)
        #expect(short(findings) == ["credential error", "dns ok", "tcp ok", "tls ok"])
        let named = try await probe(FakeNetwork()).findings(of: webhook { $0.credential = .named("token") })
        #expect(named.first?.remedy?.contains("LoadCredential=token:FILE") == true)
    }

    @Test func whatAnotherUserMayReadIsNoError() async throws {
        let settings = webhook { $0.credential = .named("token") }
        let findings = try await probe(FakeNetwork(), mayReadAll: false).findings(of: settings)
        #expect(short(findings) == ["credential warning", "dns ok", "tcp ok", "tls ok"])
        #expect(findings.first?.remedy == "sudo ingestd doctor")
    }

    @Test func whatTheUnitLoadsIsNoErrorWhereItCannotBeRead() async throws {
        var probe = try probe(FakeNetwork())
        probe.surroundings.loaded = ["token"]
        let findings = await probe.findings(of: webhook { $0.credential = .named("token") })
        #expect(short(findings) == ["credential warning", "dns ok", "tcp ok", "tls ok"])
    }

    @Test func theServicesUserCountsInsteadOfRoot() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/token"
            try "secret\n".write(toFile: path, atomically: true, encoding: .utf8)
            var probe = try probe(FakeNetwork())
            probe.permissions = { _ in 0o600 }
            probe.surroundings.user = ServiceUser(
                name: "ingestd", id: 5, groups: [5],
                rights: { name in
                    let isFile = name == path
                    return FileRights(
                        owner: 0, group: 0, permissions: isFile ? 0o600 : 0o755, isDirectory: !isFile)
                })
            let findings = await probe.findings(of: webhook { $0.credential = .path(path) })
            #expect(findings.first?.level == .error)
            #expect(findings.first?.remedy == "sudo chgrp ingestd \(path) && sudo chmod g+r \(path)")
        }
    }

    @Test func aCredentialForEverybodyIsWarnedOf() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/token"
            try "secret\n".write(toFile: path, atomically: true, encoding: .utf8)
            let findings = try await probe(FakeNetwork()).findings(
                of: webhook { $0.credential = .path(path) })
            #expect(short(findings).first == "credential warning" && findings.count == 5)
            #expect(findings.first?.remedy == "sudo chmod o-r \(path)")
        }
    }

    @Test func theTestRecordIsNobodysAndMarked() async throws {
        let network = FakeNetwork()
        let findings = try await probe(network).sendTest(to: webhook())
        #expect(short(findings).last == "test-record ok")
        let record = try #require(network.seen.batches.all.first?.records.first)
        let content = try #require(RecordContent(json: record))
        #expect(content.isSimulated && content.subject == nil && content.reasonIsTest != nil)
        #expect(record.contains(#""value":null,"absent":"not-a-number""#))
    }

    @Test func whereNoTestRecordMayGoThatIsSaid() async throws {
        let unfit = try await probe(FakeNetwork(answer: .unfit(.unassigned))).sendTest(to: webhook())
        #expect(short(unfit) == ["dns ok", "tcp ok", "tls ok", "request ok", "test-record warning"])
        let network = FakeNetwork()
        let kinds = try await probe(network).sendTest(to: webhook { $0.kinds = [.weight] })
        #expect(short(kinds).last == "test-record warning" && network.seen.batches.all.isEmpty)
        let refused = try await probe(
            FakeNetwork(answer: .refused(httpStatus: 422, error: "HTTP 422", reply: "words"))
        ).sendTest(to: webhook())
        #expect(short(refused).last == "test-record error")
        #expect(refused.last?.message.contains("words") == false)
    }

    @Test func nothingIsSentToWhatCannotBeReached() async throws {
        let network = FakeNetwork(connect: failure)
        #expect(short(try await probe(network).sendTest(to: webhook())).last == "tcp error")
        #expect(network.seen.batches.all.isEmpty)
    }
}
