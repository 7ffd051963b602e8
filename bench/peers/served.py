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
    def __init__(self, name, dtype, threads, program, environment=None):
        self.name, self.dtype, self.threads = name, dtype, threads
        self.program, self.environment = program, environment

    def prepare(self, shape, inputs, mask=None, dense_bias=False):
        self.server = Server(self.program, self.environment)
        with tempfile.TemporaryDirectory() as folder:
            files = {name: os.path.join(folder, name + ".npy") for name in "qkv"}
            for name, array in zip("qkv", inputs):
                np.save(files[name], array)
            self.server.ask("load", dtype=self.dtype, **files)
        self.server.ask("prepare", mask=mask or shape.mask, dense_bias=dense_bias, threads=self.threads)

    def seconds(self, repeats):
        return self.server.ask("time", repeats=repeats)["seconds"]

    def out(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.npy")
            self.server.ask("save", out=path)
            return np.load(path)

    def memory(self):
        """(bytes that one call adds to the process, bytes of scratch by its own account)"""
        answer = self.server.ask("memory")
        return answer["peak_growth"], answer["scratch"]

    def close(self):
        if getattr(self, "server", None):
            self.server.close()
            self.server = None


def qkv_peer(dtype, threads, build, target=None):
    name = f"qkv ({target})" if target else "qkv"
    environment = {"QKV_FORCE_TARGET": target} if target else None
    return ServedPeer(name, dtype, threads, f"{build}/bench/server/qkv_server", environment)


def qkv_peers(threads, build, targets):
    """One for each type, and in f32 one more for each forced target."""
    chosen = [qkv_peer(dtype, threads, build) for dtype in DTYPES]
    return chosen + [qkv_peer("f32", threads, build, target) for target in targets.split(",") if target]


def onednn_peers(threads, build, installed):
    """Its threads are as many as the processors that it may use, and it finds these through OpenCL."""
    environment = {
        "LD_LIBRARY_PATH": f"{installed}/lib",
        "OCL_ICD_FILENAMES": f"{installed}/lib/libintelocl.so",
        "ONEDNN_VERBOSE": "none",
    }
    program = f"{build}/bench/server/onednn_server"
    return [ServedPeer("oneDNN Graph SDPA", dtype, threads, program, environment) for dtype in DTYPES]
