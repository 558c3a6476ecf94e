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
          - id: 1006
            name: Generic heart rate sensor
            type: heart-rate-sensor
            profile: heart-rate
            recognised: [{service: "180D"}]
            instructions:
              pairing: No pairing is needed. If the device asks for it, follow its manual.
              before: Moisten the electrodes of a chest strap, or fasten the arm band.
              during: Wear the sensor within 5 m of the gateway. One record is made each minute.
          - id: 1007
            name: Generic continuous glucose sensor
            type: continuous-glucose-sensor
            profile: continuous-glucose
            recognised: [{service: "181F"}]
            instructions:
              pairing: Pair the sensor with the gateway once, with the code that came with it.
              before: Apply the sensor as its manual says and wait until it has warmed up.
              during: Stay within 5 m of the gateway from time to time. The sensor keeps what it could not send.
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

        """#
}
