import HTTPService

extension ControlServer {
    var orderRoutes: [HTTPRoute] {
        let orders = orders
        return [
            Self.route("POST", "/v1/scans") { request in
                let message: ControlMessage.Scan = try Self.message(of: request)
                return ControlMessage.Begun(id: try await orders.begin(try message.parsed()))
            },
            Self.route("POST", "/v1/reads") { request in
                let message: ControlMessage.Read = try Self.message(of: request)
                return ControlMessage.Begun(id: try await orders.begin(try message.parsed()))
            },
            Self.route("POST", "/v1/pairings") { request in
                let message: ControlMessage.Target = try Self.message(of: request)
                return ControlMessage.Begun(id: try await orders.begin(.pair(try message.parsed())))
            },
            Self.route("POST", "/v1/unpair") { request in
                let message: ControlMessage.Target = try Self.message(of: request)
                return ControlMessage.Unpaired(addresses: try await orders.unpair(try message.parsed()))
            },
            Self.route("GET", "/v1/orders/:id") { request in
                let steps = try await orders.steps(of: Self.id(of: request), after: Self.after(of: request))
                return ControlMessage.OrderSteps(steps: steps)
            },
            Self.route("POST", "/v1/orders/:id/answer") { request in
                let message: ControlMessage.Answer = try Self.message(of: request)
                try await orders.answer(try message.parsed(), to: Self.id(of: request), step: message.step)
                return ControlMessage.Done()
            },
            Self.route("DELETE", "/v1/orders/:id") { request in
                try await orders.cancel(Self.id(of: request))
                return ControlMessage.Done()
            },
        ]
    }
}

extension OrderRefusal {
    /// Of HTTP.
    var status: Int {
        switch self {
        case .notAllowed, .onlyBroadcasts, .needsNoPairing: 422
        case .busy, .notAsked: 409
        case .noKeeper: 503
        case .unknown: 404
        }
    }
}
