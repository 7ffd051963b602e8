"""A peer in a program of its own that answers bench/server/serve.h: qkv, oneDNN, and ggml."""

import json
import os
import subprocess
import tempfile

import numpy as np


DTYPES = ("f32", "bf16", "f16")
WITH_CACHES = (*DTYPES, "i8")


class ServerError(Exception):
    pass


class Server:
    def __init__(self, program, environment=None):
        self.process = subprocess.Popen(
            [program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **(environment or {})},
            text=True,
        )

    def ask(self, what, **arguments):
        try:
            self.process.stdin.write(json.dumps({"do": what, **arguments}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise ServerError(f"the program ended with {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise ServerError(answer["error"])
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class ServedPeer:
    """`call` is forward, backward, or both: a backward and the forward before it. A ragged peer takes padded texts without
    their padding, end to end."""

    def __init__(self, name, dtype, threads, program, environment=None, call="forward", ragged=False):
        self.name, self.dtype, self.threads = name, dtype, threads
        self.program, self.environment, self.call, self.ragged = program, environment, call, ragged

    def prepare(self, shape, inputs, **options):
        self.server = Server(self.program, self.environment)
        with tempfile.TemporaryDirectory() as folder:
            names = ("q", "k", "v") if self.call == "forward" else ("q", "k", "v", "d_out")
            files = {name: os.path.join(folder, name + ".npy") for name in names}
            for name, array in zip(names, inputs, strict=True):
                np.save(files[name], array)
            self.server.ask("load", dtype=self.dtype, **files)
        texts = {"mask": "all()", "lengths": shape.lengths} if self.ragged and shape.lengths else {"mask": shape.mask}
        self.server.ask("prepare", **{"call": self.call, "threads": self.threads, **texts, **options})

    def seconds(self, repeats):
        return self.server.ask("time", repeats=repeats)["seconds"]

    def out(self):
        return self._results("out")[0]

    def gradients(self):
        return self._results("d_q", "d_k", "d_v")

    def _results(self, *names):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name + ".npy") for name in names]
            self.server.ask("save", files=paths)
            return [np.load(path) for path in paths]

    def memory(self):
        """What one call takes: serve.h has the fields."""
        return self.server.ask("memory")

    def close(self):
        if getattr(self, "server", None):
            self.server.close()
            self.server = None


def qkv_peer(dtype, threads, build, target=None, call="forward"):
    name = f"qkv ({target})" if target else "qkv"
    environment = {"QKV_FORCE_TARGET": target} if target else None
    return ServedPeer(name, dtype, threads, f"{build}/bench/server/qkv_server", environment, call, ragged=True)


def qkv_peers(threads, build, targets, direction, shape):
    """One for each type, and in f32 one more for each forced target. At a padded shape one of each type that takes the
    padding along under a mask, as the others do."""
    call = "backward" if direction == "backward" else "forward"
    found = [qkv_peer(dtype, threads, build, call=call) for dtype in WITH_CACHES]
    found += [qkv_peer("f32", threads, build, target, call) for target in targets.split(",") if target]
    if shape.lengths:
        found += [ServedPeer("qkv, padded", dtype, threads, f"{build}/bench/server/qkv_server", call=call) for dtype in DTYPES]
    return found


def earlier_qkv_peers(threads, build, direction):
    """Another build of qkv, by its own choice of target."""
    call = "backward" if direction == "backward" else "forward"
    found = [qkv_peer(dtype, threads, build, call=call) for dtype in WITH_CACHES]
    for peer in found:
        peer.name = "qkv before"
    return found


def onednn_peers(threads, build, installed):
    """Its threads are as many as the processors that it may use, and it finds these through OpenCL."""
    environment = {
        "LD_LIBRARY_PATH": f"{installed}/lib",
        "OCL_ICD_FILENAMES": f"{installed}/lib/libintelocl.so",
        "ONEDNN_VERBOSE": "none",
    }
    program = f"{build}/bench/server/onednn_server"
    return [ServedPeer("oneDNN Graph SDPA", dtype, threads, program, environment) for dtype in DTYPES]


def ggml_peers(threads, build):
    """llama.cpp's kernel by itself; i8 is its q8_0."""
    program = f"{build}/bench/server/ggml_server"
    return [ServedPeer("ggml flash_attn_ext", dtype, threads, program) for dtype in WITH_CACHES]
