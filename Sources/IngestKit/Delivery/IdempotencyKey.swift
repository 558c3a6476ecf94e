/// Names a request by its bytes, so that the same bytes have the same key after any restart.
package enum IdempotencyKey {
    /// UUID version 5 of a request body before compression, in lower case.
    package static func of(_ body: [UInt8]) -> String {
        NameUUID.text(of: body)
    }
}
