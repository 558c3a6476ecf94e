"""Prints what comes to a broker on this machine: a line of JSON a message. Run as a program."""

import json

from paho.mqtt import client as mqtt

client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
client.on_connect = lambda client, *_: (client.subscribe("#", qos=1), print('{"topic": ""}', flush=True))
client.on_message = lambda _client, _data, message: print(
    json.dumps({"topic": message.topic, "payload": message.payload.decode()}), flush=True)
client.connect("127.0.0.1", 1883)
client.loop_forever()
