/// AD types (Assigned Numbers 2.3).
package enum AdvertisementDataType {
    package static let flags: UInt8 = 0x01
    package static let someShortServices: UInt8 = 0x02
    package static let allShortServices: UInt8 = 0x03
    package static let someLongServices: UInt8 = 0x06
    package static let allLongServices: UInt8 = 0x07
    package static let shortenedName: UInt8 = 0x08
    package static let completeName: UInt8 = 0x09
    package static let shortServiceData: UInt8 = 0x16
    package static let longServiceData: UInt8 = 0x21
    package static let manufacturerData: UInt8 = 0xFF
}
