/// A measured number of a test's expectation.
package func measured(
    _ type: String, _ code: UInt32?, _ coefficient: Int64, exponent: Int8 = 0, _ unit: String
) -> Measurement {
    Measurement(
        type: type, code: code, value: .exact(ExactDecimal(coefficient: coefficient, exponent: exponent)),
        unit: unit)
}
