#!/usr/bin/env python3
"""Trains the models in the box, or those that are named, and writes what each scores.

    scripts/train_models.py [--qkv PATH] [TASK... | induction3 | towers | bottleneck | gpt]

For each task, for `induction` with a layer to spare and for the two towers of `shapes`: models/TASK.safetensors, the card
models/TASK.json (what `qkv train --json` printed), and the tables of models/README.md, README.md and docs/training.md, which
are made of all cards. A model that misses its task's goal is not put in the box.
`bottleneck` are the two recurrent models of docs/bottleneck.md: two minutes, only where it is named.
`gpt` is the small language model of docs/gpt.md, which learns the prose of scripts/prose: an hour, so only where it is named.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BOX = ROOT / "models"


def output(command: list[str]) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


# What is trained beside a task's own model, and how.
OTHERS = {
    "induction3": ["induction", "--layers", "3", "--heads", "1", "--steps", "3000"],
    "towers": ["shapes", "--model", "two-tower"],
}


def train(qkv: str, task: str) -> dict:
    place = ROOT / "build" / "models" / task
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    card = json.loads(output([qkv, "train", *OTHERS.get(task, [task]), "--out", str(place), "--json"]))
    if card["accuracy"] < card["goal"]:
        sys.exit(f"{task}: {100 * card['accuracy']:.2f} % of the answers are as expected, {100 * card['goal']:g} % wanted")
    shutil.copy(place / "model.safetensors", BOX / f"{task}.safetensors")
    (BOX / f"{task}.json").write_text(json.dumps(card, indent=1) + "\n")
    return card


GPT = ["--layers", "4", "--d-model", "256", "--heads", "8", "--length", "256", "--batch", "8", "--steps", "6000"]
GPT += ["--learning-rate", "2e-3", "--warm-up", "200", "--dtype", "bf16", "--store", "f16", "--examples", "64"]


def train_gpt(qkv: str) -> None:
    # From the tree, so that the model's file names no place of this machine.
    place = pathlib.Path("build/models")
    shutil.rmtree(ROOT / place / "gpt", ignore_errors=True)
    tokenizer = place / "prose-tokenizer.json"
    text = place / "prose.txt"
    (ROOT / text).unlink(missing_ok=True)
    subprocess.run(["scripts/prose", text], cwd=ROOT, check=True)
    subprocess.run([qkv, "train", "tokenizer", text, "--size", "8000", "--out", tokenizer], cwd=ROOT, check=True)
    command = [qkv, "train", "text", text, "--tokenizer", tokenizer, *GPT, "--out", place / "gpt", "--json"]
    card = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    shutil.copy(ROOT / place / "gpt/model.safetensors", BOX / "gpt.safetensors")
    shutil.copy(ROOT / place / "gpt/loss.png", ROOT / "docs/images/gpt-loss.png")
    (BOX / "gpt.json").write_text(json.dumps(json.loads(card), indent=1) + "\n")


def train_bottleneck(qkv: str) -> None:
    print(output([qkv, "bench", "bottleneck", "--out", str(BOX / "bottleneck")]))


NONE = "–"


def is_pair(card: dict) -> bool:
    return card["model"]["kind"] == "two-tower"


def sides(model: dict) -> str:
    return str(model["layers"]) if "layers" in model else f"{model['image_layers']} + {model['text_layers']}"


def time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def shown(card: dict) -> str:
    return NONE if is_pair(card) else ", ".join(
        f"{pattern['relation']} {pattern['best']['weight']:.2f}" for pattern in card["patterns"] if pattern.get("best")
    )


def sizes(card: dict) -> str:
    model = card["model"]
    return f"{model['kind']}, {sides(model)} × {model['heads']} heads, {model['d_model']}, {model['positions']}"


def markdown(columns: list[str], rows: list[list[str]]) -> str:
    head, *body = ["| " + " | ".join(cells) + " |" for cells in [columns, *rows]]
    return "\n".join([head, "|" + "---|" * len(columns), *body])


def short_table(cards: list[dict]) -> str:
    columns = ["task", "model: blocks, heads, width, positions", "parameters", "trained in", "held out", "best head's weight on the pattern"]
    return markdown(
        columns,
        [
            [f"`{c['name']}`", sizes(c), f"{c['parameters']:,}", time(c["seconds"]), f"{100 * c['accuracy']:.2f} %", shown(c)]
            for c in cards
        ],
    )


def first_met(card: dict) -> str:
    met = card["reached_at"]
    return f"step {met['step']}, {time(met['seconds'])}" if met else "at the end"


def recipes_table(cards: list[dict]) -> str:
    columns = ["task", "model", "inner width", "batch, steps, rate", "goal", "first met"]
    return markdown(
        columns,
        [
            [
                c["name"],
                sizes(c),
                c["model"].get("d_ff", 4 * int(c["model"]["d_model"])),
                f"{c['batch']}, {c['steps']}, {c['learning_rate']:g}",
                f"{100 * c['goal']:g} %",
                first_met(c),
            ]
            for c in cards
        ],
    )


def patterns_table(cards: list[dict]) -> str:
    columns = ["task", "pattern", "weight", "largest", "head"]
    rows = []
    for card in cards:
        for pattern in [] if is_pair(card) else card["patterns"]:
            best = pattern["best"]
            where = f"{pattern['site']}, block {best['layer']}, head {best['head']}"
            rows.append(
                [card["name"], pattern["relation"], f"{best['weight']:.2f}", f"{100 * best['hit']:.0f} %", where]
            )
    return markdown(columns, rows)


def put_table(path: pathlib.Path, name: str, text: str) -> None:
    begin = f"<!-- table of {name}: made by `make models` -->"
    end = f"<!-- end of the table of {name} -->"
    before, rest = path.read_text().split(begin)
    _, after = rest.split(end)
    path.write_text(f"{before}{begin}\n{text}\n{end}{after}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qkv", default=str(ROOT / "build/release/apps/cli/qkv"), help="the command")
    parser.add_argument("--table", action="store_true", help="make the tables of the cards that there are, and no model")
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="all where none is named")
    arguments = parser.parse_args()
    names = [task["name"] for task in json.loads(output([arguments.qkv, "task", "--json"]))["tasks"]]
    names += OTHERS
    unknown = set(arguments.tasks) - set(names) - {"gpt", "bottleneck"}
    if unknown:
        parser.error(f"no such task: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    BOX.mkdir(exist_ok=True)
    for name, make in {"gpt": train_gpt, "bottleneck": train_bottleneck}.items():
        if name not in arguments.tasks:
            continue
        make(str(pathlib.Path(arguments.qkv).resolve()))
        arguments.tasks.remove(name)
        if not arguments.tasks:
            return
    for name in [] if arguments.table else arguments.tasks or names:
        card = train(arguments.qkv, name)
        print(f"{name}: {100 * card['accuracy']:.2f} % in {time(card['seconds'])}; {shown(card)}", flush=True)
    cards = [{"name": name, **json.loads((BOX / f"{name}.json").read_text())} for name in names if (BOX / f"{name}.json").exists()]
    for path in (ROOT / "README.md", BOX / "README.md"):
        put_table(path, "tasks", short_table(cards))
    put_table(ROOT / "docs/training.md", "recipes", recipes_table(cards))
    put_table(ROOT / "docs/training.md", "patterns", patterns_table(cards))
    size = sum(path.stat().st_size for path in BOX.glob("*.safetensors"))
    print(f"{len(cards)} models, {size / 2**20:.2f} MiB")


if __name__ == "__main__":
    main()
