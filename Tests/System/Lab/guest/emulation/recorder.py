"""Devices whose memory is asked over a Record Access Control Point: glucose meters, continuous glucose monitors,
oximeters, generic health sensors.
"""

import asyncio

from bumble.att import ATT_Error

from .peripheral import Peripheral

CONTROL_POINT = "2A52"
# Record Access Control Point: op codes.
REPORT, DELETE, ABORT, REPORT_NUMBER, NUMBER, RESPONSE = 0x01, 0x02, 0x03, 0x04, 0x05, 0x06
COMBINED_REPORT, COMBINED_RESPONSE = 0x07, 0x08
# Operators.
NULL, ALL, UP_TO, FROM, RANGE, FIRST, LAST = 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06
# Response codes.
SUCCESS, OP_CODE_NOT_SUPPORTED, INVALID_OPERATOR, OPERATOR_NOT_SUPPORTED = 0x01, 0x02, 0x03, 0x04
INVALID_OPERAND, NO_RECORDS, OPERAND_NOT_SUPPORTED = 0x05, 0x06, 0x09
# ATT errors of the service.
NOT_SUBSCRIBED, ALREADY_IN_PROGRESS = 0xFD, 0xFE
# The sequence number of a glucose measurement, the time offset of a continuous one.
FILTER_BY_NUMBER = 0x01
# What `script` can set.
SCRIPT = {
    "newest_first": "the order in which records are sent",
    "refuse_filters": "the response code to every operator but ALL; 0 for none",
    "pause_s": "seconds between two notifications",
}


class Recorder(Peripheral):
    """Keeps records and gives those that it is asked for, as often as it is asked.

    It is awake from the moment something is stored until a transfer's response was confirmed. A record is a number and
    the packets that it is sent in: [characteristic, payload] each. Whatever should never be written to it is kept as an
    alarm. One with `combined` set reports by that operation only and has numbers of four bytes, as generic health
    sensors do.
    """

    def __init__(self, *arguments, measurement, combined=False, **options):
        super().__init__(*arguments, **options)
        self.measurement = measurement
        self.reporting = COMBINED_REPORT if combined else REPORT
        self.number_size = 4 if combined else 2
        self.records = []
        self.script = {"newest_first": False, "refuse_filters": 0, "pause_s": 0.02}
        self.awake = False
        self.requests = []
        self.alarms = []
        # The response whose confirmation is awaited: (what was asked, whether it ends the waking).
        self.responding = None

    # Orders

    def store(self, records):
        self.records += [(number, [(uuid, bytes.fromhex(payload)) for uuid, payload in packets])
                         for number, packets in records]
        self.wake(True)

    def erase(self, erased):
        """The user clears the memory."""
        if erased:
            self.records.clear()

    def wake(self, awake):
        self.awake = awake
        self.changed.set()

    def set_script(self, script):
        unknown = set(script) - set(SCRIPT)
        if unknown:
            raise ValueError(f"unknown in a script: {unknown}")
        self.script.update(script)

    @property
    def has_something(self):
        return self.awake

    def report(self):
        return {**super().report(), "requests": self.requests, "alarms": self.alarms,
                "awake": self.awake, "stored": len(self.records)}

    # The control point

    def on_connection(self, connection):
        self.responding = None
        super().on_connection(connection)

    def on_written(self, uuid, connection, value):
        link = self.device.link
        if link is None:
            return
        self.log("written", link=link.number, characteristic=uuid, hex=value.hex())
        self.requests.append([link.number, uuid, value.hex()])
        if uuid != CONTROL_POINT:
            self.alarm(f"{value.hex()} written to {uuid}")
            return
        needed = {CONTROL_POINT, self.measurement} if value[0] == self.reporting else {CONTROL_POINT}
        if not needed <= link.subscribed.keys():
            raise ATT_Error(NOT_SUBSCRIBED)
        if value[0] == DELETE:
            self.alarm(f"told to delete: {value.hex()}")
        busy = link.giving is not None and not link.giving.done()
        if busy and value[0] != ABORT:
            raise ATT_Error(ALREADY_IN_PROGRESS)
        if busy:
            link.giving.cancel()
        link.giving = asyncio.get_running_loop().create_task(self.answer(link, connection, value))

    def alarm(self, text):
        self.log("alarm", text=text)
        self.alarms.append(text)

    async def answer(self, link, connection, request):
        op_code = request[0]
        if op_code == ABORT:
            await self.respond(link, connection, bytes([RESPONSE, NULL, ABORT, SUCCESS]))
        elif op_code not in (self.reporting, REPORT_NUMBER):
            await self.respond(link, connection, bytes([RESPONSE, NULL, op_code, OP_CODE_NOT_SUPPORTED]))
        else:
            chosen, refusal = self.select(request[1:])
            if refusal:
                await self.respond(link, connection, bytes([RESPONSE, NULL, op_code, refusal]))
            elif op_code == REPORT_NUMBER:
                await self.respond(
                    link, connection, bytes([NUMBER, NULL]) + len(chosen).to_bytes(self.number_size, "little"))
            else:
                await self.transfer(link, connection, chosen)

    def select(self, asked):
        """The records asked for, and the response code of a refusal."""
        operator, operand = asked[0] if asked else NULL, asked[1:]
        if operator != ALL and self.script["refuse_filters"]:
            return [], self.script["refuse_filters"]
        ordered = sorted(self.records, key=lambda record: record[0])
        if operator in (ALL, FIRST, LAST):
            if operand:
                return [], INVALID_OPERAND
            return {ALL: ordered, FIRST: ordered[:1], LAST: ordered[-1:]}[operator], None
        if operator not in (UP_TO, FROM, RANGE):
            return [], INVALID_OPERATOR if operator == NULL else OPERATOR_NOT_SUPPORTED
        if operand[:1] != bytes([FILTER_BY_NUMBER]):
            return [], OPERAND_NOT_SUPPORTED
        size = self.number_size
        bounds = [int.from_bytes(operand[at:at + size], "little") for at in range(1, len(operand), size)]
        if len(operand) != 1 + size * (2 if operator == RANGE else 1) or bounds != sorted(bounds):
            return [], INVALID_OPERAND
        low = 0 if operator == UP_TO else bounds[0]
        high = 256 ** size - 1 if operator == FROM else bounds[-1]
        return [record for record in ordered if low <= record[0] <= high], None

    async def transfer(self, link, connection, records):
        for number, packets in reversed(records) if self.script["newest_first"] else records:
            for uuid, payload in packets:
                await self.may_send.wait()
                if uuid in link.subscribed:
                    await self.send(link, connection, uuid, payload)
                await asyncio.sleep(self.script["pause_s"])
        if records and self.reporting == COMBINED_REPORT:
            response = bytes([COMBINED_RESPONSE, NULL]) + len(records).to_bytes(self.number_size, "little")
        else:
            response = bytes([RESPONSE, NULL, self.reporting, SUCCESS if records else NO_RECORDS])
        await self.respond(link, connection, response, ends=True)

    async def respond(self, link, connection, response, ends=False):
        self.responding = ends
        await self.send(link, connection, CONTROL_POINT, response)

    def on_confirmed(self, link):
        if self.responding:
            self.awake = False
            self.log("given", link=link.number)
        self.responding = None
