"""Who runs a model whole, and how each is asked: programs that do one round a line, and commands as a whole."""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

from .model_files import WHOLE, qkv_of
from .stepped import Stepped

HERE = pathlib.Path(__file__).parent.parent / "models"
TWENTY = "The museum opens at nine in the morning, and the last visitors leave it shortly before the evening."
FORTY = (
    "The old museum at the end of the street opens at nine in the morning, and although its guards are tired, "
    "the last of the visitors leave it only shortly before the lamps of the square are lit."
)


class LlamaBench:
    """llama.cpp times itself: its program is started for each round, and its own warm-up comes before the time."""

    def __init__(self, dtype, program, work, tokens, file, threads):
        self.name, self.dtype, self.seconds, self.processor = "llama-bench", dtype, [], []
        asked = {"prefill": ["-p", tokens, "-n", 0], "decode": ["-p", 0, "-n", tokens]}[work]
        self.command = list(map(str, [program, "-m", file, "-t", threads, *asked, "-r", 1, "-o", "json"]))

    def step(self, request=""):
        done = subprocess.run(self.command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.seconds.append(json.loads(done.stdout)[0]["avg_ns"] / 1e9)

    row = Stepped.row

    def close(self):
        pass


class Command:
    """A command of qkv as a whole, and the most memory that it held."""

    def __init__(self, dtype, threads, words):
        self.name, self.dtype, self.seconds, self.processor = "qkv", dtype, [], []
        self.command, self.peak = list(map(str, words)), 0
        self.environment = {**os.environ, "QKV_THREADS": str(threads)}

    def step(self):
        start = time.perf_counter()
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(self.command, env=self.environment, **silent)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{' '.join(self.command)} ended with {process.returncode}")
        self.seconds.append(time.perf_counter() - start)
        self.processor.append(used.ru_utime + used.ru_stime)
        self.peak = max(self.peak, used.ru_maxrss * 1024)

    def row(self):
        return {**Stepped.row(self), "peak": self.peak, "processor": statistics.median(self.processor[1:])}


def first_token(options, files):
    return Command(files.dtype, options.threads, [qkv_of(options), "generate", files.own, TWENTY, "--tokens", 1])


def page(options, files, path):
    words = ["explain", "--model", files.own, FORTY, "--html", path, "--quiet"]
    return Command(files.dtype, options.threads, [qkv_of(options), *words])


def embedders(options, files, texts):
    wanted, threads, dtype = options.peers.split(","), options.threads, files.dtype
    onnx = files.folder.parent
    call = [threads, dtype, "embed", files.folder, texts]
    programs = {
        "qkv": ("qkv", [f"{options.build}/bench/models/model_peer", *call]),
        "pytorch": ("transformers", [sys.executable, HERE / "torch_model.py", *call]),
        "openvino": (
            "OpenVINO",
            [
                sys.executable,
                HERE / "openvino_model.py",
                threads,
                dtype,
                files.folder,
                onnx / "minilm-plain.onnx",
                texts,
            ],
        ),
    }
    if dtype == "f32":
        words = [HERE / "onnxruntime_model.py", threads, files.folder, onnx / "minilm.onnx", texts]
        programs["onnxruntime"] = ("ONNX Runtime", [sys.executable, *words])
    return [Stepped(name, dtype, command) for peer, (name, command) in programs.items() if peer in wanted]


def readers(options, files, work, tokens):
    """Of prompts, and writers of tokens."""
    wanted, threads, dtype = options.peers.split(","), options.threads, files.dtype
    programs = f"{options.build}/bench/models"
    found = []
    if "qkv" in wanted:
        computed = dtype if dtype in WHOLE else "file"
        found.append(Stepped("qkv", dtype, [f"{programs}/model_peer", threads, computed, work, files.own, tokens]))
    if "pytorch" in wanted and files.folder:
        command = [sys.executable, HERE / "torch_model.py", threads, dtype, work, files.folder, tokens]
        found.append(Stepped("transformers", dtype, command))
    if "llama.cpp" in wanted and options.llama_cpp:
        found.append(Stepped("llama.cpp", dtype, [f"{programs}/llama_peer", threads, work, files.gguf, tokens]))
    if "llama-bench" in wanted and options.llama_cpp and work != "unequal":
        program = f"{options.llama_cpp}/build/bin/llama-bench"
        found.append(LlamaBench(dtype, program, work, tokens, files.gguf, threads))
    if "ik_llama.cpp" in wanted and work != "unequal":
        command = [sys.executable, HERE / "ik_model.py", threads, work, files.gguf, tokens]
        found.append(Stepped("ik_llama.cpp", dtype, command))
    return found
