/// Conversions to other units, in decimal arithmetic throughout.
extension ExactDecimal {
    /// Reads a JSON number without an exponent; nil for another text, and for what does not fit.
    package init?(json text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let decimals = parts.count == 2 ? parts[1] : ""
        guard decimals.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let coefficient = Int64(parts[0] + decimals),
            let exponent = Int8(exactly: -decimals.utf8.count)
        else { return nil }
        self.init(coefficient: coefficient, exponent: exponent)
    }

    /// This × `coefficient` × 10^`exponent`, with all digits; nil where that does not fit.
    package func times(_ coefficient: Int64, exponent: Int8) -> ExactDecimal? {
        let (product, isTooLarge) = self.coefficient.multipliedReportingOverflow(by: coefficient)
        let (sum, overflow) = self.exponent.addingReportingOverflow(exponent)
        return isTooLarge || overflow ? nil : ExactDecimal(coefficient: product, exponent: sum)
    }

    /// (This − `offset`) × `numerator` / `denominator`, rounded half away from zero to as many decimals as this has and
    /// `more`; nil where that does not fit. Of numbers with decimals only, or without: not of 10^1 and up.
    /// - Parameter more: 0 to 9.
    func scaled(
        minus offset: Int64 = 0, by numerator: Int64, over denominator: Int64, moreDecimals more: Int8 = 0
    ) -> ExactDecimal? {
        // 10^18 is the largest power of ten in Int64; each product below has 127 bits at most.
        guard (-18...0).contains(exponent), (0...9).contains(more) else { return nil }
        let difference = Int128(coefficient) - Int128(offset) * Self.power(-exponent)
        let (scaled, isTooLarge) = difference.multipliedReportingOverflow(by: Int128(numerator))
        let (product, overflow) = scaled.multipliedReportingOverflow(by: Self.power(more))
        guard !isTooLarge, !overflow else { return nil }
        let (quotient, rest) = product.quotientAndRemainder(dividingBy: Int128(denominator))
        let carries = rest.magnitude >= Int128(denominator).magnitude - rest.magnitude
        let rounded = carries ? quotient + (product < 0 ? -1 : 1) : quotient
        return Int64(exactly: rounded).map { ExactDecimal(coefficient: $0, exponent: exponent - more) }
    }

    /// Without its decimals; nil where that does not fit.
    package var wholePart: Int64? { parts.map(\.whole).flatMap(Int64.init(exactly:)) }

    /// The nearest whole number, halves away from zero; nil where that does not fit.
    package var rounded: Int64? {
        parts.flatMap { whole, rest, unit in
            Int64(exactly: rest.magnitude * 2 >= unit.magnitude ? whole + (coefficient < 0 ? -1 : 1) : whole)
        }
    }

    private var parts: (whole: Int128, rest: Int128, unit: Int128)? {
        guard (-18...18).contains(exponent) else { return nil }
        let unit = Self.power(max(0, -exponent))
        let (whole, rest) = (Int128(coefficient) * Self.power(max(0, exponent))).quotientAndRemainder(
            dividingBy: unit)
        return (whole, rest, unit)
    }

    private static func power(_ exponent: Int8) -> Int128 {
        (0..<exponent).reduce(Int128(1)) { power, _ in power * 10 }
    }
}
