/// AD types (Assigned Numbers 2.3).
enum AdvertisementDataType {
    static let flags: UInt8 = 0x01
    static let someShortServices: UInt8 = 0x02
    static let allShortServices: UInt8 = 0x03
    static let someLongServices: UInt8 = 0x06
    static let allLongServices: UInt8 = 0x07
    static let shortenedName: UInt8 = 0x08
    static let completeName: UInt8 = 0x09
    static let shortServiceData: UInt8 = 0x16
    static let longServiceData: UInt8 = 0x21
    static let manufacturerData: UInt8 = 0xFF
}
