"""A whole training step beside PyTorch's: each in a process of its own, one step of each in turn."""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

TORCH = pathlib.Path(__file__).parent.parent / "training" / "torch_step.py"
MODES = {"eager": "PyTorch eager", "compile": "torch.compile"}


class Trainer:
    def __init__(self, name, dtype, command):
        self.name, self.dtype, self.seconds, self.processor = name, dtype, [], []
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def step(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        self.seconds.append(answer["seconds"])
        self.processor.append(answer["processor"])
        self.loss = answer["loss"]

    def peak_bytes(self):
        lines = pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def trainers(options, program, parameters):
    wanted, found = options.peers.split(","), []
    for dtype in ("f32", "bf16"):
        if dtype in options.dtypes.split(",") and "qkv" in wanted:
            found.append(Trainer("qkv", dtype, [program, options.threads, dtype]))
        for mode, name in MODES.items() if dtype in options.dtypes.split(",") and "pytorch" in wanted else ():
            found.append(Trainer(name, dtype, [sys.executable, TORCH, options.threads, dtype, mode, parameters]))
    return found


def exact_losses(options, parameters, steps):
    """PyTorch's in f64, after each step."""
    exact = Trainer("PyTorch eager", "f64", [sys.executable, TORCH, options.threads, "f64", "eager", parameters])
    losses = []
    for _ in range(steps):
        exact.step()
        losses.append(exact.loss)
    exact.close()
    return losses


def measure(options):
    """The first step starts threads, fills caches and compiles; it is not counted. The others are the rounds."""
    program = f"{options.build}/bench/training/training_step"
    with tempfile.TemporaryDirectory() as folder:
        parameters = f"{folder}/parameters.safetensors"
        subprocess.run([program, "parameters", parameters], check=True)
        running = trainers(options, program, parameters)
        for _ in range(options.rounds + 1):
            for trainer in running:
                trainer.step()
        exact = exact_losses(options, parameters, options.rounds + 1)
    rows = []
    for trainer in running:
        row = {"threads": options.threads, "peer": trainer.name, "dtype": trainer.dtype, "rounds": trainer.seconds[1:]}
        row |= {"first": trainer.seconds[0], "seconds": statistics.median(trainer.seconds[1:])}
        row["processor"] = statistics.median(trainer.processor[1:])
        row |= {"loss": trainer.loss, "loss_error": abs(trainer.loss - exact[-1]), "peak": trainer.peak_bytes()}
        rows.append(row)
        trainer.close()
    return rows
