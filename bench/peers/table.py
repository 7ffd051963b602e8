"""The results as a table, in plain text and in Markdown."""

import math
import statistics

from .shapes import ALL

HEADINGS = ["shape", "threads", "type", "kernel", "ms", "max error", "rms error", "share of", "ceiling", "times the fastest peer"]
ELEMENT_BYTES = {"f32": 4, "bf16": 2, "f16": 2, "i8": 1}
MEBI = 1 << 20


class Ceilings:
    """The machine's limits, by name, target and threads."""

    def __init__(self, measured):
        self.measured = measured

    def value(self, name, threads, target=None, mebibytes=None):
        found = [
            row["value"]
            for row in self.measured
            if row["name"] == name
            and row["threads"] == threads
            and target in (None, row["target"])
            and mebibytes in (None, row["mebibytes"])
        ]
        return max(found, default=None)

    def read_of_about(self, mebibytes, threads):
        """The rate of the read whose size is nearest, by ratio."""
        reads = [row for row in self.measured if row["name"] == "read" and row["threads"] == threads]
        return min(reads, key=lambda row: abs(math.log(row["mebibytes"] / mebibytes)))["value"]

    def read_of_memory(self, threads):
        """The rate of the largest read, which no cache holds; None where it was not measured."""
        reads = [row for row in self.measured if row["name"] == "read" and row["threads"] == threads]
        return max(reads, key=lambda row: row["mebibytes"])["value"] if reads else None

    def bound(self, direction, shape, dtype, threads, target=None):
        """(seconds that nothing can beat, what they are spent on), or (None, "")."""
        if shape.tq == 1:
            mebibytes = shape.kv_bytes(ELEMENT_BYTES[dtype]) / MEBI
            rate = self.value("read", threads, mebibytes=mebibytes) or self.read_of_memory(threads)
            return (mebibytes * MEBI / 1e9 / rate, "reading K and V") if rate else (None, "")
        tiles = None if dtype == "f32" else self.value("tiles streamed", threads)
        if tiles and target is None:
            matrix = shape.flops(direction) / 1e9 / tiles
            exp = shape.scores() / 1e9 / self.value("exp2", threads)
            return (matrix, "tiles") if matrix >= exp else (exp, "exp")
        rate, what = self.value("fma", threads, target), "FMA " + (target or "")
        pairs = self.value("pairs", threads) if dtype == "bf16" and target is None else None
        if pairs and rate and pairs > rate:
            rate, what = pairs, "pairs of bf16"
        return (shape.flops(direction) / 1e9 / rate, what) if rate else (None, "")


ROOFLINE = ["shape", "type", "GFLOP", "G exp", "MiB", "product ms", "exp ms", "memory ms", "longest ms", "sum ms"]


def roofline_cells(chosen, ceilings):
    """What each shape costs one thread on paper: each part at the rate that was measured for it."""
    rows = []
    for shape in chosen:
        for dtype in ("f32", "bf16"):
            products = ("fma",) if dtype == "f32" else ("tiles streamed", "pairs", "fma")
            rate = max(filter(None, (ceilings.value(name, 1) for name in products)))
            mebibytes = shape.traffic_bytes(ELEMENT_BYTES[dtype]) / MEBI
            read = ceilings.read_of_about(mebibytes, 1)
            parts = [
                shape.flops() / 1e6 / rate,
                shape.scores() / 1e6 / ceilings.value("exp2", 1),
                mebibytes * MEBI / 1e6 / read,
            ]
            amounts = [f"{shape.flops() / 1e9:.2f}", f"{shape.scores() / 1e9:.4f}", f"{mebibytes:.1f}"]
            times = [f"{part:.2f}" for part in [*parts, max(parts), sum(parts)]]
            rows.append([shape.name, dtype, *amounts, *times])
    return rows


def forced_target(peer):
    return peer[len("qkv (") : -1] if peer.startswith("qkv (") else None


def fastest_peer(rows, dtype):
    """Of the others of this type that ran."""
    others = [row for row in rows if row["dtype"] == dtype and "seconds" in row and not row["peer"].startswith("qkv")]
    return min(others, key=lambda row: row["seconds"], default=None)


def in_rounds(row, other):
    return "rounds" in row and "rounds" in other


def speedup(row, other):
    """Median over the rounds of the other's time over this one's; where one was called once, the ratio of their times."""
    if not in_rounds(row, other):
        return other["seconds"] / row["seconds"]
    return statistics.median(theirs / ours for theirs, ours in zip(other["rounds"], row["rounds"]))


def times_fastest(result, row):
    other = fastest_peer(result["rows"], row["dtype"])
    if not row["peer"].startswith("qkv") or not other:
        return ""
    return f"{speedup(row, other):.2f} ({other['peer']}{'' if in_rounds(row, other) else ', one call'})"


