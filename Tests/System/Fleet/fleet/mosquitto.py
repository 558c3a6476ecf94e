"""The same power cut for one mosquitto, which acknowledges what it has in memory: the test has to see what is lost."""

import signal
import subprocess
from pathlib import Path

from kit.gateway import Failure, wait_until
from kit.ports import wait_for_port

from .clients import CrowdProcess, ReaderProcess
from .disk import Disk
from .fleet import say

PORT = 8884
CONNECTIONS = 50


def begin(directory: Path, disk, log):
    file = directory / "mosquitto.conf"
    tls = directory / "tls"
    # As docs/fleet.md sets it up.
    file.write_text("\n".join([
        "user root", "persistence true", f"persistence_location {disk.mount_point}/", "max_queued_messages 0",
        "autosave_interval 60", f"listener {PORT} 127.0.0.1", f"certfile {tls}/node1.crt", f"keyfile {tls}/node1.key",
        f"cafile {tls}/authority.pem", "require_certificate true", "use_identity_as_username true"]) + "\n")
    process = subprocess.Popen(["/usr/sbin/mosquitto", "-c", file], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    wait_for_port(PORT, process)
    return process


def mosquitto_forgets(fleet):
    directory = fleet.directory / "mosquitto"
    directory.mkdir()
    (directory / "tls").symlink_to(fleet.directory / "tls")
    disk = Disk(directory / "disk.img", directory / "disk", "512M")
    with (directory / "log").open("ab") as log:
        broker = begin(directory, disk, log)
        reader = ReaderProcess(directory, PORT)
        reader.start()
        # Once in order, so that the reader's session is in the file.
        broker.terminate()
        broker.wait(timeout=30)
        disk.sync()
        reader.kill()
        broker = begin(directory, disk, log)
        crowd = CrowdProcess(directory, PORT)
        crowd.connect(CONNECTIONS)
        crowd.order(burst=CONNECTIONS)
        wait_until(lambda: crowd.state()["acknowledged"] >= fleet.numbers.acknowledged, "acknowledgements", 600)
        broker.send_signal(signal.SIGSTOP)
        disk.cut()
        broker.kill()
        broker.wait()
        crowd.order(burst=0)
        crowd.state()
        acknowledged = set(crowd.ids("acknowledged"))
        crowd.process.kill()
        disk.mount_again()
        broker = begin(directory, disk, log)
        reader.start()
        wait_until(lambda: reader.is_quiet(5), "the reader has all that there is", 300)
        lost = len(acknowledged - reader.ids())
        reader.kill()
        broker.kill()
    say(f"mosquitto: {len(acknowledged)} acknowledged, {lost} lost by the power cut")
    if lost == 0:
        raise Failure("mosquitto lost nothing: the power cut shows nothing")
