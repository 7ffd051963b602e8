"""Whole models beside those of others: texts embedded, prompts read, tokens written. One round of each peer in turn."""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

from . import divergence, model_files, model_peers

WORKS = {
    "read512": ("prefill", 512),
    "read2048": ("prefill", 2048),
    "decode": ("decode", 256),
    "unequal": ("unequal", 512),
}
UNEQUAL = (*model_files.WHOLE, "q4_1")  # types in which eight prompts at once are read


def written_texts(options):
    path = pathlib.Path(options.out, "models", "texts.txt")
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([f"{options.build}/bench/models/model_peer", "texts", path], check=True)
    return path


def first_rounds(running):
    """(each that ran its first round, what that gave; llama-bench does not say). The others are named and left out."""
    found = []
    with tempfile.TemporaryDirectory() as place:
        for number, peer in enumerate(running):
            path = pathlib.Path(place, f"{number}.npy")
            try:
                peer.step(path)
            except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
                print(f"  left out: {error}", file=sys.stderr, flush=True)
                continue
            found.append((peer, np.load(path).squeeze() if path.exists() else None))
    return found


def difference(work, result, exact):
    """From the exact result: that of `transformers` in f32."""
    if result is None or exact is None:
        return ""
    if work == "decode":
        return f"{int((result == exact).cumprod().sum())} of {len(exact)} tokens"
    return f"{np.sqrt(((result - exact) ** 2).mean() / (exact**2).mean()):.1e}"


def timed(options, running):
    """(peer, its first result) of those that ran."""
    found = first_rounds(running)
    for _ in range(options.rounds):
        for peer, _ in found:
            peer.step()
    for peer in running:
        peer.close()
    return found


def said(row):
    """The row; also on standard error, as a whole run takes long."""
    print(f"  {json.dumps(row)}", file=sys.stderr, flush=True)
    return row


def measure_work(options, work, every_type, start):
    """Each type in turn, f32 first: what `transformers` gives there is what the others are off from."""
    rows, exact = [], None
    for files in sorted(every_type, key=lambda files: files.dtype != "f32"):
        found = timed(options, start(files))
        for peer, result in found:
            if (peer.name, peer.dtype) == ("transformers", "f32"):
                exact = result
        for peer, result in found:
            row = {"model": files.model, "work": work, "threads": options.threads, **peer.row()}
            row["off"] = difference(work, result, exact)
            if work == "decode":
                row["bytes"] = WORKS[work][1] * files.own.stat().st_size
            rows.append(said(row))
    return rows


def measure_command(options, work, files, command, written=None):
    for _ in range(options.rounds + 1):
        command.step()
    row = {"model": files.model, "work": work, "threads": options.threads, **command.row(), "off": ""}
    row["beyond"] = row["peak"] - files.own.stat().st_size
    return said(row | ({"written": written.stat().st_size} if written else {}))


def measure_commands(options, every_type, works):
    rows = []
    for files in every_type:
        if "first" in works:
            rows.append(measure_command(options, "first", files, model_peers.first_token(options, files)))
        if "page" in works and files.dtype == "q4_1":
            path = pathlib.Path(options.out, "models", "page.html")
            rows.append(measure_command(options, "page", files, model_peers.page(options, files, path), path))
    return rows


def measure_works(options, every_type, works):
    rows = []
    for work in [work for work in WORKS if work in works]:
        chosen = [files for files in every_type if work != "unequal" or files.dtype in UNEQUAL]

        def start(files, work=work):
            return model_peers.readers(options, files, *WORKS[work])

        rows += measure_work(options, work, chosen, start)
    return rows


def measure_embeddings(options, every_type):
    texts = written_texts(options)
    return measure_work(options, "embed", every_type, lambda files: model_peers.embedders(options, files, texts))


def measure(options):
    """{"models": rows of times, "errors": rows of divergence}"""
    works, rows, errors = options.works.split(","), [], []
    for model in options.models.split(","):
        every_type = model_files.files_of(options, model)
        if model == "minilm":
            rows += measure_embeddings(options, every_type) if "embed" in works else []
            continue
        rows += measure_works(options, every_type, works)
        if model == "smollm2":
            rows += measure_commands(options, every_type, works) if "qkv" in options.peers.split(",") else []
            errors += divergence.measure(options, every_type) if "errors" in works else []
    return {"models": rows, "errors": errors}
