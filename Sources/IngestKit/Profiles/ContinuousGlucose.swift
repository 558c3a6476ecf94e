enum ContinuousGlucose {
    static let sessionStartTime: BluetoothUUID = 0x2AAA
    static func sessionStart(_ bytes: [UInt8]) throws(DecodeError) -> DeviceTime? {
        var cursor = ByteCursor(bytes)
        guard case .known(let time) = try cursor.dateTime("session start time") else { return nil }
        return time
    }
}
enum HeartRate { static let noContactFlag = "no-contact" }
