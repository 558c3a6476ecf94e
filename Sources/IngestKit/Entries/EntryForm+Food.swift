/// What somebody ate or drank: the types that imports have, too.
extension EntryForm {
    static let eaten: [EntryForm] = [
        EntryForm(
            name: "water", kind: .nutrition, types: [("water", nil)],
            units: [
                // Who writes 2 means litres.
                Unit("mL", "ml", plausible: 10_00...10_000_00),
                Unit("L", "l", recorded: "mL", exponent: 3, plausible: 10_00...10_000_00),
            ]),
        EntryForm(
            name: "food-energy", kind: .nutrition, types: [("energy", nil)],
            units: [Unit("kcal", plausible: 0...20_000_00), Unit("kJ", plausible: 0...80_000_00)],
            // Nearly every number may be either.
            plainFrom: 20_000_00, meals: meals),
        food("carbohydrate", "g", upTo: 2_000_00), food("protein", "g", upTo: 1_000_00),
        food("fat", "g", upTo: 1_000_00), food("saturated-fat", "g", upTo: 1_000_00),
        food("sugar", "g", upTo: 2_000_00), food("fiber", "g", upTo: 500_00),
        food("cholesterol", "mg", upTo: 10_000_00), food("sodium", "mg", upTo: 50_000_00),
        food("potassium", "mg", upTo: 50_000_00), food("calcium", "mg", upTo: 20_000_00),
        food("iron", "mg", upTo: 1_000_00),
    ]

    private static let meals: KeyValuePairs = [
        "breakfast": "meal-breakfast", "lunch": "meal-lunch", "dinner": "meal-dinner", "snack": "meal-snack",
    ]

    private static func food(_ type: String, _ unit: String, upTo most: Int64) -> EntryForm {
        EntryForm(
            name: "food-\(type)", kind: .nutrition, types: [(type, nil)],
            units: [Unit(unit, plausible: 0...most)], meals: meals)
    }
}
