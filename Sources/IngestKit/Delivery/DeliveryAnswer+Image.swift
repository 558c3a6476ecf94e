extension DeliveryAnswer {
    /// What it means for an image, which goes out behind its reading: a server that will not have images, or not from
    /// this credential, says so with statuses that would otherwise concern the whole destination, and readings with it.
    var ofImage: DeliveryAnswer {
        switch self {
        case .unauthorized(let status?, let error) where status == 403:
            .refused(httpStatus: status, error: error ?? "HTTP \(status)", reply: nil)
        case .misplaced(let status?, let error) where [404, 405, 410].contains(status):
            .refused(httpStatus: status, error: error, reply: nil)
        default: self
        }
    }
}
