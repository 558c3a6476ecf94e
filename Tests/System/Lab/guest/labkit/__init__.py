"""What the cases stand on: peripherals, gateway, receiver, journal and capture, each in a module."""