def summary(results):
    """On how many rows qkv, by its own choice of target, is ahead of the fastest of the others."""
    found, alone = [], 0
    for result in results:
        for row in result["rows"]:
            if row["peer"] != "qkv" or "seconds" not in row:
                continue
            other = fastest_peer(result["rows"], row["dtype"])
            if not other:
                alone += 1
                continue
            place = f"{result['shape']}, {row['dtype']}, {result['threads']} thread(s)"
            found.append((speedup(row, other), f"{place}, beside {other['peer']}{'' if in_rounds(row, other) else ', one call'}"))
    without = f" No peer ran on {alone} more." if alone else ""
    if not found:
        return "qkv was not timed beside others."
    ahead = sum(times > 1 for times, _ in found)
    middle = statistics.median(times for times, _ in found)
    (worst, at_worst), (best, at_best) = min(found), max(found)
    return (
        f"qkv is ahead of the fastest peer on {ahead} of {len(found)} rows, {middle:.2f} times at the median; "
        f"best {best:.2f} ({at_best}), worst {worst:.2f} ({at_worst}).{without}"
    )


def beside_before(results):
    """How much faster or slower than the earlier build: by the median over all rows, and where it lost most."""
    found = []
    for result in results:
        by_name = {(row["peer"], row["dtype"]): row for row in result["rows"] if "seconds" in row}
        for (peer, dtype), row in by_name.items():
            before = by_name.get(("qkv before", dtype))
            if peer == "qkv" and before:
                found.append((speedup(row, before), f"{result['shape']}, {dtype}, {result['threads']} thread(s)"))
    if not found:
        return []
    middle = statistics.median(times for times, _ in found)
    slower = [f"{times:.3f} ({place})" for times, place in sorted(found) if times < 0.98]
    return [f"Beside qkv before: {middle:.3f} times as fast at the median of {len(found)} rows; below 0.98: {', '.join(slower) or 'none'}."]


CALLS = ["shape", "threads", "type", "kernel", "µs", "µs beyond qkv's", "rms error", "times the fastest peer"]


def call_cells(results):
    def cells_of(result, row):
        start = [result["shape"], str(result["threads"]), row["dtype"], row["peer"]]
        if "refused" in row:
            return start + ["-", "-", "-", "refused: see below"]
        ours = next((r for r in result["rows"] if (r["peer"], r["dtype"]) == ("qkv", row["dtype"]) and "rounds" in r), None)
        beyond = ""
        if ours and ours is not row and "rounds" in row:
            beyond = f"{1e6 * statistics.median(a - b for a, b in zip(row['rounds'], ours['rounds'])):.1f}"
        return start + [f"{row['seconds'] * 1e6:.2f}", beyond, f"{row['error_rms']:.1e}", times_fastest(result, row)]

    return [cells_of(result, row) for result in results for row in result["rows"]]


def cells(result, row, ceilings):
    shape, threads = ALL[result["shape"]], result["threads"]
    start = [shape.name, str(threads), row["dtype"], row["peer"]]
    if "refused" in row:
        return start + ["-", "-", "-", "-", "-", "refused: see below"]
    target = forced_target(row["peer"])
    bound, bound_by = ceilings.bound(result["direction"], shape, row["dtype"], threads, target)
    return start + [
        f"{row['seconds'] * 1e3:.4g}" + (" (one call)" if "note" in row else ""),
        f"{row['error_max']:.1e}",
        f"{row['error_rms']:.1e}",
        f"{100 * bound / row['seconds']:.0f} %" if bound else "",
        bound_by.strip(),
        times_fastest(result, row),
    ]


def all_cells(results, ceilings):
    return [cells(result, row, ceilings) for result in results for row in result["rows"]]


def refusals(results):
    """One line for each peer, type and reason, with the shapes."""
    shapes = {}
    for result in results:
        for row in result["rows"]:
            if "refused" in row:
                shapes.setdefault((row["peer"], row["dtype"], row["refused"]), set()).add(result["shape"])
    return [f"{peer}, {dtype}, at {' '.join(sorted(at))}: {why}" for (peer, dtype, why), at in shapes.items()]


TIMES = "Times the fastest peer: of the same type; the median of the ratios within rounds."


def how_timed(rounds):
    return [
        f"ms: median of {rounds} rounds; in each round every kernel once, in this order, on the same inputs; a sample is at least 20 ms.",
        "(one call): it took more than 6 times the fastest of its type, so it was not called again.",
    ]


def notes(results, rounds):
    checked = ", ".join(f"{name} {extent}" for name, extent in sorted({r["shape"]: r["checked"] for r in results}.items()))
    return how_timed(rounds) + [
        "PyTorch allocates its result in the call, the others write to memory that is there; qkv plans its mask and takes scratch in the call.",
        "ggml, if given: k and v are of the type; q and the result are f32, and a mask of f16 is added, as in llama.cpp. Its graph is planned before.",
        "i8: K and V in 8 bits, a scale for each row in qkv, for 32 elements in ggml (q8_0); q and the result are f32.",
        "Errors are against float64 on the inputs as the type holds them, of i8 on f32: the largest absolute one, and the root mean",
        f"square over that of the result; sampled over all heads ({checked}).",
        "Share: the time that the ceiling allows over the time taken. f32: multiply-adds at the FMA rate; bf16 and f16: the longer of",
        "the product on bf16 tiles and exp, where the machine has tiles, in pairs of bf16 where those are faster than FMA; E, I and J: reading as many bytes again and again. Causal counts visible pairs only.",
        TIMES,
    ]


