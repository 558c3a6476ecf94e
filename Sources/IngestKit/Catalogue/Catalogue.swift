/// The models of peripherals that the program knows.
public struct Catalogue: Sendable, Equatable {
    /// Numbers that a model may have.
    public static let identifiers = 1...999_999
    /// Where packages install the catalogue.
    public static let defaultPath = "/usr/share/ingestd/peripherals.yaml"
    /// From here on, numbers are free for the operator's own models; those below are given by this
    /// project, now or later.
    public static let firstOwnIdentifier = 10_000

    /// By ID, ascending.
    public let models: [PeripheralModel]
    /// Whether others are in its files that could not be read.
    let isPartial: Bool

    /// - Parameter models: each ID once.
    init(models: [PeripheralModel], isPartial: Bool = false) {
        self.models = models.sorted { $0.id < $1.id }
        self.isPartial = isPartial
    }

    public subscript(id: Int) -> PeripheralModel? {
        models.first { $0.id == id }
    }
}
