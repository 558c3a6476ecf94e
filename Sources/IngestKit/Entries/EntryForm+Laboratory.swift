/// What a laboratory's report says of somebody's blood: the fields of Validic's biometrics and diabetes records that a
/// device does not measure.
///
/// The bounds are for slips of the finger and of the unit, and much wider than any range of reference.
extension EntryForm {
    static let laboratory: [EntryForm] = [
        lipid("total-cholesterol", 40_00...2_000_00, 1_00...39_99),
        lipid("hdl-cholesterol", 6_00...250_00, 15...5_99),
        lipid("ldl-cholesterol", 26_00...1_500_00, 10...25_99),
        lipid("triglycerides", 10_00...10_000_00, 10...114_00, plainFrom: 115_00),
        found(
            "uric-acid", Unit("mg/dL", "mg/dl", plausible: 20...30_00),
            Unit("umol/L", "umol/l", plausible: 31_00...1_800_00)),
        found("blood-calcium", Unit("mg/dL", "mg/dl", plausible: 2_00...25_00)),
        found("blood-magnesium", Unit("mg/dL", "mg/dl", plausible: 20...15_00)),
        found("blood-potassium", Unit("mmol/L", "mmol/l", "mEq/L", plausible: 1_00...12_00)),
        found("blood-sodium", Unit("mmol/L", "mmol/l", "mEq/L", plausible: 80_00...220_00)),
        found("blood-chromium", Unit("ug/L", plausible: 1...500_00)),
        found("blood-zinc", Unit("ug/dL", plausible: 5_00...1_000_00)),
        found("blood-folic-acid", Unit("ng/mL", plausible: 10...200_00)),
        found("blood-vitamin-b12", Unit("pg/mL", plausible: 10_00...20_000_00)),
        found("vitamin-d", Unit("ng/mL", plausible: 1_00...500_00)),
        found("ferritin", Unit("ng/mL", "ug/L", recorded: "ng/mL", plausible: 1_00...100_000_00)),
        found("crp", Unit("mg/L", plausible: 1...1_000_00)),
        found("hs-crp", Unit("mg/L", plausible: 1...1_000_00)),
        found("interleukin-6", Unit("pg/mL", plausible: 1...1_000_000_00)),
        found("creatine-kinase", Unit("U/L", plausible: 1_00...1_000_000_00)),
        found("testosterone", Unit("ng/dL", plausible: 1_00...5_000_00)),
        found("tsh", Unit("m[IU]/L", "mIU/L", "uIU/mL", recorded: "m[IU]/L", plausible: 1...1_000_00)),
        found("c-peptide", Unit("ng/mL", plausible: 1...100_00)),
        // A laboratory's 6.5 thousand in a microlitre are 6500.
        found("white-cell-count", Unit("/uL", plausible: 10_00...1_000_000_00)),
    ]

    private static func found(_ name: String, _ units: Unit..., plainFrom: Int64? = nil) -> EntryForm {
        EntryForm(
            name: name, kind: .laboratory, types: [(name, nil)], units: units, plainFrom: plainFrom)
    }

    /// In mass, as in the United States, or in substance.
    private static func lipid(
        _ name: String, _ mass: ClosedRange<Int64>, _ substance: ClosedRange<Int64>, plainFrom: Int64? = nil
    ) -> EntryForm {
        found(
            name, Unit("mg/dL", "mg/dl", plausible: mass), Unit("mmol/L", "mmol/l", plausible: substance),
            plainFrom: plainFrom)
    }
}
