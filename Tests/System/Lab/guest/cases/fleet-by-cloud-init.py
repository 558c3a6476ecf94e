"""config/fleet/cloud-init as it stands, with Debian's cloud-init, from a seed on the box."""

import os
import shutil

from labkit import commands, fleet, guide, package, tls
from labkit.kinds import CUFF
from labkit.waiting import expect, expect_equal

TITLE = "cloud-init sets a box up at its first start, and leaves it alone at the second; a mistake stops nothing"
LIMIT_S = 500
NEEDS_PACKAGE = True
STAGE_LIMIT_S = 120
USER_DATA = f"{fleet.FILES}/cloud-init/user-data.yaml"
SEED = "/var/lib/cloud/seed/nocloud"
# The box of the lab has a name, users, a network and disks already; the stages are whole otherwise.
SETTINGS = "/etc/cloud/cloud.cfg.d/99-lab.cfg"
LIMITS = """\
datasource_list: [NoCloud]
network: {config: disabled}
users: []
cloud_init_modules: [write_files]
cloud_config_modules: [runcmd]
cloud_final_modules: [package_update_upgrade_install, write_files_deferred, scripts_user]
"""
STAGES = (("init", "--local"), ("init",), ("modules", "--mode=config"), ("modules", "--mode=final"))


def run(lab):
    os.makedirs(fleet.EXPORTER, exist_ok=True)
    try:
        with guide.empty_box(), tls.front(fleet.BACKEND):
            cuff = lab.air.add("cuff", fleet.ADDRESS, CUFF)
            said = commands.run("cloud-init", "schema", "--config-file", USER_DATA, limit=STAGE_LIMIT_S)
            expect("Valid" in said, f"the schema takes it: {said!r}")
            package.apt("install", package.path("newer"))
            start("ward-1", fleet.read(USER_DATA))
            fleet.expect_box(lab, cuff)
            before = fleet.state()
            start("ward-1", fleet.read(USER_DATA))
            expect_equal(fleet.state(), before, "the box after its second start")
            start("ward-1-again", fleet.read(USER_DATA).replace("id: 1001", "id: 4711"))
            expect_equal(fleet.state()[-1], before[-1], "the service's process after a mistake")
    finally:
        shutil.rmtree(fleet.EXPORTER)
        shutil.rmtree("/etc/ingestd/credentials", ignore_errors=True)
        shutil.rmtree("/var/lib/cloud", ignore_errors=True)
        if os.path.exists(SETTINGS):
            os.remove(SETTINGS)


def start(instance, user_data):
    """Has cloud-init do what it does at a start of the box."""
    os.makedirs(SEED, exist_ok=True)
    write(SETTINGS, LIMITS)
    write(f"{SEED}/meta-data", f"instance-id: {instance}\n")
    write(f"{SEED}/user-data", user_data)
    # Of this start.
    shutil.rmtree("/run/cloud-init", ignore_errors=True)
    for stage in STAGES:
        commands.run("cloud-init", *stage, check=False, limit=STAGE_LIMIT_S)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
