extension BinaryInteger {
    /// The number with its noun: `1 record`, `2 records`.
    /// - Parameter many: the plural, if it is not the singular with an s.
    package func counted(_ one: String, _ many: String? = nil) -> String {
        self == 1 ? "1 \(one)" : "\(self) \(many ?? one + "s")"
    }
}
