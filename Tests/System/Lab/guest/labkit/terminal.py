"""A command at a terminal of 24 lines of 80 characters, as an installer has it."""

import fcntl
import os
import pty
import re
import struct
import termios
import threading

from .waiting import Failure, wait_until

# Of one answer of the command: a device is woken, linked and paired meanwhile.
LIMIT_S = 60


class Terminal:
    def __init__(self, *command):
        self.text = ""
        # Up to where it was waited for.
        self.seen = 0
        self.keys = 0
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.execvp(command[0], command)
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        try:
            while said := os.read(self.descriptor, 4096):
                self.text += said.decode().replace("\r\n", "\n")
        except OSError:
            # The other side of a terminal has gone.
            pass

    def wait(self, words, seconds=LIMIT_S):
        """Waits until this stands behind what was waited for before."""
        try:
            wait_until(f"{words!r} at the terminal", seconds, lambda: words in self.text[self.seen:])
        except Failure as failure:
            raise Failure(f"{failure}, which says {self.text[-1500:]!r}") from None
        self.seen = self.text.index(words, self.seen) + len(words)

    def type(self, line):
        os.write(self.descriptor, line.encode() + b"\r")
        self.keys += len(line) + 1

    def answer(self, question, line="", seconds=LIMIT_S):
        self.wait(question, seconds)
        # Behind the question: what is typed before it is shown before it, too.
        self.wait(":")
        self.type(line)

    def choose(self, question, words, rounds=20):
        """Answers with the number of the line that has these words, and with nothing until there is one."""
        for _ in range(rounds):
            self.wait(question)
            found = re.search(rf"^ *(\d+) .*{words}", self.text, re.MULTILINE)
            self.wait(":")
            self.type(found[1] if found else "")
            if found:
                return
        raise Failure(f"no line with {words!r} at the terminal, which says {self.text[-1500:]!r}")

    def end(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