def backward_notes(results, rounds):
    checked = ", ".join(f"{name} {extent}" for name, extent in sorted({r["shape"]: r["checked"] for r in results}.items()))
    return how_timed(rounds) + [
        "Each computes its forward once before; d_out is the same for all. Both allocate the three gradients in the call; qkv plans",
        "its mask and takes scratch in it, too. PyTorch: torch.autograd.grad by q, k and v with the graph retained.",
        *graphs(results),
        "Errors are against float64 on the inputs as the type holds them, of the worst of d_q, d_k and d_v: the largest absolute one,",
        f"and the root mean square over that of the gradient; of one key head and its query heads ({checked}).",
        "Share: the time that the ceiling allows over the time taken, for five products (10 D operations a score, visible pairs only).",
        "f32: at the FMA rate; bf16: the longer of them on tiles and exp where the machine has tiles, in pairs where those are faster than FMA.",
        TIMES,
    ]


def call_notes(results, rounds):
    return how_timed(rounds) + [
        "(batch, q heads, kv heads, Tq, Tk, D): " + ", ".join(f"{name} {shape}" for name, shape in ALL.items() if name in {r["shape"] for r in results}) + ".",
        "µs: of a whole call. PyTorch and ONNX Runtime are called from Python, which is part of what their users wait for; qkv,",
        "oneDNN and ggml from C++. Their graphs are compiled or planned before, and their memory bound; qkv validates, plans and takes",
        "scratch in the call.",
        TIMES,
    ]


def graphs(results):
    """What PyTorch's graph held at which shapes. Heads of k and v that are repeated would be a node of their own."""
    shapes = {}
    for result in results:
        for row in result["rows"]:
            if row.get("graph"):
                shapes.setdefault(", ".join(row["graph"]), set()).add(result["shape"])
    alone = {graph: " alone; k and v are not repeated for grouped heads" for graph in shapes if "," not in graph}
    return [f"PyTorch's graph at {' '.join(sorted(at))}: {graph}{alone.get(graph, '')}." for graph, at in shapes.items()]


MEMORY = ["threads", "type", "the call has", "PyTorch's gradients", "PyTorch MiB", "qkv MiB", "PyTorch ms", "qkv ms"]


def memory_cells(rows):
    def cells_of(row):
        mebibytes = [f"{row[name]:.1f}" for name in ("torch_mib", "qkv_mib")]
        times = [f"{row[name] * 1e3:.0f}" for name in ("torch_seconds", "qkv_seconds")]
        kernel = "fused" if row["fused"] else "falls back: stores T x T"
        return [str(row["threads"]), row["dtype"], row["call"], kernel, *mebibytes, *times]

    return [cells_of(row) for row in rows]


def memory_notes(shape):
    return [
        f"MiB: what a forward and its backward at {shape}, or at G where that is said, add to the process at their peak, beyond out",
        "and the gradients, for all threads together. Both give the gradient of the mask's numbers, qkv by its reference. ms: of that one call, qkv's being the",
        "process's first.",
    ]


TRAINING = ["threads", "type", "peer", "ms a step", "its time over qkv's", "processor ms", "loss", "off f64 by", "peak MiB"]


def training_cells(rows):
    def cells_of(row):
        ours = next((r for r in rows if (r["peer"], r["threads"], r["dtype"]) == ("qkv", row["threads"], row["dtype"])), row)
        ratio = statistics.median(theirs / own for theirs, own in zip(row["rounds"], ours["rounds"]))
        return [
            str(row["threads"]),
            row["dtype"],
            row["peer"],
            f"{row['seconds'] * 1e3:.0f}",
            f"{ratio:.2f}",
            f"{row['processor'] * 1e3:.0f}",
            f"{row['loss']:.6f}",
            f"{row['loss_error']:.1e}",
            f"{row['peak'] / 2**20:.0f}",
        ]

    return [cells_of(row) for row in rows]


def training_notes(rounds):
    return [
        "A GPT of 10.8 million parameters: 6 layers, d 384, 6 heads, T 256, batch 16, 256 tokens; forward, cross-entropy, backward and",
        f"AdamW. ms: median of {rounds} steps, one of each in turn, after a first one that starts threads and compiles. Its time over",
        "qkv's: the median of the ratios within the rounds. Processor ms: of all threads, the median of the steps; on a machine with",
        "other work it is the steadier one. All start from the same parameters and see the same text. Loss: in the last step; off f64",
        "by: from that of PyTorch in f64. bf16: parameters in f32; PyTorch's autocast. Peak: of the process.",
    ]


def further_cells(rows):
    return [[str(r["threads"]), r["dtype"], r["what"], f"{r['value']:.2f} {r['unit']}", r["wanted"]] for r in rows]


def as_text(headings, rows):
    widths = [max(len(line[column]) for line in [headings, *rows]) for column in range(len(headings))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in [headings, *rows]]
    return "\n".join(lines)


def as_markdown(headings, rows):
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
