"""Running the guest's own programs."""

import subprocess

from .waiting import BUSY_FACTOR

LIMIT_S = 60


def run(*command, check=True, limit=LIMIT_S):
    """Runs a command to its end and returns what it printed, without the last line break."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=limit * BUSY_FACTOR)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}: {done.stdout.strip()}")
    return done.stdout.rstrip("\n")


def is_active(unit):
    return run("systemctl", "is-active", unit, check=False) == "active"
