"""A small Whisper with all that its folder has: what WhisperFeatureExtractor, its tokenizer and generate() of `transformers`
make of a sound, in expected-speech.safetensors: samples [N] of `rate`, features [1, bins, frames], and of each question
tokens [T] that are written, with their text among the metadata."""

import json
import zlib

import numpy as np
import tokenizers
import torch
import transformers as t
from safetensors.torch import save_file
from small_models import WHISPER

SECONDS, RATE = 2, 16000
LANGUAGES, TASKS = ["<|en|>", "<|de|>", "<|fr|>"], ["translate", "transcribe"]
QUESTIONS = {"heard": {}, "german": {"language": "de"}, "english": {"language": "fr", "task": "translate"}}


def special_tokens():
    tasks = [f"<|{task}|>" for task in TASKS]
    return ["<|endoftext|>", "<|startoftranscript|>", *LANGUAGES, *tasks, "<|notimestamps|>", "<|0.00|>"]


def tokenizer_of(texts):
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    options = {"vocab_size": 400, "initial_alphabet": alphabet, "show_progress": False}
    made.train_from_iterator(texts, tokenizers.trainers.BpeTrainer(**options))
    made.add_special_tokens(special_tokens())
    return made


def lay_out_tokenizer(made, folder):
    """vocab.json, merges.txt and added_tokens.json, as the first folders have them."""
    model = json.loads(made.to_str())["model"]
    (folder / "vocab.json").write_text(json.dumps(model["vocab"]))
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n")
    (folder / "added_tokens.json").write_text(json.dumps({name: made.token_to_id(name) for name in special_tokens()}))
    config = {"tokenizer_class": "WhisperTokenizer", "additional_special_tokens": special_tokens()[1:-1]}
    config |= {word: "<|endoftext|>" for word in ("bos_token", "eos_token", "unk_token", "pad_token")}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))


def generation_of(made):
    number = made.token_to_id
    return t.GenerationConfig(
        decoder_start_token_id=number("<|startoftranscript|>"),
        eos_token_id=number("<|endoftext|>"),
        pad_token_id=number("<|endoftext|>"),
        bos_token_id=number("<|endoftext|>"),
        is_multilingual=True,
        lang_to_id={name: number(name) for name in LANGUAGES},
        task_to_id={task: number(f"<|{task}|>") for task in TASKS},
        no_timestamps_token_id=number("<|notimestamps|>"),
        suppress_tokens=[1, 2, 7, number("<|startoftranscript|>"), number("<|0.00|>")],
        begin_suppress_tokens=[3, number("<|endoftext|>")],
        max_length=64,
        return_timestamps=False,
    )


def whisper_words(folder, texts, shaken):
    torch.manual_seed(zlib.crc32(folder.name.encode()))
    folder.mkdir(parents=True, exist_ok=True)
    made = tokenizer_of(texts)
    number = made.token_to_id
    sizes = {"vocab_size": made.get_vocab_size(), "num_mel_bins": 80, "max_source_positions": SECONDS * 50}
    ids = {"decoder_start_token_id": number("<|startoftranscript|>"), "eos_token_id": number("<|endoftext|>")}
    ids |= {"pad_token_id": number("<|endoftext|>"), "bos_token_id": number("<|endoftext|>")}
    begin = {"max_target_positions": 64, "begin_suppress_tokens": None}
    model = shaken(t.WhisperForConditionalGeneration(t.WhisperConfig(**{**WHISPER, **sizes, **ids, **begin}))).eval()
    for parameter in (model.model.decoder.embed_positions.weight, *(
        layer.encoder_attn.out_proj.weight for layer in model.model.decoder.layers
    )):
        parameter.normal_(std=0.5)  # so that what is written hangs on the place and on the sound
    model.generation_config = generation_of(made)
    model.save_pretrained(folder)
    extractor = t.WhisperFeatureExtractor(chunk_length=SECONDS)
    extractor.save_pretrained(folder)
    lay_out_tokenizer(made, folder)
    time = np.arange(int(1.3 * RATE)) / RATE
    sound = (0.4 * np.sin(2 * np.pi * (150 + 900 * time) * time)).astype(np.float32)
    read = extractor(sound, sampling_rate=RATE, return_tensors="pt")
    tensors, texts = {"samples": torch.from_numpy(sound), "features": read.input_features}, {}
    for name, question in QUESTIONS.items():
        written = model.generate(read.input_features, **question, do_sample=False, max_new_tokens=20)[0]
        tensors[name] = written[:20].contiguous()
        texts[name] = made.decode(written[:20].tolist(), skip_special_tokens=True)
    save_file(tensors, folder / "expected-speech.safetensors", metadata=texts)
    print(folder.name, flush=True)
