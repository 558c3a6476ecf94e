"""When the power is cut: drawn from the seed."""

from dataclasses import dataclass

# By the event that it waits for: what the moment is called, of which occurrence at most, and seconds after it at most.
MOMENTS = {
    "link": ("at any moment", 1, 6.0),
    "indicated": ("while a reading is being committed", 12, 0.06),
    "confirming": ("as a confirmation is lost", 20, 0.0),
    "confirmed": ("at a confirmation", 20, 0.0),
    "request": ("while a request is at the receiver", 6, 0.06),
    "answered": ("after an answer", 6, 0.06),
}
# Of these moments the receiver may be closed since the start, so that all that was read is on the disk alone.
WITHOUT_RECEIVER = ("link", "indicated", "confirming", "confirmed")


@dataclass(frozen=True)
class Cut:
    event: str
    occurrence: int
    delay_s: float
    closed: bool

    @property
    def text(self):
        return MOMENTS[self.event][0] + (", the receiver closed" if self.closed else "")


def draw(random):
    event = random.choice(list(MOMENTS))
    _, most, longest = MOMENTS[event]
    return Cut(event, random.randint(1, most), random.uniform(0, longest),
               event in WITHOUT_RECEIVER and random.random() < 0.5)
