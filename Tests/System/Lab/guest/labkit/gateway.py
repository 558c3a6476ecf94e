"""ingestd as the guest's service: installed from the payload, configured per case, started, killed."""

import contextlib
import datetime
import glob
import json
import os
import signal
import zoneinfo

from . import disk
from .commands import is_active, run
from .receiver import URL
from .waiting import wait_until

PAYLOAD = "/lab/payload"
UNIT = "ingestd.service"
CONFIGURATION = "/etc/ingestd/ingestd.yaml"
MODELS = "/etc/ingestd/peripherals.d/lab.yaml"
KEYS = "/etc/ingestd/keys"
TIME_ZONE = zoneinfo.ZoneInfo("Europe/London")
START_LIMIT_S = 90
# TimeoutStopSec= four times: on a kernel that crashes at the end of the process systemd gives up only then.
STOP_LIMIT_S = 120
# Of what a device has stored, and of the readings after that.
HISTORICAL, LIVE = "historical", "live"


def local_time(**before):
    """The time on the gateway's wall, so many hours or minutes ago."""
    return datetime.datetime.now(TIME_ZONE) - datetime.timedelta(**before)


def install(mounts=True):
    """Puts the payload where the package would, and mounts the state directory's disk."""
    run("install", "-D", "-m", "755", f"{PAYLOAD}/ingestd", "/usr/bin/ingestd")
    run("install", "-D", "-m", "644", f"{PAYLOAD}/ingestd.service", "/usr/lib/systemd/system/ingestd.service")
    run("install", "-D", "-m", "644", f"{PAYLOAD}/ingestd.sysusers.conf", "/usr/lib/sysusers.d/ingestd.conf")
    if os.path.exists(f"{PAYLOAD}/ingestd.catalog"):
        run("install", "-D", "-m", "644", f"{PAYLOAD}/ingestd.catalog", "/usr/lib/systemd/catalog/ingestd.catalog")
        run("journalctl", "--update-catalog")
    if os.path.exists(f"{PAYLOAD}/peripherals.yaml"):
        run("install", "-D", "-m", "644", f"{PAYLOAD}/peripherals.yaml", "/usr/share/ingestd/peripherals.yaml")
    with open("/etc/ld.so.conf.d/ingestd.conf", "w", encoding="utf-8") as paths:
        paths.write(f"{PAYLOAD}/lib\n")
    run("ldconfig")
    run("systemd-sysusers")
    if mounts:
        disk.mount()
    run("systemctl", "daemon-reload")


class Gateway:
    def __init__(self, journal):
        self.journal = journal

    def configure(self, *peripherals, passive=None, settings=None, trust_clock=True, models=(),
                  sections=None):
        """Writes a configuration whose allow-list is these peripherals, pinned, with their names as aliases.

        `passive` adds to the section of this name; `settings` has further keys of an entry, by peripheral; None as a
        value leaves a key out. `models` are added to the catalogue. `sections` take the place of those here. The
        guest's clock is right, though nothing in the guest says so.
        """
        configuration = {
            "gateway": {"id": "lab-box", "time_zone": TIME_ZONE.key, "trust_clock": trust_clock},
            "passive": {"quiet_period": "2s", "cooldown": "1s", **(passive or {})},
            "destinations": [{"name": "backend", "type": "webhook", "url": f"{URL}/readings",
                              "batch": {"max_records": 100, "max_wait": "200ms"}}],
            "peripherals": [entry(peripheral, (settings or {}).get(peripheral, {})) for peripheral in peripherals],
            **(sections or {}),
        }
        os.makedirs(os.path.dirname(MODELS), exist_ok=True)
        # JSON is YAML.
        write_readable(CONFIGURATION, json.dumps(configuration, indent=1) + "\n")
        if models:
            write_readable(MODELS, json.dumps({"models": list(models)}) + "\n")
        elif os.path.exists(MODELS):
            os.remove(MODELS)

    def keep_key(self, name, key):
        """Writes a key to a file that the configuration can name, and returns its path."""
        os.makedirs(KEYS, exist_ok=True)
        path = f"{KEYS}/{name}"
        write_readable(path, key + "\n")
        return path

    def reload(self):
        """Applies a changed configuration; returns when the service says so."""
        before = len(self.journal.events("config-reloaded"))
        run("systemctl", "reload", UNIT)
        self.journal.wait("config-reloaded", count=before + 1)

    def start(self, *peripherals, adapter=True, **options):
        """Starts the service on these peripherals; returns when it listens for them."""
        self.configure(*peripherals, **options)
        run("systemctl", "start", UNIT)
        if adapter:
            self.journal.wait("adapter-ready", seconds=START_LIMIT_S)

    def stop(self):
        run("systemctl", "stop", UNIT, limit=STOP_LIMIT_S)
        run("systemctl", "reset-failed", UNIT, check=False)

    @property
    def is_active(self):
        return is_active(UNIT)

    @property
    def pid(self):
        return int(run("systemctl", "show", "--property=MainPID", "--value", UNIT))

    @property
    def status_line(self):
        """What the service says of itself in `systemctl status`."""
        return run("systemctl", "show", "--property=StatusText", "--value", UNIT)

    def cgroup(self, file):
        """What a file of the service's control group says."""
        with open(f"/sys/fs/cgroup/system.slice/{UNIT}/{file}", encoding="utf-8") as text:
            return text.read().strip()

    @property
    def processes(self):
        """All processes of the service, its own first."""
        own = self.pid
        return [own] + [pid for pid in map(int, self.cgroup("cgroup.procs").split()) if pid != own]

    @property
    def restarts(self):
        """How often systemd had to start it anew since it was started."""
        return int(run("systemctl", "show", "--property=NRestarts", "--value", UNIT))

    def kill(self):
        """Ends the service's process with SIGKILL and returns its number; systemd starts a new one."""
        pid = self.pid
        os.kill(pid, signal.SIGKILL)
        return pid

    def wait_restarted(self, old_pid):
        wait_until("systemd has started ingestd anew", START_LIMIT_S,
                   lambda: self.pid not in (0, old_pid) and self.is_active)

    def thread_status(self):
        """The fields of /proc/PID/task/*/status, one dictionary per thread."""
        statuses = []
        for path in glob.glob(f"/proc/{self.pid}/task/*/status"):
            # A thread may end meanwhile, before its file is opened or while it is read.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(path, encoding="utf-8") as file:
                statuses.append(dict(line.split(":", 1) for line in file))
        return [{key: value.strip() for key, value in status.items()} for status in statuses]

    def thread_states(self):
        return [status["State"][0] for status in self.thread_status()]


def entry(peripheral, settings):
    keys = {"id": peripheral.kind.model, "address": peripheral.address, "alias": peripheral.name, **settings}
    return {key: value for key, value in keys.items() if value is not None}


def write_readable(path, text):
    """Writes a file that the service can read, and nobody else."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    run("chown", "root:ingestd", path)
    os.chmod(path, 0o640)
