/// The catalogue that is built into the program, so that it works where none is installed.
enum ShippedCatalogue {
    /// config/peripherals.yaml, word for word; `config/embed-catalogue` writes it here.
    static let text = #"""
        # The models of peripherals that ingestd knows. Installed as /usr/share/ingestd/peripherals.yaml, and
        # built into the program. Do not edit the installed file: put models of your own, with IDs from 10000,
        # into /etc/ingestd/peripherals.d/NAME.yaml (docs/peripherals.md).
        #
        # IDs never change their meaning. 1, 32, 33 and 1000 are numbers that public documents give; 1001 and
        # up stand for whatever follows a public profile; named models are numbered from 2000.
        #
        # Named models have what public sources tell of them, and no more. A name counts only where the device
        # puts it into the advert itself: the gateway does not ask for scan responses. A pinned address always
        # counts.
        models:
          # Recognised as any thermometer is: pin it to its address where there are others.
          - id: 1
            name: Pyle Health thermometer
            type: thermometer
            manufacturer: Pyle Health
            model: PHTM20BTPL
            profile: thermometer
            recognised: [{service: "1809"}]
            instructions:
              pairing: No pairing is needed. If the device asks for it, follow its manual.
              before: Switch the thermometer on, within 5 m of the gateway.
              during: Measure as the device's manual says. Leave it switched on until it goes off by itself.
          - id: 32
            name: AgaMatrix Jazz Wireless 2
            type: glucose-meter
            manufacturer: AgaMatrix
            model: Jazz Wireless 2
            profile: glucose
            instructions:
              pairing: >-
                This model can be named but not read. Its protocol is not public and needs a key file from
                its maker, which this program has no use for.
              before: Use the maker's own software, or a meter of another model (1000).
              during: Nothing is read from this model.
            quirks: [not-readable]
          - id: 33
            name: CVS Health Advanced Bluetooth Glucose Meter
            type: glucose-meter
            manufacturer: CVS Health
            model: Advanced Bluetooth Glucose Meter
            profile: glucose
            instructions:
              pairing: >-
                This model can be named but not read. Its protocol is not public and needs a key file from
                its maker, which this program has no use for.
              before: Use the maker's own software, or a meter of another model (1000).
              during: Nothing is read from this model.
            quirks: [not-readable]
          - id: 1000
            name: Generic glucose meter
            type: glucose-meter
            profile: glucose
            recognised: [{service: "1808"}]
            instructions:
              pairing: >-
                Set the meter to pairing mode as its manual says, and pair it with the gateway. Keep its
                passkey at hand.
              before: Wash and dry your hands. Have the meter within 5 m of the gateway.
              during: >-
                Take the test as the meter's manual says. Most meters send when the strip is taken out or
                Bluetooth is switched on.
          - id: 1001
            name: Generic blood pressure monitor
            type: blood-pressure-monitor
            profile: blood-pressure
            recognised: [{service: "1810"}]
            instructions:
              pairing: >-
                Most monitors need no pairing. If yours does, hold its Bluetooth button until its sign
                blinks, then pair it.
              before: >-
                Sit and rest for five minutes. Put the cuff on the bare upper arm, at the height of the
                heart.
              during: Keep still and do not talk. Leave the monitor on after the measurement until it has sent it.
          - id: 1002
            name: Generic thermometer
            type: thermometer
            profile: thermometer
            recognised: [{service: "1809"}]
            instructions:
              pairing: No pairing is needed. If the device asks for it, follow its manual.
              before: Switch the thermometer on, within 5 m of the gateway.
              during: Measure as the device's manual says. Leave it switched on until it goes off by itself.
          - id: 1003
            name: Generic weight scale
            type: weight-scale
            profile: weight-scale
            recognised: [{service: "181D"}]
            instructions:
              pairing: >-
                Most scales need no pairing. If yours does, press the button underneath until its sign
                blinks, then pair it.
              before: Put the scale on a hard, level floor, within 5 m of the gateway.
              during: Step on with bare feet and stand still until the figure stops changing.
          - id: 1004
            name: Generic body composition scale
            type: body-composition-scale
            profile: body-composition
            recognised: [{service: "181B"}]
            instructions:
              pairing: >-
                Most scales need no pairing. If yours does, press the button underneath until its sign
                blinks, then pair it.
              before: Put the scale on a hard, level floor. Choose your user slot if the scale has any.
              during: Step on with bare, dry feet and stand still until the scale says that it is done.
          - id: 1005
            name: Generic pulse oximeter
            type: pulse-oximeter
            profile: pulse-oximeter
            recognised: [{service: "1822"}]
            instructions:
              pairing: No pairing is needed. If the device asks for it, follow its manual.
              before: Warm your hand and take off nail varnish. Sit down.
              during: Put the finger in as far as it goes and keep still until the figures are steady.
            rearm: 1m
          - id: 1006
            name: Generic heart rate sensor
            type: heart-rate-sensor
            profile: heart-rate
            recognised: [{service: "180D"}]
            instructions:
              pairing: No pairing is needed. If the device asks for it, follow its manual.
              before: Moisten the electrodes of a chest strap, or fasten the arm band.
              during: Wear the sensor within 5 m of the gateway. One record is made each minute.
            rearm: 1m
          - id: 1007
            name: Generic continuous glucose sensor
            type: continuous-glucose-sensor
            profile: continuous-glucose
            recognised: [{service: "181F"}]
            instructions:
              pairing: Pair the sensor with the gateway once, with the code that came with it.
              before: Apply the sensor as its manual says and wait until it has warmed up.
              during: Stay within 5 m of the gateway from time to time. The sensor keeps what it could not send.
            rearm: 5m
          - id: 1008
            name: BTHome sensor
            type: broadcast-sensor
            profile: bthome
            recognised: [{service: "FCD2"}]
            instructions:
              pairing: >-
                No pairing. The device broadcasts its readings to whoever listens. An encrypted one needs
                its bind key.
              before: Put the sensor within 10 m of the gateway.
              during: Nothing is to be done. A reading is taken when the sensor's values change.
          # Its service data is of the same services as the generic scales': pin it to its address where
          # there are several.
          - id: 1009
            name: Mi scale
            type: weight-scale
            manufacturer: Xiaomi
            profile: mi-scale
            recognised: [{service: "181D"}, {service: "181B"}]
            instructions:
              pairing: No pairing. The device broadcasts its readings to whoever listens.
              before: Put the scale on a hard, level floor, within 5 m of the gateway.
              during: Step on with bare feet and stand still until the figure blinks or stops changing.
          - id: 1010
            name: MiBeacon sensor
            type: broadcast-sensor
            manufacturer: Xiaomi
            profile: mibeacon
            recognised: [{service: "FE95"}]
            instructions:
              pairing: >-
                No pairing. The device broadcasts its readings to whoever listens. An encrypted one needs
                its bind key.
              before: Put the sensor within 10 m of the gateway.
              during: Nothing is to be done. A reading is taken when the sensor's values change.
          - id: 1011
            name: Generic health sensor
            type: health-sensor
            profile: generic-health-sensor
            recognised: [{service: "1840"}]
            instructions:
              pairing: Pair the sensor if its manual says so.
              before: Switch the sensor on, within 5 m of the gateway.
              during: Measure as the device's manual says. Leave it switched on until it goes off by itself.
            rearm: 5m
          # Named models. Gaps in the numbers are for more of the same maker.
          # Omron: company 020E. Names are BLESmart_ or BLEsmart_, a number of the model, and the address; they are
          # in the scan response of some, and do not tell all models apart.
          - id: 2000
            name: Omron M4 Intelli IT, X4 Smart
            type: blood-pressure-monitor
            manufacturer: Omron
            model: HEM-7155T
            profile: blood-pressure
            junction_provider: omron_ble
            recognised:
              - {service: "1810", name: X4 Smart}
              - {service: "1810", company: "020E"}
              - {service: "1810", name_contains: blesmart_}
            bonding: required
            bonding_method: just-works
            instructions: &omron
              pairing: >-
                Unpair the cuff from phones first: it remembers one central. Hold its Bluetooth button until P
                blinks, then pair it. Let it finish: it shows OK and switches itself off.
              before: Sit and rest for five minutes. Put the cuff on the bare arm, at the height of the heart.
              during: >-
                Keep still and do not talk. Leave the cuff within 5 m of the gateway until it has switched
                itself off.
            quirks: [subscribe-only-to-read, bond-first-then-keep-link, one-bond-only, forgets-after-transfer, shares-name]
          - id: 2001
            name: Omron M7 Intelli IT
            type: blood-pressure-monitor
            manufacturer: Omron
            model: M7 Intelli IT
            profile: blood-pressure
            junction_provider: omron_ble
            recognised: [{service: "1810", company: "020E"}, {service: "1810", name_contains: blesmart_}]
            bonding: required
            bonding_method: just-works
            instructions: *omron
            quirks: [subscribe-only-to-read, bond-first-then-keep-link, one-bond-only, shares-name]
          - id: 2002
            name: Omron X2 Smart+
            type: blood-pressure-monitor
            manufacturer: Omron
            model: HEM-7146T2
            profile: blood-pressure
            junction_provider: omron_ble
            recognised:
              - {service: "1810", name: X2 Smart+}
              - {service: "1810", company: "020E"}
              - {service: "1810", name_contains: blesmart_}
            bonding: required
            bonding_method: just-works
            instructions: *omron
            quirks: [subscribe-only-to-read, bond-first-then-keep-link, one-bond-only, shares-name]
          - id: 2003
            name: Omron Bronze
            type: blood-pressure-monitor
            manufacturer: Omron
            model: BP5150
            profile: blood-pressure
            junction_provider: omron_ble
            recognised: [{service: "1810", company: "020E"}, {service: "1810", name_contains: blesmart_}]
            bonding: required
            bonding_method: just-works
            instructions: *omron
            quirks: [subscribe-only-to-read, bond-first-then-keep-link, one-bond-only, shares-name]
          - id: 2004
            name: Omron HEM-9200T
            type: blood-pressure-monitor
            manufacturer: Omron
            model: HEM-9200T
            profile: blood-pressure
            junction_provider: omron_ble
            recognised: [{service: "1810", name_contains: blesmart_00000116}]
            bonding: required
            bonding_method: just-works
            instructions: *omron
            quirks: [subscribe-only-to-read, bond-first-then-keep-link, one-bond-only]
          - id: 2005
            name: Omron Evolv
            type: blood-pressure-monitor
            manufacturer: Omron
            model: HEM-7600T
            profile: blood-pressure
            junction_provider: omron_ble
            recognised: [{service: "1810", name_contains: blesmart_0000001f}]
            bonding: required
            bonding_method: just-works
            instructions: *omron
            quirks: [subscribe-only-to-read, bond-first-then-keep-link, one-bond-only]
          # Beurer and its sister brands: the name of the model is in the name, with or without the maker's.
          - id: 2020
            name: Beurer BM 54
            type: blood-pressure-monitor
            manufacturer: Beurer
            model: BM 54
            profile: blood-pressure
            junction_provider: beurer_ble
            recognised: [{service: "1810", name: BM54}]
            bonding: required
            bonding_method: passkey-on-device
            instructions: &beurer
              pairing: >-
                Switch Bluetooth on in the monitor's menu and set it to pairing as its manual says. If it shows
                a code, type it into the pairing command.
              before: >-
                Sit and rest for five minutes. Choose your user on the monitor. Put the cuff on as its manual
                says, at the height of the heart.
              during: >-
                Keep still and do not talk. The monitor sends when the measurement is over, or when its memory
                is called up.
            quirks: [subscribe-only-to-read]
          - id: 2021
            name: Beurer BM 57
            type: blood-pressure-monitor
            manufacturer: Beurer
            model: BM 57
            profile: blood-pressure
            junction_provider: beurer_ble
            recognised: [{service: "1810", name: BM57}]
            instructions: *beurer
            quirks: [subscribe-only-to-read]
          - id: 2022
            name: Beurer BM 59
            type: blood-pressure-monitor
            manufacturer: Beurer
            model: BM 59
            profile: blood-pressure
            junction_provider: beurer_ble
            recognised: [{service: "1810", name: BM59}, {service: "1810", name: BM 59}]
            instructions: *beurer
            quirks: [subscribe-only-to-read]
          - id: 2023
            name: Beurer BM 64
            type: blood-pressure-monitor
            manufacturer: Beurer
            model: BM 64
            profile: blood-pressure
            junction_provider: beurer_ble
            recognised: [{service: "1810", name: BM64}]
            instructions: *beurer
            quirks: [subscribe-only-to-read]
          - id: 2024
            name: Beurer BM 77
            type: blood-pressure-monitor
            manufacturer: Beurer
            model: BM 77
            profile: blood-pressure
            junction_provider: beurer_ble
            recognised: [{service: "1810", name: BM77}]
            instructions: *beurer
            quirks: [subscribe-only-to-read]
          - id: 2025
            name: Beurer BM 81 easyLock
            type: blood-pressure-monitor
            manufacturer: Beurer
            model: BM 81 easyLock
            profile: blood-pressure
            junction_provider: beurer_ble
            recognised: [{service: "1810", name: BM81}]
            instructions: *beurer
            quirks: [subscribe-only-to-read]
          - id: 2026
            name: Beurer BM 85
            type: blood-pressure-monitor
            manufacturer: Beurer
            model: BM 85
            profile: blood-pressure
            junction_provider: beurer_ble
            recognised: [{service: "1810", name: Beurer BM85}]
            instructions: *beurer
            quirks: [subscribe-only-to-read, big-endian-blood-pressure]
          - id: 2027
            name: Beurer BC 54
            type: blood-pressure-monitor
            manufacturer: Beurer
            model: BC 54
            profile: blood-pressure
            junction_provider: beurer_ble
            recognised: [{service: "1810", name: BC54}]
            instructions: *beurer
            quirks: [subscribe-only-to-read]
          - id: 2028
            name: Beurer BC 57
            type: blood-pressure-monitor
            manufacturer: Beurer
            model: BC 57
            profile: blood-pressure
            junction_provider: beurer_ble
            recognised: [{service: "1810", name: BC57}]
            instructions: *beurer
            quirks: [subscribe-only-to-read]
          - id: 2029
            name: Beurer BC 87
            type: blood-pressure-monitor
            manufacturer: Beurer
            model: BC 87
            profile: blood-pressure
            junction_provider: beurer_ble
            recognised: [{service: "1810", name: BC87}]
            instructions: *beurer
            quirks: [subscribe-only-to-read]
          - id: 2030
            name: Sanitas SBM 69
            type: blood-pressure-monitor
            manufacturer: Sanitas
            model: SBM 69
            profile: blood-pressure
            recognised: [{service: "1810", name: SBM69}]
            bonding: required
            bonding_method: passkey-on-device
            instructions: *beurer
            quirks: [subscribe-only-to-read]
          - id: 2031
            name: Beurer FT 95
            type: thermometer
            manufacturer: Beurer
            model: FT 95
            profile: thermometer
            recognised: [{service: "1809", name: FT95}]
            instructions: &thermometer
              pairing: >-
                Set the thermometer to pairing mode as its manual says, then pair it. If its manual knows no
                pairing, none is needed.
              before: Switch the thermometer on, within 5 m of the gateway.
              during: Measure as the device's manual says. Leave it switched on until it goes off by itself.
          - id: 2032
            name: Beurer GL 49
            type: glucose-meter
            manufacturer: Beurer
            model: GL 49
            profile: glucose
            recognised: [{service: "1808", name: GL49}]
            instructions: &gl
              pairing: >-
                Switch Bluetooth on in the meter's menu, then pair it. If it shows a code, type it into the
                pairing command.
              before: Wash and dry your hands. Have the meter within 5 m of the gateway.
              during: >-
                Take the test as the meter's manual says. It sends when the test is over, or when sending is
                chosen in its menu.
          - id: 2033
            name: Beurer GL 50 evo
            type: glucose-meter
            manufacturer: Beurer
            model: GL 50 evo
            profile: glucose
            recognised: [{service: "1808", name: Beurer GL50EVO}]
            instructions: *gl
          # A&D: the model and the end of the address in the name.
          - id: 2040
            name: A&D UA-651BLE
            type: blood-pressure-monitor
            manufacturer: A&D
            model: UA-651BLE
            profile: blood-pressure
            recognised: [{service: "1810", name: A&D_UA-651BLE}]
            bonding: required
            instructions: &and-bp
              pairing: >-
                Set the monitor to pairing mode as its manual says, then pair it. It is ready when the gateway
                has hung up.
              before: >-
                Sit and rest for five minutes. Put the cuff on the bare upper arm, at the height of the heart.
              during: >-
                Keep still and do not talk. Leave the monitor within 5 m of the gateway until it has switched
                itself off.
            quirks: [disconnect-after-bonding, expects-clock, one-bond-only, forgets-after-transfer]
          - id: 2041
            name: A&D UC-352BLE
            type: weight-scale
            manufacturer: A&D
            model: UC-352BLE
            profile: weight-scale
            recognised: [{service: "181D", name: A&D_UC-352BLE}]
            bonding: required
            instructions: &scale
              pairing: >-
                Press the button underneath until its sign blinks, then pair it. It is ready when the gateway
                has hung up.
              before: Put the scale on a hard, level floor, within 5 m of the gateway.
              during: Step on with bare feet and stand still until the figure stops changing.
            quirks: [disconnect-after-bonding, expects-clock, one-bond-only]
          - id: 2042
            name: A&D UT-201BLE
            type: thermometer
            manufacturer: A&D
            model: UT-201BLE
            profile: thermometer
            recognised: [{service: "1809", name: A&D_UT201BLE}]
            bonding: required
            instructions: *thermometer
            quirks: [disconnect-after-bonding, expects-clock, one-bond-only]
          - id: 2045
            name: Medisana BU 570 connect
            type: blood-pressure-monitor
            manufacturer: Medisana
            model: BU 570 connect
            profile: blood-pressure
            recognised: [{service: "1810", name: 1872B}]
            instructions: &medisana-bp
              pairing: Hold the Bluetooth button until its sign blinks, then pair it if it asks for it.
              before: >-
                Sit and rest for five minutes. Put the cuff on the bare upper arm, at the height of the heart.
              during: >-
                Keep still and do not talk. Leave the monitor on after the measurement until it has sent it.
          - id: 2046
            name: Medisana PM 100 connect
            type: pulse-oximeter
            manufacturer: Medisana
            model: PM 100 connect
            profile: pulse-oximeter
            recognised: [{service: "1822", name: e-Oximeter}]
            instructions: &oximeter
              pairing: No pairing is needed. If the device asks for it, follow its manual.
              before: >-
                Warm your hand and take off nail varnish. Sit down and rest your arm at the height of the heart.
              during: >-
                Put the finger in as far as it goes and keep still until the figures are steady. One record is
                made each minute.
            ready_before_measurement: true
            rearm: 1m
          # Accu-Chek: meter+ and the serial number in the name, of whatever model.
          - id: 2050
            name: Accu-Chek Guide
            type: glucose-meter
            manufacturer: Roche
            model: Accu-Chek Guide
            profile: glucose
            junction_provider: accuchek_ble
            recognised: [{service: "1808", name: meter+}]
            bonding: required
            bonding_method: passkey-on-device
            instructions: &accu-chek
              pairing: >-
                On the meter: Settings, Wireless, Pairing, Pair device. If yours has no such menu, follow its
                manual. Type the code that it shows, or that is printed on it.
              before: Wash and dry your hands. Have the meter within 5 m of the gateway.
              during: >-
                Take the test as the meter's manual says, and leave the meter on. It sends after the test, or
                when sending is chosen in its menu.
            quirks: [shares-name]
          - id: 2051
            name: Accu-Chek Guide Me
            type: glucose-meter
            manufacturer: Roche
            model: Accu-Chek Guide Me
            profile: glucose
            junction_provider: accuchek_ble
            recognised: [{service: "1808", name: meter+}]
            bonding: required
            instructions: *accu-chek
            quirks: [shares-name]
          - id: 2052
            name: Accu-Chek Guide Active
            type: glucose-meter
            manufacturer: Roche
            model: Accu-Chek Guide Active
            profile: glucose
            junction_provider: accuchek_ble
            recognised: [{service: "1808", name: meter+}]
            bonding: required
            instructions: *accu-chek
            quirks: [shares-name]
          - id: 2053
            name: Accu-Chek Instant
            type: glucose-meter
            manufacturer: Roche
            model: Accu-Chek Instant
            profile: glucose
            junction_provider: accuchek_ble
            recognised: [{service: "1808", name: meter+}]
            bonding: required
            instructions: *accu-chek
            quirks: [shares-name]
          # Contour: Contour, a number of the model, and the serial number in the name.
          - id: 2060
            name: Contour Next One
            type: glucose-meter
            manufacturer: Ascensia
            model: Contour Next One
            profile: glucose
            junction_provider: contour_ble
            recognised: [{service: "1808", name_contains: contour}]
            bonding: required
            instructions: &contour
              pairing: >-
                Switch the meter off. Hold its button until a blue light flashes, then pair it. Keep its code at
                hand if it asks for one.
              before: Wash and dry your hands. Have the meter within 5 m of the gateway.
              during: >-
                Take the test as the meter's manual says, and leave the meter on until it has sent the reading.
            quirks: [shares-name]
          - id: 2061
            name: Contour Plus One
            type: glucose-meter
            manufacturer: Ascensia
            model: Contour Plus One
            profile: glucose
            junction_provider: contour_ble
            recognised: [{service: "1808", name: Contour7804}]
            bonding: required
            instructions: *contour
          # OneTouch: OneTouch and four characters in the name; the service is the maker's own.
          - id: 2065
            name: OneTouch Verio Reflect
            type: glucose-meter
            manufacturer: LifeScan
            model: OneTouch Verio Reflect
            profile: onetouch-verio
            junction_provider: onetouch_ble
            recognised: [{service: af9df7a1-e595-11e3-96b4-0002a5d5c51b}, {name: OneTouch}]
            bonding: required
            instructions: &onetouch
              pairing: >-
                Unpair the meter from phones nearby or keep them away. Switch Bluetooth on in the meter's
                settings, then pair it. If it shows a code, type it into the pairing command.
              before: Wash and dry your hands. Have the meter within 5 m of the gateway, with Bluetooth on.
              during: >-
                Take the test as the meter's manual says. Leave the meter on until its Bluetooth sign is out: it
                is read while it is on.
            quirks: [shares-name]
          - id: 2066
            name: OneTouch Verio Flex
            type: glucose-meter
            manufacturer: LifeScan
            model: OneTouch Verio Flex
            profile: onetouch-verio
            junction_provider: onetouch_ble
            recognised: [{service: af9df7a1-e595-11e3-96b4-0002a5d5c51b}, {name: OneTouch}]
            bonding: required
            instructions: *onetouch
            quirks: [shares-name]
          - id: 2067
            name: OneTouch Select Plus Flex
            type: glucose-meter
            manufacturer: LifeScan
            model: OneTouch Select Plus Flex
            profile: onetouch-verio
            junction_provider: onetouch_ble
            recognised: [{service: af9df7a1-e595-11e3-96b4-0002a5d5c51b}, {name: OneTouch}]
            bonding: required
            instructions: *onetouch
            quirks: [shares-name]
          - id: 2068
            name: OneTouch Ultra Plus Flex
            type: glucose-meter
            manufacturer: LifeScan
            model: OneTouch Ultra Plus Flex
            profile: onetouch-verio
            junction_provider: onetouch_ble
            recognised: [{service: af9df7a1-e595-11e3-96b4-0002a5d5c51b}, {name: OneTouch}]
            bonding: required
            instructions: *onetouch
            quirks: [shares-name]
          - id: 2070
            name: CareSens N Premier
            type: glucose-meter
            manufacturer: i-SENS
            model: CareSens N Premier
            profile: glucose
            recognised: [{service: "1808", name: CareSens}]
            bonding: required
            instructions: &caresens
              pairing: Set the meter to pairing mode as its manual says, then pair it. Keep its code at hand.
              before: Wash and dry your hands. Have the meter within 5 m of the gateway.
              during: Take the test as the meter's manual says. It sends after the test.
          # Nonin: older 3230 have the maker's own service alone, and are not recognised.
          - id: 2075
            name: Nonin 3230
            type: pulse-oximeter
            manufacturer: Nonin
            model: "3230"
            profile: pulse-oximeter
            recognised: [{service: "1822", name_contains: nonin}]
            instructions: *oximeter
            rearm: 1m
          - id: 2076
            name: Nonin 3150 WristOx2
            type: pulse-oximeter
            manufacturer: Nonin
            model: "3150"
            profile: pulse-oximeter
            recognised: [{service: 46a970e0-0d5f-11e2-8b5e-0002a5d5c51b, name: Nonin3150}]
            instructions: &wrist-oximeter
              pairing: >-
                This model can be named but not read: it sends by its maker's own service.
              before: Use an oximeter with the standard service (1005).
              during: Nothing is read from this model.
            quirks: [vendor-service]
          # Its name in adverts is not known: recognised as any oximeter is.
          - id: 2080
            name: ChoiceMMed MD300C208S
            type: pulse-oximeter
            manufacturer: ChoiceMMed
            model: MD300C208S
            profile: pulse-oximeter
            recognised: [{service: "1822"}]
            instructions: *oximeter
            ready_before_measurement: true
            rearm: 1m
            quirks: [shares-name]
          - id: 2085
            name: TaiDoc TD-1241, Fora IR40
            type: thermometer
            manufacturer: TaiDoc
            model: TD-1241
            profile: thermometer
            recognised: [{service: "1809", name: TAIDOC TD1241}, {service: "1809", name: FORA IR40}]
            instructions: *thermometer
          - id: 2087
            name: Philips ear thermometer
            type: thermometer
            manufacturer: Philips
            model: DL8740
            profile: thermometer
            recognised: [{service: "1809", name: Philips ear thermometer}]
            instructions: *thermometer
          - id: 2088
            name: Philips Avent SCH740
            type: thermometer
            manufacturer: Philips
            model: SCH740
            profile: thermometer
            recognised: [{service: "1809", name: SCH740}]
            instructions: *thermometer
          # Xiaomi: service data of the same services as the standard ones.
          - id: 2090
            name: Mi Smart Scale
            type: weight-scale
            manufacturer: Xiaomi
            model: XMTZC01HM
            profile: mi-scale
            recognised: [{service: "181D", name: MI_SCALE}]
            instructions: &mi-scale
              pairing: No pairing. The scale broadcasts its readings to whoever listens.
              before: Put the scale on a hard, level floor, within 5 m of the gateway.
              during: Step on with bare feet and stand still until the figure blinks or stops changing.
          - id: 2091
            name: Mi Smart Scale 2
            type: weight-scale
            manufacturer: Xiaomi
            model: XMTZC04HM
            profile: mi-scale
            recognised: [{service: "181D", name: MI SCALE2}]
            instructions: *mi-scale
          - id: 2092
            name: Mi Body Composition Scale
            type: body-composition-scale
            manufacturer: Xiaomi
            model: XMTZC02HM
            profile: mi-scale
            recognised: [{service: "181B", name: MIBCS}]
            instructions: *mi-scale
          - id: 2093
            name: Mi Body Composition Scale 2
            type: body-composition-scale
            manufacturer: Xiaomi
            model: XMTZC05HM
            profile: mi-scale
            recognised: [{service: "181B", name: MIBFS}]
            instructions: *mi-scale
          - id: 2094
            name: Xiaomi Body Composition Scale S400
            type: body-composition-scale
            manufacturer: Xiaomi
            model: XMTZC14HM
            profile: mibeacon
            recognised: [{service: "FE95", name_contains: scale s400}, {service: "FE95", name: XMTZC14HM}]
            instructions: &s400
              pairing: >-
                No pairing. The scale broadcasts its readings, encrypted: give the entry its bind key, which the
                maker's app holds.
              before: Put the scale on a hard, level floor, within 5 m of the gateway.
              during: Step on with bare feet and stand still until the scale says that it is done.
          # Heart rate: they advertise for as long as they are worn.
          - id: 2100
            name: Polar H7
            type: heart-rate-sensor
            manufacturer: Polar
            model: H7
            profile: heart-rate
            recognised: [{service: "180D", name: Polar H7}]
            instructions: &strap
              pairing: >-
                No pairing is needed. End its connections to watches and phones: a strap may serve few at a
                time.
              before: >-
                Moisten the electrodes and put the strap on: it advertises while it is worn.
              during: Wear the strap within 5 m of the gateway. One record is made each minute.
            rearm: 1m
          - id: 2101
            name: Polar H10
            type: heart-rate-sensor
            manufacturer: Polar
            model: H10
            profile: heart-rate
            recognised: [{service: "180D", name: Polar H10}]
            instructions: *strap
            rearm: 1m
          - id: 2102
            name: Polar OH1
            type: heart-rate-sensor
            manufacturer: Polar
            model: OH1
            profile: heart-rate
            recognised: [{service: "180D", name: Polar OH1}]
            instructions: &band
              pairing: >-
                No pairing is needed. End its connections to watches and phones: a band may serve few at a time.
              before: Fasten the band on the bare arm and switch it on. Choose its heart rate mode.
              during: Wear the band within 5 m of the gateway. One record is made each minute.
            rearm: 1m
          - id: 2103
            name: Polar Verity Sense
            type: heart-rate-sensor
            manufacturer: Polar
            model: Verity Sense
            profile: heart-rate
            recognised: [{service: "180D", name: Polar Sense}]
            instructions: *band
            rearm: 1m
          - id: 2104
            name: Garmin HRM-Dual
            type: heart-rate-sensor
            manufacturer: Garmin
            model: HRM-Dual
            profile: heart-rate
            recognised: [{service: "180D", name: HRM-Dual}]
            instructions: *strap
            rearm: 1m
          - id: 2105
            name: Wahoo TICKR
            type: heart-rate-sensor
            manufacturer: Wahoo
            model: TICKR
            profile: heart-rate
            recognised: [{service: "180D", name: TICKR}]
            instructions: *strap
            rearm: 1m

        """#
}
