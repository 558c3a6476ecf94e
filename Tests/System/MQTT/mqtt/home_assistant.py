"""A Home Assistant with its MQTT integration and nothing else: writes a line of JSON whenever a sensor has changed.

python home_assistant.py DIRECTORY BROKER PORT: DIRECTORY becomes its configuration; BROKER is the broker's port on this
machine, PORT a free one.
"""

import asyncio
import json
import sys
from pathlib import Path

from homeassistant import auth, bootstrap, config_entries, core, loader
from homeassistant.helpers import device_registry, entity_registry
from homeassistant.setup import async_setup_component


def configure(directory, port):
    """What its dialogue for adding an integration writes."""
    storage = Path(directory) / ".storage"
    storage.mkdir(parents=True)
    # The integration reads it.
    (Path(directory) / "configuration.yaml").touch()
    entry = {"entry_id": "mqtt", "version": 1, "minor_version": 1, "domain": "mqtt", "title": "broker",
             "data": {"broker": "127.0.0.1", "port": port, "discovery": True, "discovery_prefix": "homeassistant"},
             "options": {}, "pref_disable_new_entities": False, "pref_disable_polling": False, "source": "user",
             "unique_id": None, "disabled_by": None}
    (storage / "core.config_entries").write_text(json.dumps({
        "version": 1, "minor_version": 1, "key": "core.config_entries", "data": {"entries": [entry]}}))


def sensors(hass):
    devices, entities = device_registry.async_get(hass), entity_registry.async_get(hass)
    found = {}
    for state in hass.states.async_all("sensor"):
        entity = entities.async_get(state.entity_id)
        device = devices.async_get(entity.device_id) if entity else None
        # The registries lose a sensor that is taken back before its state goes.
        if not device:
            continue
        found[entity.unique_id] = {
            "state": state.state, "unit": state.attributes.get("unit_of_measurement"),
            "class": state.attributes.get("device_class"), "name": state.attributes.get("friendly_name"),
            "device": device.name, "connections": sorted(map(list, device.connections))}
    return found


async def main(directory, broker, port):
    configure(directory, int(broker))
    hass = core.HomeAssistant(directory)
    hass.config.skip_pip = True
    loader.async_setup(hass)
    hass.config_entries = config_entries.ConfigEntries(hass, {})
    await bootstrap.async_load_base_functionality(hass)
    hass.auth = await auth.auth_manager_from_config(hass, [], [])
    # mqtt needs a server for uploads of certificates.
    configuration = {"http": {"server_host": ["127.0.0.1"], "server_port": int(port)}}
    for name in ("homeassistant", "http", "mqtt"):
        if not await async_setup_component(hass, name, configuration):
            sys.exit(f"{name} cannot be set up")
    await hass.async_start()
    told = None
    while True:
        found = sensors(hass)
        if found != told:
            print(json.dumps(found), flush=True)
            told = found
        await asyncio.sleep(0.2)


asyncio.run(main(*sys.argv[1:]))
