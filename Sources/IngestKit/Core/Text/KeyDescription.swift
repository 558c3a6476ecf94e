/// One key that a section of a file may hold. The reader, its diagnostics and the reference (docs/configuration.md) all
/// use these descriptions.
package struct KeyDescription: Sendable, Hashable {
    package let name: String
    /// What a value looks like.
    package let type: String
    /// What holds without the key; `required` where it must stand.
    package let defaultValue: String
    package let meaning: String

    package init(_ name: String, _ type: String, default defaultValue: String, _ meaning: String) {
        self.name = name
        self.type = type
        self.defaultValue = defaultValue
        self.meaning = meaning
    }
}

/// The keys of one mapping of a file.
package struct KeySection: Sendable, Hashable {
    /// Where the section stands, `destinations[]`; empty for the root of the file.
    package let path: String
    package let keys: [KeyDescription]

    package init(_ path: String, _ keys: [KeyDescription]) {
        self.path = path
        self.keys = keys
    }
}
