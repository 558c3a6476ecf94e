"""Checks the list of parts: bill ROOT."""

import glob
import json
import re
import subprocess
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from license_expression import get_spdx_licensing


def main(root):
    path = max(glob.glob(f"{root}/ingestd_*.cdx.json"))
    with open(path, encoding="utf-8") as file:
        text = file.read()
    bill = json.loads(text)
    parts = bill["components"] + [part for outer in bill["components"] for part in outer.get("components", [])]
    results = [
        ("it is CycloneDX 1.6", JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)),
        ("each part has a licence of SPDX", unknown_licences(parts)),
        ("each Swift package is there in the version of Package.swift", wrong_versions(root, bill["components"])),
        ("each library that the binary names is there", missing_libraries(root, bill["components"])),
        ("each part has a version", [part["name"] for part in parts if not part.get("version")]),
        ("the hash is the package's", wrong_hash(root, bill)),
    ]
    for name, trouble in results:
        print(f"failed  {name}: {trouble}" if trouble else f"passed  {name}")
    failed = sum(bool(trouble) for _, trouble in results)
    print(f"{len(results) - failed} passed, {failed} failed")
    return failed == 0


def unknown_licences(parts):
    spdx = get_spdx_licensing()
    found = {licence["expression"] for part in parts for licence in part["licenses"]}
    # SPDX has no name for the public domain, and leaves LicenseRef- for that.
    return [text for text in sorted(found) if not text.startswith("LicenseRef-") and spdx.validate(text).errors]


def wrong_versions(root, components):
    with open(f"{root}/Package.swift", encoding="utf-8") as file:
        pinned = dict(re.findall(r'url: "https://([^"]+)", exact: "([^"]+)"', file.read()))
    listed = {part["purl"].removeprefix("pkg:swift/") for part in components if part["purl"].startswith("pkg:swift/")}
    wrong = [name for name in listed if tuple(name.rsplit("@", 1)) not in pinned.items()]
    return wrong if listed else ["none is listed"]


def missing_libraries(root, components):
    listed = {part["name"] for part in components}
    named = re.findall(r"NEEDED\s+(\S+)", output("objdump", "-p", f"{root}/ingestd"))
    paths = dict(re.findall(r"^\s*(\S+) => (/\S+)", output("ldd", f"{root}/ingestd"), re.MULTILINE))
    missing = []
    for name in named:
        if name not in paths:
            # The dynamic loader, which is the C library's.
            continue
        # Some were packed below /lib, an alias of /usr/lib.
        real = output("realpath", paths[name]).strip()
        found = subprocess.run(["dpkg-query", "--search", real, real.removeprefix("/usr")], capture_output=True, text=True,
                               check=False).stdout
        if found.split(":")[0] not in listed:
            missing.append(f"{name} of {found.split(':')[0]}")
    return missing


def wrong_hash(root, bill):
    package, = (path for path in glob.glob(f"{root}/ingestd_*.deb") if bill["metadata"]["component"]["version"] in path)
    expected = output("sha256sum", package).split()[0]
    found = bill["metadata"]["component"]["hashes"][0]["content"]
    return None if found == expected else [found, expected]


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(0 if main(*sys.argv[1:]) else 1)
