"""A program that does one round for each line that it is given, and answers how long that took."""

import json
import pathlib
import statistics
import subprocess


class Stepped:
    def __init__(self, name, dtype, command):
        self.name, self.dtype, self.seconds, self.processor = name, dtype, [], []
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def step(self, request=""):
        """What it answers, seconds and processor seconds among it."""
        self.process.stdin.write(f"{request}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name}, {self.dtype}: the program ended with {self.process.wait()}")
        answer = json.loads(line)
        self.seconds.append(answer["seconds"])
        self.processor.append(answer["processor"])
        return answer

    def row(self):
        """Of all rounds but the first, which starts threads, fills caches and compiles."""
        row = {"peer": self.name, "dtype": self.dtype, "rounds": self.seconds[1:], "first": self.seconds[0]}
        processor = statistics.median(self.processor[1:]) if self.processor else None
        return row | {"seconds": statistics.median(self.seconds[1:]), "processor": processor}

    def peak_bytes(self):
        lines = pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
