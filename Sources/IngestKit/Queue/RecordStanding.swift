/// Where a record stands at one destination, by the routing of the present configuration.
package struct RecordStanding: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        case waiting
        /// It is in a stored batch: it was sent or is sent next, and was not taken yet.
        case onItsWay = "on-its-way"
        /// The destination took it, or an operator gave it up. Its event `submitted` tells which.
        case done
        case setAside = "set-aside"
        case notForIt = "not-for-it"
        /// It is for the destination, which has no form for its kind.
        case withoutForm = "without-form"
        /// The configuration names the destination no more, which has not taken it.
        case notConfigured = "not-configured"

        /// For people.
        package var message: String {
            switch self {
            case .waiting: "waiting"
            case .onItsWay: "on its way"
            case .done: "delivered, unless an operator gave it up"
            case .setAside: "set aside"
            case .notForIt: "not for it"
            case .withoutForm: "not for it: it has no form for such a record"
            case .notConfigured: "not configured any more"
            }
        }
    }

    package let destination: String
    package let state: State
    /// Of what is set aside; 0 where nothing was sent.
    package var attempt: Int?
    package var httpStatus: Int?
    /// In our words.
    package var error: String?

    package init(
        destination: String, state: State, attempt: Int? = nil, httpStatus: Int? = nil, error: String? = nil
    ) {
        self.destination = destination
        self.state = state
        self.attempt = attempt
        self.httpStatus = httpStatus
        self.error = error
    }
}

/// A record that was asked for by its id, the beginning of one, or its tag.
package struct FoundRecord: Sendable, Equatable {
    /// Why it goes nowhere for now.
    package enum Obstacle: String, Sendable, CaseIterable {
        /// It was dealt with by all destinations, and has left the queue; its id alone is kept.
        case gone
        case undecoded
        case damaged
        /// Its time waits for the clock of the gateway.
        case undated
        /// Its link has not ended.
        case incomplete

        /// For people.
        package var message: String {
            switch self {
            case .gone: "has left the queue: every destination has dealt with it"
            case .undecoded: "could not be decoded, so that no destination gets it"
            case .damaged: "is damaged in the queue"
            case .undated: "waits for the clock of this box"
            case .incomplete: "waits for the end of its link"
            }
        }
    }

    package let id: String
    /// Nil where its content cannot be shown.
    package let record: RecordSummary?
    package let obstacle: Obstacle?
    /// In the order of the destinations' names; empty where it goes to none.
    package let standings: [RecordStanding]

    package init(id: String, record: RecordSummary?, obstacle: Obstacle?, standings: [RecordStanding]) {
        self.id = id
        self.record = record
        self.obstacle = obstacle
        self.standings = standings
    }
}

/// No record can be told from what was asked for.
package enum RecordRefusal: Error, Sendable, Equatable {
    case unknown(String)
    case ambiguous(String)

    package var message: String {
        switch self {
        case .unknown(let name): "\(name): no record that the queue knows has this id or tag"
        case .ambiguous(let name): "\(name): several records have an id that begins so: write more of it"
        }
    }
}
