/// The programs that the operator has run on events, each by its absolute path.
public struct HookSettings: Sendable, Equatable {
    public var readyToRead: String?
    public var read: String?

    public init(readyToRead: String? = nil, read: String? = nil) {
        self.readyToRead = readyToRead
        self.read = read
    }
}
