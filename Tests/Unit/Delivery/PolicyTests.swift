import FoundationEssentials
import TestSupport
import Testing

@testable import IngestDelivery

@Suite struct PolicyTests {
    @Test(arguments: [(1, 1), (2, 2), (3, 4), (8, 128), (9, 256), (10, 300), (11, 300), (1_000_000, 300)])
    func theWaitDoublesUpToFiveMinutes(_ failures: Int, _ seconds: Int) {
        let policy = RetryPolicy.standard
        #expect(policy.delay(afterFailures: failures, retryAfter: nil, random: 1) == .seconds(seconds))
        #expect(policy.delay(afterFailures: failures, retryAfter: nil, random: 0.5) == .seconds(seconds) / 2)
        #expect(policy.delay(afterFailures: failures, retryAfter: nil, random: 0) == .zero)
    }

    @Test(arguments: [(1, 1), (2, 2), (5, 16), (6, 300), (7, 300), (1_000_000, 300)])
    func aRejectionIsLikeAFailureFiveTimes(_ rejections: Int, _ seconds: Int) {
        let policy = RetryPolicy.standard
        #expect(policy.delay(afterRejections: rejections, random: 1) == .seconds(seconds))
        let half = policy.delay(afterRejections: rejections, random: 0.5)
        #expect(half == (rejections > 5 ? .seconds(300) : .seconds(seconds) / 2))
    }

    @Test(arguments: [(0, 4), (3, 4), (120, 120), (3600, 3600), (86_400, 3600)])
    func aServersWishIsHonouredUpToAnHour(_ wish: Int, _ seconds: Int) {
        let delay = RetryPolicy.standard.delay(afterFailures: 3, retryAfter: .seconds(wish), random: 1)
        #expect(delay == .seconds(seconds))
    }

    /// Each of them may be replaced while the gateway runs.
    @Test func allFilesOfADestinationsCredentialsAreWatched() async throws {
        try await withTemporaryDirectory { directory in
            var form = WebhookSettings(url: "https://clinic.example/")
            form.signingKey = .named("key")
            var settings = DestinationSettings(name: "clinic", form: form)
            settings.credential = .path(directory + "/token")
            settings.transport = TransportSettings(
                caFile: directory + "/authorities", clientCertificate: .path(directory + "/certificate"),
                clientKey: .path(directory + "/client-key"))
            let files = settings.files(Credentials(environment: ["CREDENTIALS_DIRECTORY": directory]))
            for name in ["token", "key", "authorities", "certificate", "client-key"] {
                let file = URL(fileURLWithPath: directory + "/" + name)
                for text in ["old", "new"] {
                    let before = files.look()
                    try Data(text.utf8).write(to: file, options: .atomic)
                    #expect(files.look() != before, "\(name), \(text)")
                }
                _ = try Data(contentsOf: file)
                #expect(files.look() == files.look())
            }
        }
    }

    struct Header: Sendable, CustomTestStringConvertible {
        let text: String?
        var date: String?
        let seconds: Int64?
        var testDescription: String { text ?? "none" }
    }

    /// Against a clock of ours at Sun, 06 Nov 1994 08:49:37 GMT, which is 784111777 (RFC 9110 5.6.7).
    @Test(arguments: [
        Header(text: nil, seconds: nil),
        Header(text: "", seconds: nil),
        Header(text: "120", seconds: 120),
        Header(text: " 120\t", seconds: 120),
        Header(text: "0", seconds: 0),
        Header(text: "-5", seconds: nil),
        Header(text: "1.5", seconds: nil),
        Header(text: "99999999999999999999", seconds: Int64(Int32.max)),
        Header(text: "Sun, 06 Nov 1994 08:50:37 GMT", seconds: 60),
        Header(text: "Sun, 06 Nov 1994 08:48:37 GMT", seconds: 0),
        Header(text: "Tue, 29 Feb 2028 00:00:00 GMT", date: "Mon, 28 Feb 2028 23:59:30 GMT", seconds: 30),
        Header(
            text: "Wed, 01 Mar 2000 00:00:00 GMT", date: "Mon, 28 Feb 2000 00:00:00 GMT", seconds: 172_800),
        Header(text: "Sun, 06 Nov 1994 08:50:37 GMT", date: "nonsense", seconds: 60),
        Header(text: "Sun, 06 Nov 1994 24:00:00 GMT", seconds: nil),
        Header(text: "Sun, 06 Nox 1994 08:49:37 GMT", seconds: nil),
        Header(text: "Sun, 06 Nov 1994 08:49:37 CET", seconds: nil),
        Header(text: "soon", seconds: nil),
    ])
    func retryAfterIsSecondsOrADate(_ header: Header) {
        let parsed = RetryAfter.parse(header.text, date: header.date, nowSeconds: 784_111_777)
        #expect(parsed == header.seconds.map { .seconds($0) })
    }

    enum Outcome: Sendable {
        case taken, inProgress, refused, unfit, tooLarge, unauthorized, sessionEnded, misplaced, busy,
            unavailable, failing

        init(_ answer: DeliveryAnswer) {
            self =
                switch answer {
                case .taken: .taken
                case .inProgress: .inProgress
                case .refused: .refused
                case .unfit: .unfit
                case .tooLarge: .tooLarge
                case .unauthorized: .unauthorized
                case .sessionEnded: .sessionEnded
                case .misplaced: .misplaced
                case .busy: .busy
                case .unavailable: .unavailable
                case .failing: .failing
                }
        }
    }

    @Test(arguments: [
        (200, Outcome.taken), (201, .taken), (204, .taken), (301, .misplaced), (302, .misplaced),
        (307, .misplaced), (400, .refused), (401, .unauthorized), (403, .unauthorized), (404, .misplaced),
        (405, .misplaced), (407, .misplaced), (408, .unavailable), (409, .inProgress), (410, .misplaced),
        (412, .refused), (413, .tooLarge), (415, .refused), (418, .refused), (422, .refused), (425, .busy),
        (429, .busy), (500, .unavailable), (501, .unavailable), (503, .unavailable), (599, .unavailable),
        (700, .unavailable),
    ])
    func aStatusMeansOneThing(_ status: Int, _ expected: Outcome) {
        #expect(Outcome(DeliveryAnswer(httpStatus: status, retryAfter: nil, reply: nil)) == expected)
    }

    /// The pages are nginx 1.22's.
    @Test(arguments: [
        ("400 No required SSL certificate was sent", Outcome.unauthorized),
        ("400 The SSL certificate error", .unauthorized),
        ("400 The plain HTTP request was sent to HTTPS port", .misplaced),
        ("400 Bad Request", .refused),
        ("422 The SSL certificate error", .refused),
    ])
    func anAnswerAboutTheConnectionIsNotTakenForOneAboutTheContent(_ title: String, _ expected: Outcome) {
        let page = "<html>\r\n<head><title>\(title)</title></head>\r\n<body>"
        #expect(Outcome(DeliveryAnswer(httpStatus: 400, retryAfter: nil, reply: page)) == expected)
        #expect(Outcome(DeliveryAnswer(httpStatus: 400, retryAfter: nil, reply: title)) == .refused)
    }
}
