/// The programs that the operator has run on events, each by its absolute path.
package struct HookSettings: Sendable, Equatable {
    package var readyToRead: String?
    package var read: String?

    package init(readyToRead: String? = nil, read: String? = nil) {
        self.readyToRead = readyToRead
        self.read = read
    }
}
