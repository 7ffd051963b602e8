"""Paired times: in each round every contestant runs once."""

import statistics
import time

SAMPLE_SECONDS = 0.02


CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}


def seconds_of(function, calls, clock):
    start = CLOCKS[clock]()
    for _ in range(calls):
        function()
    return CLOCKS[clock]() - start


class Contest:
    """timers[name](calls) gives the seconds that so many calls take."""

    def __init__(self, timers, rounds):
        self.seconds = {name: [] for name in timers}
        calls = {}
        for name, timer in timers.items():
            timer(1)  # starts threads and fills caches
            calls[name] = max(1, round(SAMPLE_SECONDS / timer(1)))
        for _ in range(rounds):
            for name, timer in timers.items():
                self.seconds[name].append(timer(calls[name]) / calls[name])

    def median(self, name):
        return statistics.median(self.seconds[name])

    def ratio(self, name, base):
        """The median of the ratios within the rounds: a machine that slows down slows both sides."""
        return statistics.median(a / b for a, b in zip(self.seconds[name], self.seconds[base], strict=True))

    def difference(self, name, base):
        return statistics.median(a - b for a, b in zip(self.seconds[name], self.seconds[base], strict=True))
