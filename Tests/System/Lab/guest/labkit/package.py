"""The Debian package in the guest, in the place of what is there by hand for the other cases."""

import glob
import os

from . import commands, gateway

# Of apt, under emulation, on a machine that is busy with other work.
LIMIT_S = 300
STATE = "/var/lib/ingestd"
BY_HAND = ("/usr/bin/ingestd", "/usr/lib/systemd/system/ingestd.service", "/usr/lib/sysusers.d/ingestd.conf",
           "/usr/lib/systemd/catalog/ingestd.catalog", "/usr/share/ingestd/peripherals.yaml",
           "/etc/ld.so.conf.d/ingestd.conf")


def path(which):
    """The file of the package under test ("newer"), of the same under an earlier number ("first"), or of PREVIOUS."""
    directory = f"{gateway.PAYLOAD}/package/{which}"
    name, = os.listdir(directory)
    return f"{directory}/{name}"


def apt(*command):
    return commands.run("apt-get", "--yes", "--no-install-recommends", *command, limit=LIMIT_S)


def version():
    """The version that is installed."""
    return commands.run("dpkg-query", "--show", "--showformat=${Version}", "ingestd")


def remove_by_hand():
    # Of a case that failed.
    if commands.run("dpkg-query", "--show", "ingestd", check=False).startswith("ingestd\t"):
        apt("purge", "ingestd")
    for file in BY_HAND:
        if os.path.exists(file):
            os.remove(file)
    for file in glob.glob("/etc/ingestd/**/*", recursive=True) + glob.glob(f"{STATE}/*"):
        if os.path.isfile(file):
            os.remove(file)
    commands.run("userdel", "ingestd", check=False)
    commands.run("ldconfig")
    commands.run("systemctl", "daemon-reload")


def left_behind():
    """What is there still of the queue and of the configuration."""
    return glob.glob(f"{STATE}/*") + glob.glob("/etc/ingestd/*.yaml")


def read(file):
    with open(file, encoding="utf-8") as text:
        return text.read()
