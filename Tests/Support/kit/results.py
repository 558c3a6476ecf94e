"""What came of the cases of a run: one line each, and the sum."""

import sys
import tempfile
from pathlib import Path


class Results:
    """The cases named on the command line, or all."""

    def __init__(self):
        self.named = sys.argv[1:]
        self.outcomes = {}

    def wants(self, name):
        return not self.named or name in self.named

    def note(self, name, outcome):
        """`outcome` is None for a case that passed, else why not."""
        self.outcomes[name] = outcome
        # One write a line: cases end at the same time.
        sys.stdout.write(f"ok {name}\n" if outcome is None else f"FAILED {name}: {outcome}\n")
        sys.stdout.flush()

    def run(self, name, body, *arguments):
        try:
            body(*arguments)
            outcome = None
        except Exception as error:  # pylint: disable=broad-except  # a case that breaks is one that failed
            outcome = f"{type(error).__name__}: {error}"
        self.note(name, outcome)

    def run_wanted(self, cases):
        for name, body in cases.items():
            if self.wants(name):
                self.run(name, body)

    def run_on(self, world, prefix):
        """The cases of `world(directory)`, whose `cases()` use one gateway: it is made if one of them may be wanted."""
        if self.named and len(self.outcomes) == len(self.named):
            return
        with tempfile.TemporaryDirectory(prefix=prefix) as temporary:
            made = world(Path(temporary))
            self.run_wanted(made.cases())
            made.stop()

    def end(self):
        """Prints the sum.

        Returns the exit status."""
        failed = sum(outcome is not None for outcome in self.outcomes.values())
        print(f"{len(self.outcomes) - failed} passed, {failed} failed")
        return 1 if failed or not self.outcomes else 0
