import FlyingFox
import IngestKit

extension ControlServer {
    func addOrderRoutes(to server: HTTPServer) async {
        let orders = orders
        await server.appendRoute("POST /v1/scans") { request in
            await Self.reply {
                let message: ControlMessage.Scan = try await Self.message(of: request)
                return ControlMessage.Begun(id: try await orders.begin(try message.parsed()))
            }
        }
        await server.appendRoute("POST /v1/reads") { request in
            await Self.reply {
                let message: ControlMessage.Read = try await Self.message(of: request)
                return ControlMessage.Begun(id: try await orders.begin(try message.parsed()))
            }
        }
        await server.appendRoute("GET /v1/orders/:id") { request in
            let after = request.query.first { $0.name == "after" }.flatMap { Int($0.value) } ?? 0
            return await Self.reply {
                let steps = try await orders.steps(of: Self.id(of: request), after: max(0, after))
                return ControlMessage.OrderSteps(steps: steps)
            }
        }
        await server.appendRoute("DELETE /v1/orders/:id") { request in
            await Self.reply {
                try await orders.cancel(Self.id(of: request))
                return ControlMessage.Done()
            }
        }
    }
}

extension OrderRefusal {
    /// Of HTTP.
    var status: Int {
        switch self {
        case .notAllowed, .onlyBroadcasts: 422
        case .busy: 409
        case .unknown: 404
        }
    }
}
