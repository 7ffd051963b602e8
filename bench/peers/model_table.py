"""Whole models in a table: times, and what quantised weights cost in answers."""

from .model_files import MODELS as NAMES
from .table import speedup

MODELS = [
    "model",
    "work",
    "threads",
    "type",
    "peer",
    "ms",
    "a second",
    "its time over qkv's",
    "processor ms",
    "over qkv's",
    "wanted",
    "share of reading",
    "off",
]
COMMANDS = ["command", "threads", "type", "ms", "processor ms", "wanted", "memory beyond the file", "MB written"]
ERRORS = ["type", "peer", "tokens", "KL divergence", "same likeliest token", "perplexity"]
FASTER = {"transformers": "1.5", "llama.cpp": "1.2", "OpenVINO": "1.2", "ONNX Runtime": "1.2"}
WORKS = {  # what it is called, how many a round, what is wanted
    "embed": ("512 texts embedded", 512, FASTER),
    "read512": ("512 tokens read", 512, FASTER),
    "read2048": ("2048 tokens read", 2048, FASTER),
    "decode": ("256 tokens written", 256, {"llama.cpp": "1.05"}),
    "unequal": ("8 prompts of 64 to 512 read", 2304, {"transformers": "2"}),
}
COMMAND_WORKS = {
    "first": ("first token after 20", "150 ms, 60 MB"),
    "page": ("page of 40 tokens", "3000 ms, 5 MB written"),
}
ALL_WORKS = [*WORKS, *COMMAND_WORKS, "errors"]
MEGA = 1e6


def processor_ratio(row, ours):
    return f"{row['processor'] / ours['processor']:.2f}" if row["processor"] and ours and ours["processor"] else ""


def model_cells(rows, ceilings):
    def share_of_reading(row):
        rate = ceilings.read_of_memory(row["threads"])
        return f"{100 * row['bytes'] / 1e9 / rate / row['seconds']:.0f} %" if "bytes" in row and rate else ""

    def cells_of(row):
        place = [row[name] for name in ("model", "work", "threads", "dtype")]
        ours = next(
            (
                r
                for r in rows
                if r["peer"] == "qkv" and [r[name] for name in ("model", "work", "threads", "dtype")] == place
            ),
            None,
        )
        what, count, wanted = WORKS[row["work"]]
        return [
            NAMES[row["model"]],
            what,
            str(row["threads"]),
            row["dtype"],
            row["peer"],
            f"{row['seconds'] * 1e3:.0f}",
            f"{count / row['seconds']:.1f}",
            f"{speedup(ours, row):.2f}" if ours else "",
            f"{row['processor'] * 1e3:.0f}" if row["processor"] else "",
            processor_ratio(row, ours),
            wanted.get(row["peer"], ""),
            share_of_reading(row),
            row["off"],
        ]

    return [cells_of(row) for row in rows if row["work"] in WORKS]


def command_cells(rows):
    def cells_of(row):
        what, wanted = COMMAND_WORKS[row["work"]]
        times = [f"{row[name] * 1e3:.0f}" for name in ("seconds", "processor")]
        written = f"{row['written'] / MEGA:.1f}" if "written" in row else ""
        return [what, str(row["threads"]), row["dtype"], *times, wanted, f"{row['beyond'] / MEGA:.0f} MB", written]

    return [cells_of(row) for row in rows if row["work"] in COMMAND_WORKS]


def error_cells(errors):
    def cells_of(row):
        numbers = [f"{row['divergence']:.5f}", f"{100 * row['agreement']:.1f} %", f"{row['perplexity']:.3f}"]
        return [row["dtype"], row["peer"], str(row["tokens"]), *numbers]

    return [cells_of(row) for row in errors]


def notes(options):
    missing = [] if options.llama_cpp else ["llama.cpp was not given (--llama-cpp DIR), and is missing above."]
    return [
        f"ms: median of {options.rounds} rounds, one of each peer in turn, after a first. A second: texts or tokens.",
        "Its time over qkv's: the median of the ratios within the rounds. Processor ms: of all threads, the median of",
        "the rounds; on a machine with other work it is the steadier one. llama-bench does not say its own.",
        "MiniLM: tokenising included; the others take 32 texts at a time, sorted by length, and pad them; ONNX Runtime",
        "runs the model as its own optimizer has fused it, OpenVINO the plain export. The others: qkv, llama.cpp and",
        "ik_llama.cpp open the same GGUF file, `transformers` the same weights as a folder, attention by sdpa.",
        "One token after what is read, 256 after one. Eight prompts: qkv reads one after the other, llama.cpp all in",
        "one batch, `transformers` pads them to 4,096 tokens. q4_k: Q4_K where a row holds a multiple of 256 numbers,",
        "which of SmolLM2 few do; else what llama-quantize takes for it. Commands: the process as a whole, at its",
        "peak. Share of reading: the time of reading the file once a token at the rate of memory, over the time taken.",
        "Off: from transformers in f32, the root mean square over that of its result, or the tokens before the first",
        "other one. KL divergence: of the next token, in nats, from the same file's weights in f32, by each program.",
        *missing,
    ]
