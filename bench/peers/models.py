"""Whole models beside those of others: texts embedded, a prompt read, tokens written. One round of each peer in turn."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

from .stepped import Stepped

HERE = pathlib.Path(__file__).parent.parent / "models"
PROMPT, TOKENS = 2048, 256
WORKS = ("embed", "prefill", "decode")


class LlamaBench:
    """llama.cpp times itself: its program is started for each round, and its own warm-up comes before the time."""

    def __init__(self, dtype, program, work, file, threads):
        self.name, self.dtype, self.seconds, self.processor = "llama.cpp", dtype, [], []
        asked = {"prefill": ["-p", PROMPT, "-n", 0], "decode": ["-p", 0, "-n", TOKENS]}[work]
        self.command = list(map(str, [program, "-m", file, "-t", threads, *asked, "-r", 1, "-o", "json"]))

    def step(self, request=""):
        done = subprocess.run(self.command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.seconds.append(json.loads(done.stdout)[0]["avg_ns"] / 1e9)

    row = Stepped.row

    def close(self):
        pass


class Command:
    """The command as a whole: `qkv generate` of one token."""

    def __init__(self, options, folder):
        self.name, self.dtype, self.seconds, self.processor = "qkv", "f32", [], []
        program = f"{options.build}/apps/cli/qkv"
        text = ["The cat sat on the mat", "--tokens", "1", "--threads", str(options.threads)]
        self.command = [program, "generate", folder, *text]

    def step(self):
        start, before = time.perf_counter(), os.times()
        subprocess.run(self.command, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        self.seconds.append(time.perf_counter() - start)
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        self.processor.append(spent)

    row = Stepped.row


def made_models(options):
    """The folder with what make_models.py makes, and the texts; made once."""
    folder = pathlib.Path(options.out, "models")
    maker = (HERE / "make_models.py").read_text()
    made_with = folder / "made_with.txt"
    if not made_with.exists() or made_with.read_text() != maker:
        subprocess.run([sys.executable, HERE / "make_models.py", folder], check=True, stdout=sys.stderr)
        made_with.write_text(maker)
    subprocess.run([program_of(options), "texts", folder / "texts.txt"], check=True)
    return folder


def program_of(options):
    return f"{options.build}/bench/models/model_peer"


def gguf_of(options, folder, dtype):
    """The Llama as llama.cpp reads it, by the script in its own source."""
    file = folder / f"llama-{dtype}.gguf"
    if not file.exists():
        script = pathlib.Path(options.llama_cpp, "convert_hf_to_gguf.py")
        command = [sys.executable, script, folder / f"llama-{dtype}", "--outtype", dtype, "--outfile", file]
        subprocess.run(command, check=True, stdout=sys.stderr, stderr=subprocess.DEVNULL)
    return file


def peers(options, folder, work):
    wanted, found = options.peers.split(","), []
    for dtype in [dtype for dtype in ("f32", "bf16") if dtype in options.dtypes.split(",")]:
        of = folder / ("minilm" if work == "embed" else f"llama-{dtype}")
        last = {"embed": folder / "texts.txt", "prefill": PROMPT, "decode": TOKENS}[work]
        call = [options.threads, dtype, work, of, last]
        if "qkv" in wanted:
            found.append(Stepped("qkv", dtype, [program_of(options), *call]))
        if "pytorch" in wanted:
            found.append(Stepped("transformers", dtype, [sys.executable, HERE / "torch_model.py", *call]))
        if "onnxruntime" in wanted and work == "embed" and dtype == "f32":
            command = [HERE / "onnx_model.py", options.threads, of, folder / "minilm.onnx", last]
            found.append(Stepped("ONNX Runtime", dtype, [sys.executable, *command]))
        if "llama.cpp" in wanted and options.llama_cpp and work != "embed":
            program = f"{options.llama_cpp}/build/bin/llama-bench"
            found.append(LlamaBench(dtype, program, work, gguf_of(options, folder, dtype), options.threads))
    return found


def results_of(running, folder):
    """What each gives in its first round; llama.cpp's program does not say."""
    results = []
    for number, peer in enumerate(running):
        path = pathlib.Path(folder, f"{number}.npy")
        peer.step(path)
        results.append(np.load(path).squeeze() if path.exists() else None)
    return results


def difference(work, result, exact):
    """From what `transformers` gives in f32."""
    if result is None or exact is None:
        return ""
    if work == "decode":
        return f"{int((result == exact).cumprod().sum())} of {len(exact)} tokens"
    return f"{np.sqrt(((result - exact) ** 2).mean() / (exact**2).mean()):.1e}"


def measure_work(options, folder, work):
    running = peers(options, folder, work)
    with tempfile.TemporaryDirectory() as place:
        results = results_of(running, place)
    for _ in range(options.rounds):
        for peer in running:
            peer.step()
    by_name = {(peer.name, peer.dtype): result for peer, result in zip(running, results, strict=True)}
    exact = by_name.get(("transformers", "f32"))
    rows = []
    for peer, result in zip(running, results, strict=True):
        row = {"work": work, "threads": options.threads, **peer.row(), "off": difference(work, result, exact)}
        if work == "decode":
            row["bytes"] = TOKENS * (folder / f"llama-{peer.dtype}" / "model.safetensors").stat().st_size
        rows.append(row)
        peer.close()
    return rows


def measure(options):
    folder = made_models(options)
    rows = []
    for work in WORKS:
        rows += measure_work(options, folder, work)
        print(f"  models, {work}, {options.threads} thread(s): done", file=sys.stderr, flush=True)
    if "qkv" in options.peers.split(","):
        command = Command(options, folder / "small")
        for _ in range(options.rounds + 1):
            command.step()
        rows.append({"work": "first", "threads": options.threads, **command.row(), "off": ""})
    return rows
