"""Times every peer on the same inputs with one number of threads, and writes what it found as JSON."""

import argparse
import json
import math
import os
import resource
import statistics
import sys

SAMPLE_SECONDS = 0.02
SLOW = 6  # a peer that takes so many times the fastest of its type is not called again


def arguments():
    parser = argparse.ArgumentParser(prog="python -m peers.measure")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--shapes", required=True, help="letters, such as ABC")
    parser.add_argument("--directions", required=True, help="of forward, calls, backward, training, models; with commas")
    parser.add_argument("--peers", required=True, help="as --help of the whole names them; with commas")
    parser.add_argument("--dtypes", required=True, help="of f32, bf16, f16, i8; with commas")
    parser.add_argument("--models", required=True, help="that are run whole; with commas")
    parser.add_argument("--types", required=True, help="of their weights; with commas")
    parser.add_argument("--works", required=True, help="what they are asked; with commas")
    parser.add_argument("--targets", required=True, help="forced targets of qkv, with commas; may be empty")
    parser.add_argument("--further", action="store_true", help="also what qkv alone is asked")
    parser.add_argument("--onednn", default="", help="where oneDNN is installed; empty: it is not")
    parser.add_argument("--ggml", default="", help="llama.cpp's source, whose kernel was linked; empty: it was not")
    parser.add_argument("--build", required=True, help="where the programs were built")
    parser.add_argument("--out", required=True, help="where models are kept from run to run")
    parser.add_argument("--llama-cpp", default="", help="llama.cpp's source, built; empty: it is not timed")
    parser.add_argument("--against", default="", help="the build folder of an earlier qkv; empty: none")
    parser.add_argument("--json", required=True)
    return parser.parse_args()


def keep_to_processors(count):
    """Before any library starts its threads: the last `count` processors, as the first serves interrupts."""
    usable = sorted(os.sched_getaffinity(0))
    if count > len(usable):
        sys.exit(f"bench-peers: {count} threads asked for, {len(usable)} processors usable")
    os.sched_setaffinity(0, usable[-count:])
    os.environ["OMP_NUM_THREADS"] = str(count)


def limit_memory():
    """So that a peer which stores T x T is refused memory instead of taking the machine's."""
    with open("/proc/meminfo") as lines:
        available = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    resource.setrlimit(resource.RLIMIT_AS, (int(available * 0.75),) * 2)


def candidates(options, direction, shape):
    """Every peer that was asked for, whatever it can do. PyTorch and qkv have a backward."""
    from . import onnx_peers, served, shapes, torch_peer

    wanted, threads = options.peers.split(","), options.threads
    found = []
    if "pytorch" in wanted:
        found += torch_peer.peers(threads, direction)
    if "onnxruntime" in wanted and direction != "backward":
        found += onnx_peers.peers(threads)
    if "onednn" in wanted and options.onednn and direction != "backward":
        found += served.onednn_peers(threads, options.build, options.onednn)
    if "llama.cpp" in wanted and options.ggml and direction != "backward":
        found += served.ggml_peers(threads, options.build)
    if "qkv" in wanted:
        found += served.qkv_peers(threads, options.build, options.targets, direction, shape)
    if options.against:
        found += served.earlier_qkv_peers(threads, options.against, direction)
    return [peer for peer in found if peer.dtype in shapes.timed_dtypes(direction, options.dtypes, shape)]


class Entry:
    """A peer at one shape."""

    def __init__(self, peer):
        self.peer = peer
        self.row = {"peer": peer.name, "dtype": peer.dtype}
        self.seconds = []

    def start(self, shape, inputs, oracle):
        try:
            self.peer.prepare(shape, inputs)
            self.first = self.peer.seconds(1)
            if self.first < 1:  # the very first call also starts threads and fills caches
                self.first = self.peer.seconds(1)
            largest, relative = oracle.error(self.peer)
            self.row |= {"error_max": largest, "error_rms": relative, "graph": getattr(self.peer, "graph", [])}
        except Exception as error:  # each library has its own kinds of refusal
            self.row["refused"] = " ".join(str(error).split())[:300] or type(error).__name__
            self.peer.close()
            return False
        return True

    def stop_as_too_slow(self):
        self.row |= {"seconds": self.first, "note": "one call"}
        self.peer.close()

    def sample(self, repeats):
        self.seconds.append(self.peer.seconds(repeats))

    def finish(self):
        self.row |= {"seconds": statistics.median(self.seconds), "rounds": self.seconds}
        self.peer.close()


def interleave(entries, rounds):
    """Round by round, every peer once in each. A sample lasts at least 20 ms."""
    repeats = {}
    for entry in entries:
        entry.sample(1)
        repeats[entry] = max(1, math.ceil(SAMPLE_SECONDS / entry.seconds.pop()))
    for _ in range(rounds):
        for entry in entries:
            entry.sample(repeats[entry])


def fastest_first(entries, dtype):
    return min(entry.first for entry in entries if entry.peer.dtype == dtype)


def measure_shape(shape, direction, options):
    from . import oracles as exact, torch_peer

    inputs = shape.inputs() + ((shape.d_out(),) if direction == "backward" else ())
    oracles = {}
    entries, running = [Entry(peer) for peer in candidates(options, direction, shape)], []
    for entry in entries:
        dtype = entry.peer.dtype
        if dtype not in oracles:
            oracles[dtype] = exact.ORACLES[direction](shape, *torch_peer.rounded(inputs, dtype))
        if entry.start(shape, inputs, oracles[dtype]):
            running.append(entry)
    slow = [entry for entry in running if entry.first > SLOW * max(fastest_first(running, entry.peer.dtype), SAMPLE_SECONDS)]
    for entry in slow:
        entry.stop_as_too_slow()
    kept = [entry for entry in running if entry not in slow]
    interleave(kept, options.rounds)
    for entry in kept:
        entry.finish()
    checked = next((oracle.extent() for oracle in oracles.values()), "nothing")
    place = {"direction": direction, "shape": shape.name, "threads": options.threads}
    return {**place, "checked": checked, "rows": [entry.row for entry in entries]}


def main():
    options = arguments()
    keep_to_processors(options.threads)
    limit_memory()
    from . import further, models, shapes, training

    results = []
    for direction in options.directions.split(","):
        for shape in shapes.timed(direction, options.shapes):
            results.append(measure_shape(shape, direction, options))
            print(f"  {direction}, shape {shape.name}, {options.threads} thread(s): done", file=sys.stderr, flush=True)
    answers = further.measure(options) if options.further else {}
    if "training" in options.directions.split(","):
        answers["training"] = training.measure(options)
    if "models" in options.directions.split(","):
        answers |= models.measure(options)
    with open(options.json, "w") as file:
        json.dump({"shapes": results, **answers}, file)


if __name__ == "__main__":
    main()
