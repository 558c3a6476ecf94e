extension GlucoseMeter {
    /// A stored measurement: Glucose Measurement (2A18, GATT Specification Supplement), and its
    /// context (2A34) where it has one.
    package struct Record: Sendable, Equatable {
        /// An IEEE 11073 SFLOAT: the mantissa is -2,048 to 2,047, the exponent -8 to 7.
        package enum Concentration: Sendable, Equatable {
            case kilogramsPerLitre(mantissa: Int16, exponent: Int8)
            case molesPerLitre(mantissa: Int16, exponent: Int8)

            /// A number of milligrams per decilitre, 0 to 2,047.
            package static func milligramsPerDecilitre(_ count: Int16) -> Concentration {
                .kilogramsPerLitre(mantissa: count, exponent: -5)
            }
        }

        package var sequence: UInt16
        package var time: DeviceTime
        /// Minutes to add to `time`.
        package var offset: Int16?
        package var concentration: Concentration?
        /// Type in the low, location in the high four bits; sent with a concentration only.
        package var typeAndLocation: UInt8
        /// Sensor Status Annunciation.
        package var status: UInt16?
        package var context: Context?

        package init(
            sequence: UInt16, time: DeviceTime, offset: Int16? = nil,
            concentration: Concentration? = .milligramsPerDecilitre(102), typeAndLocation: UInt8 = 0x11,
            status: UInt16? = nil, context: Context? = nil
        ) {
            self.sequence = sequence
            self.time = time
            self.offset = offset
            self.concentration = concentration
            self.typeAndLocation = typeAndLocation
            self.status = status
            self.context = context
        }

        /// The bytes of 2A18.
        package var payload: [UInt8] {
            var flags: UInt8 = 0
            var bytes = Wire.bytes(sequence) + Wire.bytes(time)
            if let offset {
                flags |= 0x01
                bytes += Wire.bytes(offset)
            }
            switch concentration {
            case .kilogramsPerLitre(let mantissa, let exponent):
                flags |= 0x02
                bytes += Wire.shortFloat(mantissa, exponent) + [typeAndLocation]
            case .molesPerLitre(let mantissa, let exponent):
                flags |= 0x06
                bytes += Wire.shortFloat(mantissa, exponent) + [typeAndLocation]
            case nil: break
            }
            if let status {
                flags |= 0x08
                bytes += Wire.bytes(status)
            }
            if context != nil { flags |= 0x10 }
            return [flags] + bytes
        }

        /// The bytes of 2A34; nil without a context.
        package var contextPayload: [UInt8]? {
            context.map { $0.payload(sequence) }
        }
    }

    /// Glucose Measurement Context (2A34), as far as meters of the field fill it in.
    package struct Context: Sendable, Equatable {
        /// 1 breakfast, 2 lunch, 3 dinner, …
        package var carbohydrate: UInt8?
        /// In grams, 0 to 2,047; sent with `carbohydrate` only.
        package var grams: Int16
        /// 1 preprandial, 2 postprandial, …
        package var meal: UInt8?

        package init(carbohydrate: UInt8? = nil, grams: Int16 = 0, meal: UInt8? = nil) {
            self.carbohydrate = carbohydrate
            self.grams = grams
            self.meal = meal
        }

        func payload(_ sequence: UInt16) -> [UInt8] {
            var flags: UInt8 = 0
            var bytes: [UInt8] = Wire.bytes(sequence)
            if let carbohydrate {
                flags |= 0x01
                // Kilograms.
                bytes += [carbohydrate] + Wire.shortFloat(grams, -3)
            }
            if let meal {
                flags |= 0x02
                bytes.append(meal)
            }
            return [flags] + bytes
        }
    }
}
