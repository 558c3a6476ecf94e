import FoundationEssentials
import HTTPService
import NIOHTTP1

/// What the page asks for, on loopback: its own files, and what the service answers on the control socket. It does
/// nothing itself but write the entry of a device.
struct ConsoleServer: Sendable {
    private static let bodyLimit = 1 << 14
    /// A browser opens six connections; longer than the poll for steps takes, 10 s. The page has one session.
    static let bounds = HTTPServer.Bounds(connections: 32, bodies: 1 << 20, patience: .seconds(60))

    /// Requests of the control socket that the page may make.
    private static let forwarded: [(HTTPMethod, String)] = [
        (.GET, "/v1/status"), (.POST, "/v1/scans"), (.POST, "/v1/reads"), (.POST, "/v1/pairings"),
        (.POST, "/v1/orders/:id/answer"), (.DELETE, "/v1/orders/:id"), (.POST, "/v1/failed/retry"),
        (.POST, "/v1/failed/drop"), (.POST, "/v1/readings"),
    ]

    /// The page loads nothing from elsewhere, runs in no frame, and is stored nowhere.
    private static let headers = [
        "Content-Security-Policy":
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
    ]

    let session: ConsoleSession
    let client: ControlClient
    let service: ServiceOptions

    var routes: [HTTPRoute] {
        [
            file("/", PackageResources.console_html, "text/html; charset=utf-8"),
            file("/console.css", PackageResources.console_css, "text/css; charset=utf-8"),
            file("/console.js", PackageResources.console_js, "text/javascript; charset=utf-8"),
            HTTPRoute("POST", "/session", bodyLimit: Self.bodyLimit) { request in
                Self.guarded(request) { open(request) }
            },
            route("GET", "/v1/orders/:id") { await steps($0) },
            route("POST", "/devices") { await addDevice($0) },
        ]
            + Self.forwarded.map { method, path in
                route(method.rawValue, path) { await forward(method, path, $0) }
            }
    }

    // MARK: Who may ask

    /// The page itself holds nothing that is anybody's.
    private func file(_ path: String, _ bytes: [UInt8], _ type: String) -> HTTPRoute {
        HTTPRoute("GET", path, bodyLimit: 0) { request in
            Self.guarded(request) { HTTPAnswer(200, headers: ["Content-Type": type], body: bytes) }
        }
    }

    private func route(
        _ method: String, _ path: String, _ answer: @escaping @Sendable (HTTPRequest) async -> HTTPAnswer
    ) -> HTTPRoute {
        HTTPRoute(method, path, bodyLimit: Self.bodyLimit) { request in
            await Self.guarded(request) {
                guard session.isOpen(to: request.header("Cookie")) else {
                    return Self.refusal(
                        401, "this page is not open: start ingestd console, and open its address")
                }
                return await answer(request)
            }
        }
    }

    private static func guarded(
        _ request: HTTPRequest, _ body: () async -> HTTPAnswer
    ) async -> HTTPAnswer {
        var answer = isFromThePage(request) ? await body() : refusal(403, "this request is not the page's")
        answer.headers.merge(headers) { one, _ in one }
        return answer
    }

    private static func guarded(_ request: HTTPRequest, _ body: () -> HTTPAnswer) -> HTTPAnswer {
        var answer = isFromThePage(request) ? body() : refusal(403, "this request is not the page's")
        answer.headers.merge(headers) { one, _ in one }
        return answer
    }

    /// A page elsewhere can have a browser send requests here: by a name of its own that leads to this machine, which
    /// the Host tells, or to our address, which the Origin tells. A browser sends an Origin with whatever changes
    /// something (Fetch Standard, 3.2).
    static func isFromThePage(_ request: HTTPRequest) -> Bool {
        guard let host = request.header("Host"), isLoopback(host) else { return false }
        guard let origin = request.header("Origin") else { return request.method == "GET" }
        return origin == "http://\(host)"
    }

