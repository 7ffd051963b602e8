"""What quantised weights cost in answers: how far the probabilities of the next token are from those of the same file's
weights in f32, by `qkv check` and by llama.cpp on the same text."""

import json
import pathlib
import subprocess

from .model_files import WHOLE, qkv_of

TEXT = pathlib.Path(__file__).parents[2] / "docs" / "learning.md"
CHARACTERS, TOKENS = 18000, 4000


def written_text(options):
    path = pathlib.Path(options.out, "models", "text.txt")
    path.write_text(TEXT.read_text()[:CHARACTERS])
    return path


def in_f32(options, files):
    """The file's weights, dequantised."""
    path = files.own.parent if files.dtype != "q4_1" else pathlib.Path(options.out, "models")
    path = path / f"smollm2-{files.dtype}-in-f32.gguf"
    if not path.exists():
        command = [qkv_of(options), "convert", "--quiet", "--type", "f32", files.own, path]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    return path


def answer_of(command):
    """The JSON that it prints. `qkv check` ends with 1 where the models differ."""
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True)
    if done.returncode > 1 or not done.stdout:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {done.returncode}")
    return json.loads(done.stdout)


def measure(options, every_type):
    text, rows = written_text(options), []
    for files in [files for files in every_type if files.dtype not in WHOLE]:
        exact = in_f32(options, files)
        place = {"model": files.model, "dtype": files.dtype, "threads": options.threads}
        if "qkv" in options.peers.split(","):
            words = [
                "check",
                exact,
                files.own,
                "--file",
                text,
                "--dtype",
                "file",
                "--threads",
                options.threads,
                "--json",
            ]
            said = answer_of([qkv_of(options), *words])
            found = {name: said[name] for name in ("tokens", "divergence", "agreement")}
            rows.append({**place, "peer": "qkv", **found, "perplexity": said["perplexity_b"]})
        if "llama.cpp" in options.peers.split(",") and options.llama_cpp:
            program = f"{options.build}/bench/models/llama_divergence"
            rows.append({**place, "peer": "llama.cpp", **answer_of([program, exact, files.gguf, text, TOKENS])})
    return rows
