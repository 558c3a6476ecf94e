"""Adverts as they are sent, and as the packages take them."""

from habluetooth import BluetoothServiceInfoBleak

ADDRESS = "A4:C1:38:8D:18:B2"
KEY = bytes.fromhex("231d39c1d7cc1ab1aee224cd096db932")


def advert(service, data):
    """Flags, and one service data structure of a 16-bit service."""
    value = service.to_bytes(2, "little") + data
    return bytes([2, 0x01, 0x06, len(value) + 1, 0x16]) + value


def service_info(service, data, name="sensor"):
    return BluetoothServiceInfoBleak(
        name=name, address=ADDRESS, rssi=-60, manufacturer_data={},
        service_data={f"0000{service:04x}-0000-1000-8000-00805f9b34fb": data}, service_uuids=[], source="local",
        device=None, advertisement=None, connectable=False, time=0.0, tx_power=None)
