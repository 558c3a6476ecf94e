/// Payloads with every field, one at least of each characteristic that can be decoded.
package enum ValidPayloads {
    package static let all: [(characteristic: BluetoothUUID, bytes: [UInt8])] = [
        // OneTouch: 2024-06-15 in the meter's seconds, 105 mg/dL, no control solution, no event
        (OneTouchVerio.notification, [0x00, 0x6C, 0xF0, 0x2D, 0x69, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00]),
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
        // flags; cuff pressure 12.5 kPa, not used twice; 2026-11-20 09:14:57; 72; user 1; status
        (0x2A36, [0x1F, 0x7D, 0xF0, 0xFF, 7, 0xFF, 7, 0xEA, 7, 11, 20, 9, 14, 57, 0x48, 0, 1, 4, 0]),
        (0x2A49, [0xFF, 0x01]),
        (0x2A1E, [0x07, 0x84, 0x26, 0, 0xFE, 0xEA, 7, 11, 20, 9, 14, 57, 3]),
        (0x2A1D, [3]),
        // size; flags; 12.34; 5 min; three octets of status; trend 0.2; quality 99.7; E2E-CRC
        (
            0x2AA7,
            [15, 0xE3, 0xD2, 0xE4, 5, 0, 0x02, 0x14, 0xFF, 0x02, 0xF0, 0xE5, 0xF3, 0x8E, 0x3F]
        ),
        (0x2AA7, [6, 0, 0x0C, 0x10, 6, 0]),
        // no E2E-CRC, which the field has all the same
        (0x2AA8, [0xFF, 0xEF, 0x01, 0x59, 0xFF, 0xFF]),
        (0x2AA9, [0x3C, 0, 0x02, 0x08, 0x08]),
        // 2026-11-20 09:14:57, +1 h, standard time
        (0x2AAA, [0xEA, 7, 11, 20, 9, 14, 57, 4, 0]),
        (0x2AAB, [0x50, 0x01]),
        // flags; 14971 steps; 2026-11-20 09:14:57; user 2; 24.2; 1.755 m
        (0x2A9D, [0x0E, 0x7B, 0x3A, 0xEA, 7, 11, 20, 9, 14, 57, 2, 0xF2, 0, 0xDB, 6]),
        (0x2A9E, [0xBF, 1, 0, 0]),
        (
            0x2A9C,
            [
                0xFE, 0x0F, 0xC8, 0, 0xEA, 7, 11, 20, 9, 14, 57, 3, 0x40, 0x1F, 0x90, 1, 0x58, 0x1B, 0xE0,
                0x2E, 0x88, 0x2C, 0x40, 0x1F, 0x88, 0x13, 0x98, 0x3A, 0xD6, 6,
            ]
        ),
        (0x2A9B, [0xFF, 0x1F, 1, 0]),
        // flags; 300 /min; 10000 kJ; 1 s
        (0x2A37, [0x1F, 0x2C, 1, 0x10, 0x27, 0, 4]),
        (0x2A38, [1]),
        // flags; 97 %; 72 /min; 2026-11-20 09:14:57; both states; 3.5 %
        (
            0x2A5E,
            [0x0F, 0x61, 0, 0x48, 0, 0xEA, 7, 11, 20, 9, 14, 57, 0x80, 1, 0x20, 0x80, 0, 0x23, 0xF0]
        ),
        // flags; 97 %; 72 /min; fast; slow; both states; 3.5 %
        (
            0x2A5F,
            [
                0x1F, 0x61, 0, 0x48, 0, 0x60, 0, 0x49, 0, 0xCF, 0xF3, 0xFF, 7, 0x20, 0, 0, 2, 0, 0x23,
                0xF0,
            ]
        ),
        (0x2A60, [0xFF, 0, 0x80, 0, 0x20, 0, 0]),
        // 2026-11-20 09:14:57, Friday, 128/256 s, set by hand
        (0x2A2B, [0xEA, 7, 11, 20, 9, 14, 57, 5, 0x80, 1]),
        (0x2A08, [0xEA, 7, 11, 20, 9, 14, 57]),
        // numeric of 27 bytes; flags; SpO2; UTC time; patient 1; spot; percent; 98
        (
            0x2B8B,
            [
                0x01, 0x1B, 0, 0x63, 0, 0xB8, 0x4B, 2, 0, 0x22, 0x72, 0x9D, 0x2B, 0x29, 0, 0, 6, 0, 1, 1,
                0x3C, 0x4C, 2, 0, 0x20, 2, 0x62, 0, 0, 0,
            ]
        ),
        // a bundle of two numbers, in one segment
        (
            0x2B8B,
            [
                0x03, 0xFF, 0x2F, 0, 0x42, 0, 0x22, 0x72, 0x9D, 0x2B, 0x29, 0, 0, 6, 0, 1, 0x3C, 0x4C, 2,
                0, 2, 1, 0x0C, 0, 1, 0, 0xB8, 0x4B, 2, 0, 0x20, 2, 0x62, 0, 0, 0, 1, 0x0C, 0, 1, 0, 0x1A,
                0x48, 2, 0, 0xA0, 0x0A, 0x48, 0, 0, 0,
            ]
        ),
        // record 7; numeric of 12 bytes; flags: type; heart rate; 72 /min
        (
            0x2BDD,
            [
                0x03, 7, 0, 0, 0, 1, 0x0C, 0, 1, 0, 0x82, 0x41, 2, 0, 0xA0, 0x0A, 0x48, 0, 0, 0,
            ]
        ),
        (0x2BF2, [0x22, 0x72, 0x9D, 0x2B, 0x29, 0, 0, 6, 0]),
    ]
}
