/// The samples of a document that may have equals, until the whole document was read and each can be numbered among its
/// equals.
package protocol EqualSamples: AnyObject {
    /// Takes samples in.
    /// - Parameter samples: `created` is when each came into the phone's store, in seconds since 1970.
    func add(_ samples: [(entry: RecordEntry, created: Int64?)]) throws
    /// The next samples, each with its number among its equals behind its name: by source, then by when it came into
    /// the phone's store, then by what else it says. Empty when all were given. None may be added after the first are
    /// given.
    func next(_ count: Int) throws -> [RecordEntry]
}
