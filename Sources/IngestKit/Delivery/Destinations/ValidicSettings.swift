/// What the operator set for Validic.
package struct ValidicSettings: Sendable, Hashable {
    /// Which of Validic's APIs takes the records.
    package enum API: Sendable, Hashable {
        /// Inform Connect. `sourceType` is what Validic calls the gateway as a source of records.
        case inform(sourceType: String = "ingestd")
        /// The first one, with Validic's ids of the organization and of its user.
        case v1(organization: String, userID: String)
    }

    /// The person whose access token it is, by the name that records have as `subject`.
    package let user: String
    package let api: API
    /// Where the API is, up to `/connect` or `/v1`, without a slash at its end.
    let base: String

    /// - Parameter url: nil for Validic's own host of that API.
    package init(user: String, url: String? = nil, api: API = .inform()) {
        self.user = user
        self.api = api
        let url = url ?? api.host
        base = url.hasSuffix("/") ? String(url.dropLast()) : url
    }
}

extension ValidicSettings.API {
    fileprivate var host: String {
        switch self {
        case .inform: "https://api.v2.validic.com"
        case .v1: "https://api.validic.com"
        }
    }
}

extension DestinationSettings {
    /// Which API a destination of type validic posts to.
    package enum ValidicAPI: String, Sendable, Hashable, CaseIterable {
        case inform, v1
    }

    /// How a destination of type validic delivers the records of this person.
    package func validicSettings(user: String) -> ValidicSettings {
        let api: ValidicSettings.API =
            switch validicAPI {
            case .inform: applicationID.map { .inform(sourceType: $0) } ?? .inform()
            case .v1: .v1(organization: organization ?? "", userID: userID ?? user)
            }
        return ValidicSettings(user: user, url: url, api: api)
    }
}
