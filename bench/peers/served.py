"""A peer in a program of its own that answers bench/server/serve.h: qkv, and oneDNN."""

import json
import os
import subprocess
import tempfile

import numpy as np


DTYPES = ("f32", "bf16", "f16")


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
    """`call` is forward, backward, or both: a backward and the forward before it."""

    def __init__(self, name, dtype, threads, program, environment=None, call="forward"):
        self.name, self.dtype, self.threads = name, dtype, threads
        self.program, self.environment, self.call = program, environment, call

    def prepare(self, shape, inputs, **options):
        self.server = Server(self.program, self.environment)
        with tempfile.TemporaryDirectory() as folder:
            names = ("q", "k", "v") if self.call == "forward" else ("q", "k", "v", "d_out")
            files = {name: os.path.join(folder, name + ".npy") for name in names}
            for name, array in zip(names, inputs, strict=True):
                np.save(files[name], array)
            self.server.ask("load", dtype=self.dtype, **files)
        request = {"call": self.call, "mask": shape.mask, "threads": self.threads, **options}
        self.server.ask("prepare", **request)

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
    return ServedPeer(name, dtype, threads, f"{build}/bench/server/qkv_server", environment, call)


def qkv_peers(threads, build, targets, direction):
    """One for each type, and in f32 one more for each forced target."""
    chosen = [qkv_peer(dtype, threads, build, call=direction) for dtype in DTYPES]
    forced = [target for target in targets.split(",") if target]
    return chosen + [qkv_peer("f32", threads, build, target, direction) for target in forced]


def onednn_peers(threads, build, installed):
    """Its threads are as many as the processors that it may use, and it finds these through OpenCL."""
    environment = {
        "LD_LIBRARY_PATH": f"{installed}/lib",
        "OCL_ICD_FILENAMES": f"{installed}/lib/libintelocl.so",
        "ONEDNN_VERBOSE": "none",
    }
    program = f"{build}/bench/server/onednn_server"
    return [ServedPeer("oneDNN Graph SDPA", dtype, threads, program, environment) for dtype in DTYPES]
