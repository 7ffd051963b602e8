"""Folders that sentence-transformers saves, of every pooling and module, and what it makes of texts by them.

    python make_vectors.py OUT

OUT/vectors/NAME gets the folder, and expected-vectors.safetensors: `vectors` [T, d] of the texts, one a line of its metadata,
each encoded by itself. vectors_test.cc holds qkv against them.
"""

import json
import pathlib
import shutil
import sys

import tokenizers
import torch
import transformers as t
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers import models as m

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "dog", "query", ":", "a"]
MODES = ["cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]
SIZES = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 16, "intermediate_size": 24, "vocab_size": len(WORDS)}
TEXTS = ["the cat sat", "a dog", "The cat", "", "the dog sat : a cat " * 8]
PROMPTS = {"prompts": {"query": "query : ", "passage": "the "}, "default_prompt_name": "query"}
ROOT = pathlib.Path(sys.argv[1], "vectors")


def tokenizer(ends):
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({w: n for n, w in enumerate(WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    single = " ".join(["[CLS]"] * ends[0] + ["$A"] + ["[SEP]"] * ends[1])
    special = [(w, WORDS.index(w)) for w in ("[CLS]", "[SEP]")]
    made.post_processor = tokenizers.processors.TemplateProcessing(single=single, special_tokens=special)
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
    return t.PreTrainedTokenizerFast(tokenizer_object=made, **names)


def backbone(name, make, ends, **options):
    """The folder of a model with weights that differ, and its tokenizer."""
    torch.manual_seed(7)
    model = make()
    for parameter in model.parameters():
        parameter.data.add_(0.2 * torch.randn_like(parameter))
    folder = ROOT / "backbones" / name
    model.save_pretrained(folder)
    made = tokenizer(ends)
    for option, value in options.items():
        setattr(made, option, value)
    made.save_pretrained(folder)
    return str(folder)


def expected(name, change=None):
    """change(folder) edits what was saved."""
    folder = ROOT / name
    if change:
        change(folder)
    model = SentenceTransformer(str(folder), device="cpu")
    vectors = torch.stack([model.encode(text, convert_to_tensor=True, show_progress_bar=False) for text in TEXTS])
    save_file({"vectors": vectors.contiguous()}, folder / "expected-vectors.safetensors", metadata={"texts": "\n".join(TEXTS)})
    print("vectors/" + name, flush=True)


def saved(name, modules, change=None, **options):
    SentenceTransformer(modules=modules, device="cpu", **options).save(str(ROOT / name))
    expected(name, change)


def edited(file, **words):
    def change(folder):
        path = folder / file
        path.write_text(json.dumps((json.loads(path.read_text()) if path.exists() else {}) | words))

    return change


def in_old_words(*modes):
    ends = {"lasttoken": "", "cls": "_token", "mean_sqrt_len_tokens": ""}
    flags = {f"pooling_mode_{word}{ends.get(word, '_tokens')}": False for word in MODES}
    names = dict(zip(MODES, flags, strict=True))

    def change(folder):
        said = {"word_embedding_dimension": 16} | flags | {names[mode]: True for mode in modes}
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(said))

    return change


def into_subfolder(folder):
    """As before version 2: the model in 0_BERT, and a config.json that says a version alone."""
    inner = folder / "0_BERT"
    inner.mkdir(exist_ok=True)
    for file in list(folder.glob("*.*")):
        if file.name not in ("modules.json", "config_sentence_transformers.json", "README.md"):
            shutil.move(file, inner / file.name)
    edited("0_BERT/sentence_bert_config.json", max_seq_length=9, do_lower_case=True)(folder)
    (folder / "config.json").write_text(json.dumps({"__version__": "0.3.8"}))
    modules = json.loads((folder / "modules.json").read_text())
    modules[0] |= {"path": "0_BERT", "type": "sentence_transformers.models.Transformer"}
    modules[1]["type"] = "sentence_transformers.models.Pooling"
    (folder / "modules.json").write_text(json.dumps(modules))


def without_modules(folder):
    """A model that goes on with texts, as its authors publish it."""
    for name in ("modules.json", "sentence_bert_config.json"):
        (folder / name).unlink()
    edited("config.json", architectures=["Qwen3ForCausalLM"], tie_word_embeddings=True)(folder)


def main():
    shutil.rmtree(ROOT, ignore_errors=True)
    t.logging.set_verbosity_error()
    bert = backbone("bert", lambda: t.BertModel(t.BertConfig(**SIZES, max_position_embeddings=32)), (1, 1))
    left = backbone("left", lambda: t.BertModel(t.BertConfig(**SIZES, max_position_embeddings=32)), (1, 1), truncation_side="left", model_max_length=8)
    sizes = SIZES | {"num_key_value_heads": 1, "head_dim": 8, "max_position_embeddings": 64}
    qwen = backbone("qwen3", lambda: t.Qwen3Model(t.Qwen3Config(**sizes)), (0, 1), padding_side="left")
    t5 = {"d_model": 16, "d_kv": 8, "d_ff": 24, "num_heads": 2, "num_layers": 2, "vocab_size": len(WORDS), "decoder_start_token_id": 0}
    t5 = backbone("t5", lambda: t.T5ForConditionalGeneration(t.T5Config(**t5)), (0, 1), model_max_length=20)
    longer = SIZES | {"max_position_embeddings": 34}
    mpnet = backbone("mpnet", lambda: t.MPNetModel(t.MPNetConfig(**longer)), (1, 1), model_max_length=32)
    ends = {"pad_token_id": 0, "bos_token_id": 2, "cls_token_id": 2, "eos_token_id": 3, "sep_token_id": 3}
    windows = longer | ends | {"num_hidden_layers": 4, "local_attention": 6}
    modernbert = backbone("modernbert", lambda: t.ModernBertModel(t.ModernBertConfig(**windows)), (1, 1))
    nomic = backbone("nomic_bert", lambda: t.NomicBertModel(t.NomicBertConfig(**longer)), (1, 1))
    two = lambda of, mode="mean", **more: [m.Transformer(of), m.Pooling(16, pooling_mode=mode, **more)]
    for mode in MODES:
        saved(f"bert-{mode}", two(bert, mode))
        saved(f"bert-old-{mode}", two(bert), in_old_words(mode))
    saved("bert-several", two(bert, ("weightedmean", "cls", "max")))
    saved("bert-old-several", two(bert), in_old_words("lasttoken", "mean_sqrt_len_tokens", "cls"))
    saved("bert-left", two(left))
    saved("bert-longest", two(bert), edited("sentence_bert_config.json", max_seq_length=6))
    saved("bert-lower", two(bert), edited("sentence_bert_config.json", do_lower_case=True))
    saved("bert-prompt", two(bert), **PROMPTS)
    for mode in MODES:
        saved(f"bert-prompt-out-{mode}", two(bert, mode, include_prompt=False), **PROMPTS)
    chain = lambda *behind: two(bert) + list(behind)
    saved("bert-dense", chain(m.Dense(16, 8), m.Normalize()))
    saved("bert-denses", chain(m.Dense(16, 24, bias=False, activation_function=torch.nn.Identity()), m.Dense(24, 8, activation_function=torch.nn.GELU(), use_residual=True), m.LayerNorm(8), m.Dropout(0.2), m.Normalize()), truncate_dim=5)
    saved("bert-subfolder", two(bert), into_subfolder)
    called = lambda **kinds: edited("sentence_bert_config.json", max_seq_length=9, processing_kwargs=kinds)
    saved("bert-called", two(bert), called(common={"max_length": 6}, text={"max_length": 7}))
    saved("qwen3-uncut", two(qwen), called(common={"truncation": False}))
    saved("qwen3-uncut-text", two(qwen), called(text={"truncation": None, "max_length": 5}))
    saved("qwen3-alone", two(qwen), without_modules)
    saved("qwen3-last", two(qwen, "lasttoken") + [m.Normalize()])
    saved("qwen3-several", two(qwen, ("weightedmean", "cls")), **PROMPTS)
    saved("t5-dense", two(t5) + [m.Dense(16, 8, bias=False, activation_function=torch.nn.Identity()), m.Normalize()])
    saved("mpnet", two(mpnet) + [m.Normalize()])
    saved("modernbert", two(modernbert, "cls") + [m.Normalize()])
    saved("nomic_bert", two(nomic) + [m.LayerNorm(16), m.Normalize()], truncate_dim=8)
    shutil.rmtree(ROOT / "backbones")


main()
