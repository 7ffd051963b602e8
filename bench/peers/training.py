"""A whole training step beside PyTorch's: each in a process of its own, one step of each in turn."""

import pathlib
import subprocess
import sys
import tempfile

from .stepped import Stepped

TORCH = pathlib.Path(__file__).parent.parent / "training" / "torch_step.py"
MODES = {"eager": "PyTorch eager", "compile": "torch.compile"}


def trainers(options, program, parameters):
    wanted, found = options.peers.split(","), []
    for dtype in ("f32", "bf16"):
        if dtype in options.dtypes.split(",") and "qkv" in wanted:
            found.append(Stepped("qkv", dtype, [program, options.threads, dtype]))
        for mode, name in MODES.items() if dtype in options.dtypes.split(",") and "pytorch" in wanted else ():
            found.append(Stepped(name, dtype, [sys.executable, TORCH, options.threads, dtype, mode, parameters]))
    return found


def exact_losses(options, parameters, steps):
    """PyTorch's in f64, after each step."""
    exact = Stepped("PyTorch eager", "f64", [sys.executable, TORCH, options.threads, "f64", "eager", parameters])
    losses = [exact.step()["loss"] for _ in range(steps)]
    exact.close()
    return losses


def measure(options):
    program = f"{options.build}/bench/training/training_step"
    with tempfile.TemporaryDirectory() as folder:
        parameters = f"{folder}/parameters.safetensors"
        subprocess.run([program, "parameters", parameters], check=True)
        running = trainers(options, program, parameters)
        for _ in range(options.rounds + 1):
            losses = [trainer.step()["loss"] for trainer in running]
        exact = exact_losses(options, parameters, options.rounds + 1)
    rows = []
    for trainer, loss in zip(running, losses, strict=True):
        row = {"threads": options.threads, **trainer.row(), "loss": loss, "loss_error": abs(loss - exact[-1])}
        rows.append(row | {"peak": trainer.peak_bytes()})
        trainer.close()
    return rows