    /// Whatever the port: the page may be reached through another one (ssh -L).
    private static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ":", omittingEmptySubsequences: false)
        guard let name = parts.first, name == "127.0.0.1" || name == "localhost", parts.count <= 2 else {
            return false
        }
        return parts.count == 1 || UInt16(parts[1]) != nil
    }

    private func open(_ request: HTTPRequest) -> HTTPAnswer {
        struct Message: Decodable {
            var key: String
        }
        let message = request.body.flatMap { try? JSONDecoder().decode(Message.self, from: Data($0)) }
        do throws(ConsoleSession.Refusal) {
            let cookie = try session.open(with: message?.key ?? "")
            return Self.json(200, ControlMessage.Done(), headers: ["Set-Cookie": cookie])
        } catch {
            switch error {
            case .unknown: return Self.refusal(403, "this address is not of the ingestd console that runs")
            case .used:
                return Self.refusal(
                    403, "this address was opened before, and opens once: start ingestd console again")
            }
        }
    }

    // MARK: What it answers

    private func forward(_ method: HTTPMethod, _ path: String, _ request: HTTPRequest) async -> HTTPAnswer {
        guard let path = Self.path(path, request) else { return Self.refusal(404, "there is no such order") }
        do throws(ControlClient.Failure) {
            let answer = try await client.forward(
                method, String(path.dropFirst("/v1".count)), method == .POST ? Data(request.body ?? []) : nil)
            return HTTPAnswer(
                answer.status, headers: ["Content-Type": "application/json"], body: Array(answer.body))
        } catch {
            return failure(error)
        }
    }

    /// With the order's name in its place, which has letters and digits alone.
    private static func path(_ path: String, _ request: HTTPRequest) -> String? {
        guard let id = request.parameters["id"] else { return path }
        guard !id.isEmpty, id.utf8.count <= 64, id.utf8.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x7A ~= $0 })
        else { return nil }
        return path.replacing(":id", with: id)
    }

    /// The steps of an order, and what the catalogue makes of the devices that a scan found.
    private func steps(_ request: HTTPRequest) async -> HTTPAnswer {
        struct Answer: Encodable {
            var steps: [OperatorStep]
            var devices: [FoundDevice]?
        }
        guard let id = Self.path(":id", request) else { return Self.refusal(404, "there is no such order") }
        let after = max(0, request.query("after").flatMap { Int($0) } ?? 0)
        do throws(ControlClient.Failure) {
            var answer = Answer(steps: try await client.orderSteps(of: id, after: after))
            for place in answer.steps.indices {
                if let devices = answer.steps[place].devices { answer.devices = matched(devices) }
                answer.steps[place].devices = nil
            }
            return Self.json(200, answer)
        } catch {
            return failure(error)
        }
    }

    private func matched(_ devices: [AirDevice]) -> [FoundDevice] {
        let additions = Catalogue.additions(besideConfiguration: service.path)
        guard let catalogue = try? Catalogue.load(additions: additions).catalogue else { return [] }
        return devices.map { FoundDevice($0, catalogue: catalogue, readableProfiles: Profiles.names) }
    }

    /// Writes the entry of a device into a file of conf.d; answers with it where this user may not.
    private func addDevice(_ request: HTTPRequest) async -> HTTPAnswer {
        struct Message: Decodable {
            var id: Int
            var address: BluetoothAddress
            var alias: String?
            var subject: String?
        }
        struct Answer: Encodable {
            var written: Bool
            var path: String
            var entry: String
        }
        guard let message = request.body.flatMap({ try? JSONDecoder().decode(Message.self, from: Data($0)) }),
            let catalogue = try? Catalogue.load(
                additions: Catalogue.additions(besideConfiguration: service.path)
            ).catalogue,
            let model = catalogue[message.id]
        else { return Self.refusal(400, "expected a model of the catalogue and a device's address") }
        let entry = EntryText.item(
            model, address: message.address, alias: message.alias, subject: message.subject)
        let piece = DevicePiece(
            besideConfiguration: service.path, named: message.alias ?? message.address.description)
        do throws(CommandFailure) {
            _ = try piece.write(entry)
        } catch {
            guard error.status == .noPermission else { return Self.refusal(422, error.message) }
            return Self.json(200, Answer(written: false, path: piece.path, entry: entry))
        }
        do throws(ControlClient.Failure) {
            try await client.reload()
            return Self.json(200, Answer(written: true, path: piece.path, entry: entry))
        } catch {
            return failure(error)
        }
    }

    private func failure(_ failure: ControlClient.Failure) -> HTTPAnswer {
        let status =
            switch failure {
            case .noService: 503
            case .noPermission: 403
            case .refused: 422
            case .broken: 502
            }
        return Self.refusal(status, CommandFailure(failure, path: client.path).message)
    }

    private static func refusal(_ status: Int, _ words: String) -> HTTPAnswer {
        json(status, ["error": words])
    }

    private static func json(
        _ status: Int, _ body: some Encodable, headers: [String: String] = [:]
    ) -> HTTPAnswer {
        // What is encoded here are strings and numbers.
        let data = (try? JSONEncoder().encode(body)) ?? Data("{}".utf8)
        return HTTPAnswer(
            status, headers: headers.merging(["Content-Type": "application/json"]) { one, _ in one },
            body: Array(data))
    }
}
