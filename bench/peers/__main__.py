"""Times qkv and its peers; see --help."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

from . import model_files, model_table, shapes, table

CEILINGS = ["ceiling", "target", "threads", "median", "what was run"]
PEERS = ["pytorch", "onnxruntime", "onednn", "openvino", "llama.cpp", "llama-bench", "ik_llama.cpp", "qkv"]
FURTHER = ["threads", "type", "what", "measured", "wanted"]


def arguments():
    parser = argparse.ArgumentParser(
        prog="bench-peers",
        description="Times qkv, PyTorch, ONNX Runtime, oneDNN and llama.cpp on the same inputs, interleaved, with the error of each.",
    )
    parser.add_argument("--directions", help=f"(default: {','.join(shapes.DIRECTIONS)}; calls are so short that setting them up counts, training is a whole step, models are embeddings, prompts and tokens)")
    parser.add_argument("--shapes", help="letters (default: ABCDEFGHIJ; of these the backward takes B, C, D, G)")
    parser.add_argument("--threads", help="numbers of threads (default: 1,2 where there are two processors)")
    parser.add_argument("--rounds", type=int, help="rounds of all peers (default: 7)")
    parser.add_argument("--peers", default=",".join(PEERS), help="(default: %(default)s)")
    parser.add_argument("--dtypes", default=",".join(table.ELEMENT_BYTES), help="(default: %(default)s; the backward takes f32 and bf16; i8 is for caches: E, I, J)")
    parser.add_argument("--models", default=",".join(model_files.MODELS), help="run whole (default: %(default)s)")
    parser.add_argument("--types", default=",".join(model_files.ALL_TYPES), help="of whole models (default: %(default)s)")
    parser.add_argument("--works", default=",".join(model_table.ALL_WORKS), help="of whole models (default: %(default)s)")
    parser.add_argument("--targets", default="avx2", help="forced targets of qkv to time as well (default: %(default)s)")
    parser.add_argument("--against", default="", metavar="BUILD", help="a build folder of an earlier qkv with its qkv_server, to time as \"qkv before\"")
    parser.add_argument("--llama-cpp", default="", help="llama.cpp's source, with build/bin/libggml-cpu.so in it, to time its kernel, and build/bin/llama-bench, to time it beside models")
    parser.add_argument("--quick", action="store_true", help="unless said otherwise shapes A, C, E, F, J, one thread, 3 rounds; no training, no models, nothing further")
    parser.add_argument("--roofline", action="store_true", help="only the ceilings, and what they allow for each shape")
    parser.add_argument("--ceilings", help="takes them from this file, which `make ceilings` wrote")
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--out", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--onednn", default="", help=argparse.SUPPRESS)
    parser.add_argument("--ggml", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    processors = len(os.sched_getaffinity(0))
    defaults = ("ACEFJ", "1", 3) if options.quick else ("ABCDEFGHIJ", "1,2" if processors > 1 else "1", 7)
    options.directions = options.directions or ",".join(shapes.DIRECTIONS[:3] if options.quick else shapes.DIRECTIONS)
    options.shapes = options.shapes or defaults[0]
    options.threads = options.threads or defaults[1]
    options.rounds = defaults[2] if options.rounds is None else options.rounds
    if options.rounds < 1:
        parser.error(f"--rounds: expected 1 or more, got {options.rounds}")
    if options.against and not os.access(f"{options.against}/bench/server/qkv_server", os.X_OK):
        parser.error(f"--against: expected a build folder with bench/server/qkv_server, got {options.against}")
    unknown = set(options.shapes) - set(shapes.SHAPES)
    if unknown:
        parser.error(f"no shape {' '.join(sorted(unknown))}; there are {' '.join(shapes.SHAPES)}")
    asked = [
        ("direction", options.directions, shapes.DIRECTIONS),
        ("peer", options.peers, PEERS),
        ("type", options.dtypes, table.ELEMENT_BYTES),
        ("model", options.models, model_files.MODELS),
        ("type of a model", options.types, model_files.ALL_TYPES),
        ("work", options.works, model_table.ALL_WORKS),
    ]
    for name, got, known in asked:
        unknown = set(got.split(",")) - set(known)
        if unknown:
            parser.error(f"no {name} {' '.join(sorted(unknown))}; there are {' '.join(known)}")
    for count in options.threads.split(","):
        if not count.isdecimal() or not 1 <= int(count) <= processors:
            parser.error(f"--threads: expected numbers from 1 to {processors}, the processors that there are, got {count}")
    timed = [direction for direction in options.directions.split(",") if direction in shapes.WITHOUT_SHAPES or shapes.timed(direction, options.shapes)]
    if not timed:
        parser.error(f"{options.directions} at {options.shapes}: nothing to time; the backward takes {shapes.BACKWARD_SHAPES}")
    return options


def warn_of_other_work():
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"bench-peers: other programs are running (load {load:.1f}); the times will show it", file=sys.stderr)


def measure_ceilings(options, threads):
    path = pathlib.Path(options.out, "ceilings.json")
    command = [f"{options.build}/bench/ceilings/ceilings", "--json", str(path)]
    for count in sorted({1, *threads}):  # the roofline is that of one
        command += ["--threads", str(count)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return json.loads(path.read_text())


def higher(first, second):
    """Two measurements of the same ceilings: the higher of each, as only disturbance makes them lower."""
    rows = [a | {"value": max(a["value"], b["value"])} for a, b in zip(first["ceilings"], second["ceilings"])]
    return first | {"ceilings": rows}


def measure_peers(options, threads, further):
    path = pathlib.Path(options.out, f"threads-{threads}.json")
    command = [sys.executable, "-m", "peers.measure", "--threads", str(threads), "--json", str(path)]
    for name in ("rounds", "directions", "shapes", "peers", "dtypes", "targets", "onednn", "ggml", "build", "out", "llama_cpp", "against", "models", "types", "works"):
        command += ["--" + name.replace("_", "-"), str(getattr(options, name))]
    command += ["--further"] if further else []
    subprocess.run(command, check=True)
    return json.loads(path.read_text())


def roofline(options, machine):
    chosen = [shapes.SHAPES[name] for name in options.shapes]
    return table.roofline_cells(chosen, table.Ceilings(machine["ceilings"]))


def ceiling_cells(machine):
    rows = machine["ceilings"]
    return [[c["name"], c["target"], str(c["threads"]), f"{c['value']:.1f} {c['unit']}", c["detail"]] for c in rows]


def report(options, machine, results, further, memory, training, models, errors):
    ceilings = table.Ceilings(machine["ceilings"])
    shape_lines = [f"{name} {shape}" for name, shape in shapes.SHAPES.items() if name in options.shapes]

    def one_direction(draw, item, direction, notes):
        own = [result for result in results if result["direction"] == direction]
        if not own:
            return []
        refused = table.refusals(own)
        cells = table.call_cells(own) if direction == "calls" else table.all_cells(own, ceilings)
        parts = [f"{direction.capitalize()}:", draw(table.CALLS if direction == "calls" else table.HEADINGS, cells)]
        before = table.beside_before(own) if options.against else []
        parts.append("\n".join(item + line for line in [table.summary(own), *before, *notes(own, options.rounds)]))
        return parts + (["Refused:\n" + "\n".join(item + line for line in refused)] if refused else [])

    def whole(draw, item):
        parts = [machine["cpu"], draw(CEILINGS, ceiling_cells(machine))]
        parts.append(draw(table.ROOFLINE, roofline(options, machine)))
        parts.append("\n".join(item + line for line in ["(batch, q heads, kv heads, Tq, Tk, D):", *shape_lines]))
        parts += one_direction(draw, item, "forward", table.notes)
        parts += one_direction(draw, item, "calls", table.call_notes)
        parts += one_direction(draw, item, "backward", table.backward_notes)
        if "onednn" in options.peers and not options.onednn and "forward" in options.directions:
            parts.append("oneDNN was not installed, and is missing above.")
        if "llama.cpp" in options.peers and not options.ggml and "forward" in options.directions:
            parts.append("llama.cpp's kernel was not given (--llama-cpp DIR with build/bin/libggml-cpu.so), and is missing above.")
        if further:
            parts.append(draw(FURTHER, table.further_cells(further)))
        if memory:
            parts.append(draw(table.MEMORY, table.memory_cells(memory)))
            parts.append("\n".join(item + line for line in table.memory_notes(shapes.SHAPES["B"])))
        if training:
            parts += ["Training:", draw(table.TRAINING, table.training_cells(training))]
            parts.append("\n".join(item + line for line in table.training_notes(options.rounds)))
        if models:
            parts += ["Models:", draw(model_table.MODELS, model_table.model_cells(models, ceilings))]
            parts.append(draw(model_table.COMMANDS, model_table.command_cells(models)))
        if errors:
            parts.append(draw(model_table.ERRORS, model_table.error_cells(errors)))
        if models or errors:
            parts.append("\n".join(item + line for line in model_table.notes(options)))
        return "\n\n".join(parts) + "\n"

    text = whole(table.as_text, "")
    pathlib.Path(options.out, "table.txt").write_text(text)
    pathlib.Path(options.out, "table.md").write_text(whole(table.as_markdown, "- "))
    print(text, end="")


def main():
    options = arguments()
    os.makedirs(options.out, exist_ok=True)
    threads = [int(count) for count in options.threads.split(",")]
    warn_of_other_work()
    machine = json.loads(pathlib.Path(options.ceilings).read_text()) if options.ceilings else measure_ceilings(options, threads)
    if options.roofline:
        for headings, rows in ((CEILINGS, ceiling_cells(machine)), (table.ROOFLINE, roofline(options, machine))):
            print(table.as_markdown(headings, rows) + "\n")
        return
    results, further, memory, training, models, errors = [], [], [], [], [], []
    for count in threads:
        found = measure_peers(options, count, "qkv" in options.peers and not options.quick and count == threads[0])
        results += found["shapes"]
        further += found.get("further", [])
        memory += found.get("memory", [])
        training += found.get("training", [])
        models += found.get("models", [])
        errors += found.get("errors", [])
    if not options.ceilings:
        machine = higher(machine, measure_ceilings(options, threads))
    results.sort(key=lambda result: (list(shapes.ALL).index(result["shape"]), result["threads"]))
    apart = {"further": further, "memory": memory, "training": training, "models": models, "errors": errors}
    whole = {**machine, "results": results, **apart}
    pathlib.Path(options.out, "results.json").write_text(json.dumps(whole, indent=1))
    report(options, machine, results, further, memory, training, models, errors)


if __name__ == "__main__":
    main()
