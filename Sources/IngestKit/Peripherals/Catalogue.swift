/// The models of peripherals that the program knows.
package struct Catalogue: Sendable, Equatable {
    /// Numbers that a model may have.
    package static let identifiers = 1...999_999
    /// Where packages install the catalogue.
    package static let defaultPath = "/usr/share/ingestd/peripherals.yaml"
    /// From here on, numbers are free for the operator's own models; those below are given by this
    /// project, now or later.
    package static let firstOwnIdentifier = 10_000

    /// By ID, ascending.
    package let models: [PeripheralModel]
    /// Whether others are in its files that could not be read.
    package let isPartial: Bool

    /// - Parameter models: each ID once.
    package init(models: [PeripheralModel], isPartial: Bool = false) {
        self.models = models.sorted { $0.id < $1.id }
        self.isPartial = isPartial
    }

    package subscript(id: Int) -> PeripheralModel? {
        models.first { $0.id == id }
    }
}
