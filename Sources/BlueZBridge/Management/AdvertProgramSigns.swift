/// What an `AdvertProgram` looks for in the structures of adverts, as numbers that one load brings: of each mark a part
/// that every advert with the mark has. In ascending order, each once, so that equal lists make equal programs.
struct AdvertProgramSigns {
    private(set) var services: [UInt32] = []
    /// Of long ones the four octets that come last, which are written first.
    private(set) var longServices: [UInt32] = []
    private(set) var companies: [UInt32] = []
    /// How names begin, by the number of octets: 1, 2 or 4.
    private(set) var nameBeginnings: [Int: [UInt32]] = [:]
    /// A text may stand anywhere in a name, which a program does not search.
    private(set) var takesAnyName = false

    var isEmpty: Bool {
        services.isEmpty && longServices.isEmpty && companies.isEmpty && nameBeginnings.isEmpty
            && !takesAnyName
    }

    init(of marks: [AdvertisementFilter.Mark]) {
        for mark in Set(marks) {
            switch mark {
            case .service(let uuid): services.append(.octets(of: uuid))
            case .longService(let uuid):
                longServices.append(.octets(of: UInt32(truncatingIfNeeded: uuid.high >> 32)))
            case .company(let company): companies.append(.octets(of: company))
            case .namePrefix(let prefix) where !prefix.isEmpty: addName(prefix)
            case .nameContains(let text) where !text.isEmpty: takesAnyName = true
            // Empty ones match nothing.
            case .namePrefix, .nameContains: break
            }
        }
        services = services.inOrder
        longServices = longServices.inOrder
        companies = companies.inOrder
        nameBeginnings = nameBeginnings.mapValues(\.inOrder)
    }

    private mutating func addName(_ prefix: [UInt8]) {
        let octets = prefix.count >= 4 ? 4 : prefix.count >= 2 ? 2 : 1
        nameBeginnings[octets, default: []].append(prefix.prefix(octets).reduce(0) { $0 << 8 | UInt32($1) })
    }
}

extension [UInt32] {
    fileprivate var inOrder: Self { Set(self).sorted() }
}

extension UInt32 {
    /// A number that is sent least significant octet first, as a program loads it.
    static func octets(of number: UInt16) -> UInt32 { UInt32(number.byteSwapped) }
    static func octets(of number: UInt32) -> UInt32 { number.byteSwapped }
}
