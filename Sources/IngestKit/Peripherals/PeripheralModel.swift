package import IngestBluetooth

/// One model of peripheral in the catalogue: a number that is stable for ever, how the model is
/// recognised, and how it is read.
package struct PeripheralModel: Sendable, Hashable {
    /// The three texts that an installer or a patient follows.
    package struct Instructions: Sendable, Hashable {
        package var pairing: String
        package var beforeMeasurement: String
        package var duringMeasurement: String

        package init(pairing: String, beforeMeasurement: String, duringMeasurement: String) {
            self.pairing = pairing
            self.beforeMeasurement = beforeMeasurement
            self.duringMeasurement = duringMeasurement
        }
    }

    /// Whether readings need a bond.
    package enum Bonding: String, Sendable, Hashable, CaseIterable {
        case none
        case required
    }

    /// How a device and the gateway come to trust each other when they bond (Core Specification
    /// Vol 3 Part C 10.3.1).
    package enum BondingMethod: String, Sendable, Hashable, CaseIterable {
        /// Nothing is compared or typed.
        case justWorks = "just-works"
        /// The device shows a code of six digits while it pairs.
        case passkeyOnDevice = "passkey-on-device"
        /// A code of six digits is printed on the device.
        case passkeyOnLabel = "passkey-on-label"
    }

    package var id: Int
    package var name: String
    /// What it is, in kebab case: `blood-pressure-monitor`, `thermometer`.
    package var type: String
    package var manufacturer: String?
    package var model: String?
    /// The profile that reads it: `blood-pressure`, `thermometer`.
    package var profile: String
    /// Ways to recognise an advert of this model: any of them suffices, and each needs all its
    /// marks.
    package var recognised: [[AdvertisementFilter.Mark]]
    package var bonding: Bonding
    /// Nil where it is not known, or no bond is needed.
    package var bondingMethod: BondingMethod?
    package var instructions: Instructions
    /// Whether it advertises before the measurement is taken, so that `ready-to-read` tells
    /// something.
    package var readyBeforeMeasurement: Bool
    /// For a model that never stops advertising: it is read again after this time.
    package var rearm: Duration?
    package var quirks: [Quirk]
    /// What Junction (docs/destinations/junction.md) calls the source of its readings; nil where it has no name of its own there.
    package var junctionProvider: String?

    package init(
        id: Int, name: String, type: String, manufacturer: String?, model: String?, profile: String,
        recognised: [[AdvertisementFilter.Mark]], bonding: Bonding,
        bondingMethod: BondingMethod? = nil, instructions: Instructions,
        readyBeforeMeasurement: Bool, rearm: Duration?, quirks: [Quirk],
        junctionProvider: String? = nil
    ) {
        self.id = id
        self.name = name
        self.type = type
        self.manufacturer = manufacturer
        self.model = model
        self.profile = profile
        self.recognised = recognised
        self.bonding = bonding
        self.bondingMethod = bondingMethod
        self.instructions = instructions
        self.readyBeforeMeasurement = readyBeforeMeasurement
        self.rearm = rearm
        self.quirks = quirks
        self.junctionProvider = junctionProvider
    }
}
