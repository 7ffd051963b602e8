"""check_converted.py QKV MODELS: what `qkv convert` writes, opened by others.

Each folder of MODELS that GGUF has an architecture for is converted to every type and read by the `gguf` package: names
and shapes as its own map has them, numbers bit for bit as its quantisers make them. SmolLM2's file becomes a folder that
`transformers` opens, if it is there, and GGUF again, which llama.cpp opens, if a package of it is there; both write what
the file itself writes.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import gguf
import numpy as np

TYPES = ["f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1"]
ARCHITECTURES = {
    "cohere": "COMMAND_R",
    "gemma3_text": "GEMMA3",
    "gpt_bigcode": "STARCODER",
    "gpt_neox": "GPTNEOX",
    "granitemoe": "GRANITE_MOE",
    "mistral": "LLAMA",
    "mixtral": "LLAMA",
    "modernbert": "MODERN_BERT",
    "phi": "PHI2",
    "qwen2_moe": "QWEN2MOE",
    "qwen3_moe": "QWEN3MOE",
}
# llama.cpp asks for an output map of the one, and knows no biases of that of attention in the other.
NOT_WRITTEN = ("olmo2-biases", "qwen3_moe-normed")
PROMPT = "The capital of France is"
WRITTEN = 16


def convert(qkv, *words):
    done = subprocess.run([qkv, "convert", *map(str, words), "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"qkv convert {words}: {done.stderr}")
    return json.loads(done.stdout)


def names_of(model_type, layers):
    architecture = gguf.MODEL_ARCH[ARCHITECTURES.get(model_type, model_type.upper())]
    patterns = (gguf.TENSOR_NAMES[kind] for kind in gguf.MODEL_TENSORS[architecture])
    return {pattern.format(bid=block) for pattern in patterns for block in range(layers)}


def check_against_converter(folder, numbers):
    """The same tensors as in the file that make_gguf.py has made of the folder."""
    theirs = {tensor.name: tensor for tensor in gguf.GGUFReader(folder / "model.gguf").tensors}
    if theirs.keys() != numbers.keys():
        raise SystemExit(f"{folder.name}: tensors {sorted(theirs.keys() ^ numbers.keys())} are of one converter alone")
    for name, tensor in theirs.items():
        if not np.array_equal(gguf.dequantize(tensor.data, tensor.tensor_type), numbers[name]):
            raise SystemExit(f"{folder.name}: {name} has other numbers than in the file of make_gguf.py")


def check_against_gguf(qkv, folder, room):
    config = json.loads((folder / "config.json").read_text())
    layers = max(
        config.get(word) or 0
        for word in ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_decoder_layers")
    )
    known = names_of(config["model_type"], layers)
    plain = room / "plain.gguf"
    convert(qkv, folder, plain, "--type", "f32", "--overwrite")
    numbers = {tensor.name: np.array(tensor.data) for tensor in gguf.GGUFReader(plain).tensors}
    for name in numbers:
        if name.rsplit(".", 1)[0] not in known:
            raise SystemExit(f"{folder.name}: the gguf package knows no tensor {name}")
    check_against_converter(folder, numbers)
    for kind in TYPES:
        path = room / f"{kind}.gguf"
        convert(qkv, folder, path, "--type", kind, "--overwrite")
        for tensor in gguf.GGUFReader(path).tensors:
            wanted = gguf.quantize(numbers[tensor.name], tensor.tensor_type)
            if not np.array_equal(
                np.ascontiguousarray(wanted).view(np.uint8), np.ascontiguousarray(tensor.data).view(np.uint8)
            ):
                raise SystemExit(f"{folder.name}: {tensor.name} in {kind} has other bits")
    print(f"{folder.name}: {len(numbers)} tensors in {len(TYPES)} types", flush=True)


def written_by_qkv(qkv, model):
    words = [qkv, "generate", str(model), PROMPT, "--tokens", str(WRITTEN), "--json"]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)["tokens"]


def written_by_llama(path):
    from ik_llama_cpp import IkLlama

    model = IkLlama(str(path), n_ctx=256, verbose=False, n_threads=2)
    return model.generate(model.tokenize(PROMPT, add_bos=False), max_tokens=WRITTEN)


def check_q8_0(before, after):
    """`after` holds the numbers of `before`, in f16, to half a step of q8_0 and what rounds to f16: its scale and they."""
    blocks = {tensor.name: tensor.data.astype(np.float32).reshape(-1, 32) for tensor in gguf.GGUFReader(before).tensors}
    for tensor in gguf.GGUFReader(after).tensors:
        old = blocks[tensor.name]
        error = np.abs(gguf.dequantize(tensor.data, tensor.tensor_type).reshape(-1, 32) - old)
        most = 0
        if tensor.tensor_type == gguf.GGMLQuantizationType.Q8_0:
            largest = np.abs(old).max(axis=1, keepdims=True)
            most = largest * (0.5 / 127 + 2 * 2.0**-11 + 2.0**-19) + 128 * 2.0**-24
        if not (error <= most).all():
            raise SystemExit(f"{tensor.name} of {after.name} is further from {before.name} than q8_0 allows")
    print(f"smollm2: {after.name} is as near to {before.name} as q8_0 allows", flush=True)


def check_smollm2(qkv, file, room):
    convert(qkv, file, room / "smollm2")
    convert(qkv, room / "smollm2", room / "smollm2-f16.gguf", "--type", "f16")
    convert(qkv, room / "smollm2", room / "smollm2-q8_0.gguf", "--type", "q8_0")
    check_q8_0(room / "smollm2-f16.gguf", room / "smollm2-q8_0.gguf")
    own = written_by_qkv(qkv, file)
    for name in ("smollm2", "smollm2-f16.gguf"):
        if written_by_qkv(qkv, room / name) != own:
            raise SystemExit(f"{name} writes otherwise than the file that it is made of")
    try:
        import transformers
    except ImportError:
        print("smollm2: transformers is not there: the folder is not opened by it", flush=True)
    else:
        tokenizer = transformers.AutoTokenizer.from_pretrained(room / "smollm2")
        model = transformers.AutoModelForCausalLM.from_pretrained(room / "smollm2", dtype="float32").eval()
        ids = tokenizer(PROMPT, return_tensors="pt").input_ids
        theirs = model.generate(ids, max_new_tokens=WRITTEN, do_sample=False)[0, ids.shape[1] :].tolist()
        if theirs != own:
            raise SystemExit(f"transformers writes {theirs} from the folder, expected {own}")
        print("smollm2: transformers opens the folder, and writes the same", flush=True)
    try:
        import ik_llama_cpp  # noqa: F401
    except ImportError:
        print("smollm2: ik-llama-cpp-python is not there: the files are not opened by llama.cpp", flush=True)
        return
    for name in ("smollm2-f16.gguf", "smollm2-q8_0.gguf"):
        theirs = written_by_llama(room / name)
        if name == "smollm2-f16.gguf" and theirs != own:
            raise SystemExit(f"llama.cpp writes {theirs} from {name}, expected {own}")
        print(f"smollm2: llama.cpp opens {name}, and writes {theirs}", flush=True)


def main():
    qkv, models = sys.argv[1], pathlib.Path(sys.argv[2])
    types = set(gguf.MODEL_ARCH.__members__)
    with tempfile.TemporaryDirectory() as room:
        for folder in sorted(models.iterdir()):
            config = folder / "config.json"
            if not config.exists() or not (folder / "model.gguf").exists():
                continue
            kind = json.loads(config.read_text())["model_type"]
            if ARCHITECTURES.get(kind, kind.upper()) in types and folder.name not in NOT_WRITTEN:
                check_against_gguf(qkv, folder, pathlib.Path(room))
        if (models / "smollm2" / "model.gguf").exists():
            check_smollm2(qkv, models / "smollm2" / "model.gguf", pathlib.Path(room))


main()
