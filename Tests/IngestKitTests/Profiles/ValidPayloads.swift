@testable import IngestKit

/// Payloads with every field, one at least of each characteristic that can be decoded.
enum ValidPayloads {
    static let all: [(characteristic: BluetoothUUID, bytes: [UInt8])] = [
        // flags; 138/85/102; 2024-06-15 17:17:27; pulse 72; user 1; irregular pulse
        (0x2A35, [0x1E, 0x8A, 0, 0x55, 0, 0x66, 0, 0xE8, 7, 6, 15, 17, 17, 27, 0x48, 0, 1, 4, 0]),
        // flags; 98.60; 2026-11-20 09:14:57; ear
        (0x2A1C, [0x07, 0x84, 0x26, 0, 0xFE, 0xEA, 7, 11, 20, 9, 14, 57, 3]),
        // 90 %
        (0x2A19, [90]),
        // flags; 7; 2026-11-20 09:14:57; -5 min; 105e-5; plasma, finger; battery low
        (0x2A18, [0x1B, 7, 0, 0xEA, 7, 11, 20, 9, 14, 57, 0xFB, 0xFF, 0x69, 0xB0, 0x12, 1, 0]),
        // flags; 7; extended; lunch 55e-3; before; self, no issues; 1800 s 60 %; rapid 8e-6; 6.1
        (
            0x2A34,
            [0xDF, 7, 0, 0, 2, 0x37, 0xD0, 1, 0x51, 0x08, 0x07, 60, 1, 0x08, 0xA0, 0x3D, 0xF0]
        ),
        // all features
        (0x2A51, [0xFF, 0x07]),
        // response code: report stored records, success
        (0x2A52, [6, 0, 1, 1]),
        // number of stored records: 50
        (0x2A52, [5, 0, 50, 0]),
    ]
}
