/// What at least one of several marks needs of an advert, to be looked for in one walk over its structures. An advert
/// without any such sign bears none of the marks; one with a sign may bear one.
struct AdvertisementSigns: Sendable, Equatable {
    private var services: [UInt16] = []
    private var longServices: [BluetoothUUID] = []
    private var companies: [UInt16] = []
    /// A mark asks for a name: any name is a sign.
    private var hasNames = false

    init(of marks: [AdvertisementFilter.Mark]) {
        for mark in marks {
            switch mark {
            case .service(let uuid): services.append(uuid)
            case .longService(let uuid): longServices.append(uuid)
            case .company(let company): companies.append(company)
            case .namePrefix, .nameContains: hasNames = true
            }
        }
    }

    func areSeen(in data: Span<UInt8>) -> Bool {
        var structures = AdvertisementStructures(data)
        while let (type, range) = structures.next() {
            if isSign(type, data.extracting(range)) { return true }
        }
        return false
    }

    private func isSign(_ type: UInt8, _ value: Span<UInt8>) -> Bool {
        typealias DataType = AdvertisementDataType
        switch type {
        case DataType.someShortServices, DataType.allShortServices:
            var position = 0
            while let uuid = value.littleEndian16(at: position) {
                if services.contains(uuid) { return true }
                position += 2
            }
            return false
        case DataType.shortServiceData:
            return value.littleEndian16(at: 0).map(services.contains) ?? false
        case DataType.someLongServices, DataType.allLongServices:
            var position = 0
            while let uuid = value.littleEndianUUID(at: position) {
                if longServices.contains(uuid) { return true }
                position += 16
            }
            return false
        case DataType.longServiceData:
            return value.littleEndianUUID(at: 0).map(longServices.contains) ?? false
        case DataType.manufacturerData:
            return value.littleEndian16(at: 0).map(companies.contains) ?? false
        case DataType.shortenedName, DataType.completeName:
            return hasNames
        default:
            return false
        }
    }
}
