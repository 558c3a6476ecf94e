"""A page of docs/ that is run as it stands: its commands and files, in their order."""

import contextlib
import os
import re
import subprocess
import textwrap
from dataclasses import dataclass

from . import commands, gateway, package, system_clock
from .terminal import Terminal
from .waiting import BUSY_FACTOR, expect, expect_equal

DOCUMENTS = "/lab/docs"
# A fence with its language, or lines that are indented by four more than what they belong to.
PARTS = re.compile(r"^```(?P<language>\w+)\n(?P<fenced>.*?)^```$|^```\n.*?^```$|(?P<shell>(?:^ {4,}\S[^\n]*\n)+)",
                   re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Part:
    # "shell", or that of the fence. A fence without one shows what a command says, and is no part.
    language: str
    text: str
    # The path that the sentence before it names last, if it names one.
    path: str | None


class Guide:
    def __init__(self, name, directory=".", heading=None):
        """`directory` is where its commands are run; with a heading it is what stands under that."""
        self.text = package.read(f"{DOCUMENTS}/{name}.md")
        if heading:
            self.text = re.search(rf"^## {re.escape(heading)}\n(.*?)^## ", self.text, re.MULTILINE | re.DOTALL)[1]
        self.directory = directory
        self.parts = parts(self.text)

    def take(self, start, language="shell"):
        """The next part, which begins like this."""
        expect(self.parts, f"the page has no {start!r}")
        part = self.parts.pop(0)
        expect(part.language == language and part.text.startswith(start), f"instead of {start!r} comes {part}")
        return part

    def run(self, start, given="", status=0):
        """Runs the next block of commands, which begins like this, with `given` typed into it."""
        return run(self.take(start).text, self.directory, given, status)

    def terminal(self, start):
        """Starts the next block of commands at a terminal."""
        return Terminal("bash", "-e", "-c", self.take(start).text)

    def write(self, start):
        """Writes the next file where the page says, as an editor does."""
        part = self.take(start, "yaml")
        with open(part.path, "w", encoding="utf-8") as file:
            file.write(part.text)

    def run_inline(self, command, status=0):
        """Runs a command that stands in a sentence."""
        expect(f"`{command}`" in " ".join(self.text.split()), f"the page does not name {command!r}")
        return run(command, self.directory, "", status)

    def end(self):
        expect_equal(self.parts, [], "parts of the page that were not run")


def parts(text):
    """The commands and files of a page."""
    found = []
    for match in PARTS.finditer(text):
        if match["language"] is None and match["shell"] is None:
            continue
        before = text[:match.start()].rstrip().rsplit("\n\n", 1)[-1]
        paths = re.findall(r"`(/[^`]+)`", before)
        found.append(Part(match["language"] or "shell", match["fenced"] or textwrap.dedent(match["shell"]),
                          paths[-1] if paths else None))
    return found


def run(script, directory, given="", status=0):
    """Runs commands in a directory as a person does who agrees, and returns what they said."""
    script = re.sub(r"\bapt (install|purge)", r"apt-get --yes --no-install-recommends \1", script)
    done = subprocess.run(["bash", "-e", "-c", script], cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          input=given, text=True, timeout=package.LIMIT_S * BUSY_FACTOR, env={**os.environ, "PAGER": "cat"})
    expect_equal(done.returncode, status, f"exit status of {script!r}, which said {done.stdout!r}")
    return done.stdout


@contextlib.contextmanager
def empty_box():
    """A box without the program, whose clock is right by the network; afterwards all is as the other cases have it."""
    package.remove_by_hand()
    system_clock.claim_synchronised()
    try:
        yield
    finally:
        system_clock.set_time(system_clock.wall())
        commands.run("systemctl", "stop", gateway.UNIT, check=False)
        package.remove_by_hand()
        gateway.install(mounts=False)
