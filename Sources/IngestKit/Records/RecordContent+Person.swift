extension RecordContent {
    /// Why a destination that files everything under one person must not be sent this record, as the reason of
    /// `DeliveryAnswer.unfit`; nil where the record is that person's.
    /// - Parameter user: the person, by the name that records have as `subject`.
    func reasonNotToFile(under user: String) -> String? {
        guard let subject else { return DeadLetter.unassigned }
        return subject == user ? nil : "is another person's"
    }
}
