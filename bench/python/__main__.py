"""python -m python: the Python package beside C++, PyTorch and BertViz, as tables of Markdown and as JSON."""

import argparse
import json
import os
import pathlib

PARTS = ("calls", "small", "operators", "tuning", "pages")


def arguments():
    parser = argparse.ArgumentParser(prog="bench-python")
    parser.add_argument("--parts", default=",".join(PARTS), help="of calls, small, operators, tuning, pages; with commas")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall", help="processor: for a busy machine, one thread")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--shapes", default="ABCDEFG", help="of the operators; letters")
    parser.add_argument("--dtypes", default="f32,bf16", help="of the operators; f32, bf16, with commas")
    parser.add_argument("--json", type=pathlib.Path, help="where the figures are written, too")
    return parser.parse_args()


def keep_to_processors(count):
    """Before any library starts its threads: the last `count` processors, as the first serves interrupts."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-count:])
    os.environ["OMP_NUM_THREADS"] = str(count)


def text_of(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def print_table(title, rows):
    """Each row as it is found. Returns them all."""
    print(f"\n{title}\n")
    every = []
    for row in rows:
        if not every:
            print("| " + " | ".join(row) + " |\n" + "|---" * len(row) + "|")
        every.append(row)
        print("| " + " | ".join(text_of(x) for x in row.values()) + " |", flush=True)
    return every


def parts(options):
    import torch

    import qkv

    torch.set_num_threads(options.threads)
    qkv.set_threads(options.threads)
    for part in options.parts.split(","):
        if part == "calls":
            from . import calls

            yield part, "A call from Python and in C++, 8 heads of width 64, float32", calls.rows(options.threads, options.rounds, options.clock)
        elif part == "small":
            from . import small

            yield part, "Small calls of qkv.torch and PyTorch, float32", small.rows(options.rounds, options.clock)
        elif part == "operators":
            from . import operators

            rows = operators.rows(options.shapes, options.dtypes.split(","), options.threads, options.rounds, options.clock)
            yield part, "qkv.torch and PyTorch's scaled_dot_product_attention", rows
        elif part == "tuning":
            from . import tuning

            yield part, "A step of fine-tuning MiniLM, 8 texts of up to 512 tokens", tuning.rows(options.rounds, options.clock)
        elif part == "pages":
            from . import pages

            yield part, "A page of MiniLM's attention, from a fresh process", pages.rows(options.rounds)
        else:
            raise SystemExit(f"bench-python: --parts: expected {', '.join(PARTS)}, got {part}")


def main():
    options = arguments()
    keep_to_processors(options.threads)
    found = {part: print_table(title, rows) for part, title, rows in parts(options)}
    if options.json:
        options.json.write_text(json.dumps({"threads": options.threads, "clock": options.clock, **found}, indent=1), encoding="utf-8")


main()
