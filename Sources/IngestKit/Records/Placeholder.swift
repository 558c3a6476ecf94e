public struct ExactDecimal: Sendable, Hashable {}
public struct RecordTime: Sendable, Equatable {}
