extension PeripheralModel {
    /// What can be special about a model. A catalogue may name these and no others.
    package enum Quirk: String, Sendable, Hashable, CaseIterable {
        case notReadable = "not-readable"
        case vendorService = "vendor-service"
        case bondFirstThenKeepLink = "bond-first-then-keep-link"
        case disconnectAfterBonding = "disconnect-after-bonding"
        case expectsClock = "expects-clock"
        case subscribeOnlyToRead = "subscribe-only-to-read"
        case forgetsAfterTransfer = "forgets-after-transfer"
        case oneBondOnly = "one-bond-only"
        case bigEndianBloodPressure = "big-endian-blood-pressure"
        case sharesName = "shares-name"
        case directedAdvertising = "directed-advertising"

        /// Whether the program heeds a quirk.
        package enum Effect: String, Sendable {
            case actedUpon = "acts on it"
            /// How every device is read suits it.
            case byDesign = "by design"
            case none = "not yet"
        }

        package var effect: Effect {
            switch self {
            case .notReadable, .vendorService, .bondFirstThenKeepLink, .disconnectAfterBonding, .oneBondOnly,
                .expectsClock, .directedAdvertising:
                .actedUpon
            case .subscribeOnlyToRead, .forgetsAfterTransfer, .sharesName, .bigEndianBloodPressure:
                .byDesign
            }
        }

        /// One sentence for operators; docs/peripherals.md has the same.
        package var meaning: String {
            switch self {
            case .notReadable:
                "Its protocol is not public: it can be named, but not read."
            case .vendorService:
                "Its readings come by its maker's own service, which this version does not read."
            case .bondFirstThenKeepLink:
                "It wants to be bonded before its services are looked at, gives its first reading on that "
                    + "link, and hangs up itself."
            case .disconnectAfterBonding:
                "Its pairing is complete only when the gateway hangs up after the bond."
            case .expectsClock:
                "It expects the central to set its clock on each link, that of the pairing too: with `clock: set` "
                    + "the gateway does; without it its times may be wrong."
            case .subscribeOnlyToRead:
                "It sends what it has as soon as it is subscribed to, and once only: the gateway "
                    + "subscribes to nothing before it is ready to keep what comes."
            case .forgetsAfterTransfer:
                "It may delete what was confirmed: the gateway confirms a reading only when it is on disk."
            case .oneBondOnly:
                "It remembers one central only: unpair the maker's app first."
            case .bigEndianBloodPressure:
                "Some firmware sends the numbers of a blood pressure with the most significant octet first."
            case .sharesName:
                "It advertises as other models of its maker do: pin it to its address to tell them apart."
            case .directedAdvertising:
                "Once bonded it advertises to its bonded central only, which no scan shows: pinned to its "
                    + "address, it is waited for with a connection attempt."
            }
        }
    }

    package func has(_ quirk: Quirk) -> Bool {
        quirks.contains(quirk)
    }

    /// Whether a program that reads these profiles can read the model.
    package func isReadable(with profiles: Set<String>) -> Bool {
        profiles.contains(profile) && !has(.notReadable) && !has(.vendorService)
    }
}
