"""Small random models of every family that `transformers` has and qkv reads; make_models.py says which options each has."""

import torch
import transformers as t

VOCABULARY = 97
LLAMA = {
    "vocab_size": VOCABULARY,
    "hidden_size": 48,
    "intermediate_size": 80,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "bos_token_id": 1,
    "eos_token_id": None,
}


def rope(kind, **options):
    return {"rope_type": kind, "rope_theta": 1e4, **options}


def gpt2(**options):
    sizes = {"vocab_size": VOCABULARY, "n_positions": 128, "n_embd": 48, "n_layer": 2, "n_head": 3}
    return t.GPT2LMHeadModel(t.GPT2Config(**{**sizes, "bos_token_id": 1, "eos_token_id": None, **options}))


def llama(**options):
    return t.LlamaForCausalLM(t.LlamaConfig(**{**LLAMA, **options}))


def mistral(**options):
    return t.MistralForCausalLM(t.MistralConfig(**{**LLAMA, "head_dim": 8, **options}))


def qwen2(**options):
    return t.Qwen2ForCausalLM(t.Qwen2Config(**{**LLAMA, **options}))


def qwen3(**options):
    return t.Qwen3ForCausalLM(t.Qwen3Config(**{**LLAMA, "head_dim": 10, **options}))


GEMMA = {**LLAMA, "head_dim": 10, "pad_token_id": None}


def gemma(**options):
    return t.GemmaForCausalLM(t.GemmaConfig(**{**GEMMA, **options}))


def gemma2(**options):
    scores = {"query_pre_attn_scalar": 20, "attn_logit_softcapping": 0.1, "final_logit_softcapping": 0.3}
    return t.Gemma2ForCausalLM(t.Gemma2Config(**{**GEMMA, "sliding_window": 4, **scores, **options}))


def gemma3(**options):
    sizes = {"num_hidden_layers": 3, "sliding_window": 4, "sliding_window_pattern": 2, "query_pre_attn_scalar": 20}
    turns = {
        "full_attention": rope("linear", factor=8.0) | {"rope_theta": 5e4},
        "sliding_attention": rope("default") | {"rope_theta": 1e3},
    }
    return t.Gemma3ForCausalLM(t.Gemma3TextConfig(**{**GEMMA, **sizes, "rope_parameters": turns, **options}))


def like_llama(kind, config, **options):
    """A family whose config has the words of Llama."""
    return kind(config(**{**LLAMA, "pad_token_id": None, **options}))


def smollm3(**options):
    return like_llama(t.SmolLM3ForCausalLM, t.SmolLM3Config, num_hidden_layers=4, **options)


def granite(**options):
    factors = {"embedding_multiplier": 3.0, "logits_scaling": 1.5, "residual_multiplier": 0.3, "attention_multiplier": 0.2}
    return like_llama(t.GraniteForCausalLM, t.GraniteConfig, **{**factors, **options})


def olmo2(**options):
    return like_llama(t.Olmo2ForCausalLM, t.Olmo2Config, **options)


def starcoder2(**options):
    return like_llama(t.Starcoder2ForCausalLM, t.Starcoder2Config, **options)


def stablelm(**options):
    sizes = {"hidden_size": 96, "partial_rotary_factor": 0.25}
    return like_llama(t.StableLmForCausalLM, t.StableLmConfig, **{**sizes, **options})


def phi(**options):
    return like_llama(t.PhiForCausalLM, t.PhiConfig, **options)


def phi3(**options):
    return like_llama(t.Phi3ForCausalLM, t.Phi3Config, **options)


def cohere(**options):
    return like_llama(t.CohereForCausalLM, t.CohereConfig, **options)


def cohere2(**options):
    sizes = {"num_hidden_layers": 4, "sliding_window": 5}
    return like_llama(t.Cohere2ForCausalLM, t.Cohere2Config, **{**sizes, **options})


EXPERTS = {"num_local_experts": 5, "num_experts_per_tok": 2}


def mixtral(**options):
    return like_llama(t.MixtralForCausalLM, t.MixtralConfig, **{**EXPERTS, **options})


def qwen3_moe(**options):
    sizes = {"head_dim": 10, "num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 28}
    return like_llama(t.Qwen3MoeForCausalLM, t.Qwen3MoeConfig, **{**sizes, **options})


def qwen2_moe(**options):
    sizes = {"num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 28, "shared_expert_intermediate_size": 36}
    return like_llama(t.Qwen2MoeForCausalLM, t.Qwen2MoeConfig, **{**sizes, **options})


def olmoe(**options):
    return like_llama(t.OlmoeForCausalLM, t.OlmoeConfig, **{"num_experts": 5, "num_experts_per_tok": 2, **options})


def gpt_oss(**options):
    sizes = {"head_dim": 10, "sliding_window": 4, "num_hidden_layers": 3, **EXPERTS}
    return like_llama(t.GptOssForCausalLM, t.GptOssConfig, **{**sizes, **options})


def phimoe(**options):
    # Noise so large that some scores count beside the largest one, and some do not.
    return like_llama(t.PhimoeForCausalLM, t.PhimoeConfig, **{**EXPERTS, "router_jitter_noise": 0.3, **options})


ROUTED = {
    "n_routed_experts": 6,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 28,
    "num_hidden_layers": 3,
    "first_k_dense_replace": 1,
    "num_key_value_heads": None,
}
LATENT = {**ROUTED, "kv_lora_rank": 20, "q_lora_rank": 14, "qk_nope_head_dim": 6, "qk_rope_head_dim": 4, "v_head_dim": 10}


def corrected(model):
    """Corrections, which begin as 0, by which other experts are chosen than by shares alone."""
    for name, value in model.named_buffers():
        if name.endswith("e_score_correction_bias"):
            torch.nn.init.normal_(value, std=0.3)
    return model


def deepseek_v2(**options):
    return like_llama(t.DeepseekV2ForCausalLM, t.DeepseekV2Config, **{**LATENT, **options})


def deepseek_v3(**options):
    groups = {"n_group": 3, "topk_group": 2}
    return corrected(like_llama(t.DeepseekV3ForCausalLM, t.DeepseekV3Config, **{**LATENT, **groups, **options}))


def glm4_moe(**options):
    sizes = {"num_key_value_heads": 2, "head_dim": 8}
    return corrected(like_llama(t.Glm4MoeForCausalLM, t.Glm4MoeConfig, **{**ROUTED, **sizes, **options}))


def granitemoe(**options):
    factors = {"embedding_multiplier": 3.0, "logits_scaling": 1.5, "residual_multiplier": 0.3, "attention_multiplier": 0.2}
    return like_llama(t.GraniteMoeForCausalLM, t.GraniteMoeConfig, **{**factors, **EXPERTS, **options})


NEOX = {word: value for word, value in LLAMA.items() if word != "num_key_value_heads"}


def gpt_neox(**options):
    return t.GPTNeoXForCausalLM(t.GPTNeoXConfig(**{**NEOX, "hidden_size": 96, **options}))


def falcon(**options):
    sizes = {"ffn_hidden_size": 80, "hidden_size": 48}
    return t.FalconForCausalLM(t.FalconConfig(**{**NEOX, "pad_token_id": None, **sizes, **options}))


def bloom(**options):
    sizes = {"vocab_size": VOCABULARY, "hidden_size": 48, "n_layer": 2, "n_head": 6, "eos_token_id": None}
    return t.BloomForCausalLM(t.BloomConfig(**{**sizes, **options}))


def mpt(attention=None, **options):
    sizes = {"vocab_size": VOCABULARY, "d_model": 48, "n_layers": 2, "n_heads": 6, "max_seq_len": 128}
    return t.MptForCausalLM(t.MptConfig(**{**sizes, "attn_config": attention or {}, **options}))


def glm(kind=t.GlmForCausalLM, config=t.GlmConfig, **options):
    return like_llama(kind, config, **{"head_dim": 12, "pad_token_id": None, **options})


def gpt_sizes(config, kind, **options):
    """A family with the words of GPT-2."""
    sizes = {"vocab_size": VOCABULARY, "n_positions": 128, "n_embd": 48, "n_layer": 2, "n_head": 6}
    return kind(config(**{**sizes, "bos_token_id": 1, "eos_token_id": None, **options}))


def gptj(**options):
    return gpt_sizes(t.GPTJConfig, t.GPTJForCausalLM, **{"rotary_dim": 4, **options})


def gpt_bigcode(**options):
    return gpt_sizes(t.GPTBigCodeConfig, t.GPTBigCodeForCausalLM, **options)


def gpt_neo(**options):
    sizes = {"vocab_size": VOCABULARY, "max_position_embeddings": 128, "hidden_size": 48, "num_layers": 2, "num_heads": 6}
    types = {"attention_types": [[["global", "local"], 1]], "window_size": 4, "bos_token_id": 1, "eos_token_id": None}
    return t.GPTNeoForCausalLM(t.GPTNeoConfig(**{**sizes, **types, **options}))


def opt(**options):
    return t.OPTForCausalLM(t.OPTConfig(**{**NEOX, "ffn_dim": 80, "word_embed_proj_dim": 48, **options}))


BART = {
    "vocab_size": VOCABULARY,
    "max_position_embeddings": 128,
    "d_model": 48,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 6,
    "decoder_attention_heads": 6,
    "encoder_ffn_dim": 80,
    "decoder_ffn_dim": 80,
    "decoder_start_token_id": 2,
    "eos_token_id": None,
    "forced_eos_token_id": None,
}


def bart(kind=t.BartForConditionalGeneration, config=t.BartConfig, **options):
    model = kind(config(**{**BART, **options}))
    model.final_logits_bias = 0.2 * torch.randn_like(model.final_logits_bias)
    return model


def mbart(**options):
    return bart(t.MBartForConditionalGeneration, t.MBartConfig, **options)


def marian(**options):
    return bart(t.MarianMTModel, t.MarianConfig, pad_token_id=1, **options)


WHISPER = {
    **{word: size for word, size in BART.items() if word not in ("max_position_embeddings", "forced_eos_token_id")},
    "num_mel_bins": 7,
    "max_source_positions": 13,
    "max_target_positions": 128,
    "pad_token_id": 0,
    "bos_token_id": 1,
}


def whisper(kind=t.WhisperForConditionalGeneration, **options):
    return kind(t.WhisperConfig(**{**WHISPER, **options}))


BERT = {
    "vocab_size": VOCABULARY,
    "hidden_size": 48,
    "intermediate_size": 80,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "max_position_embeddings": 64,
}
DISTILBERT = {"vocab_size": VOCABULARY, "dim": 48, "hidden_dim": 80, "n_layers": 2, "n_heads": 6}


def bert(kind=t.BertForMaskedLM, **options):
    return kind(t.BertConfig(**{**BERT, **options}))


def roberta(kind=t.RobertaForMaskedLM, **options):
    return kind(t.RobertaConfig(**{**BERT, "pad_token_id": 1, "type_vocab_size": 1, **options}))


def distilbert(kind=t.DistilBertForMaskedLM, **options):
    return kind(t.DistilBertConfig(**{**DISTILBERT, **options}))


T5 = {
    "vocab_size": VOCABULARY,
    "d_model": 48,
    "d_kv": 10,
    "d_ff": 80,
    "num_heads": 3,
    "num_layers": 2,
    "num_decoder_layers": 3,
    "decoder_start_token_id": 0,
    "eos_token_id": None,
}


def t5(kind=t.T5ForConditionalGeneration, **options):
    return kind(t.T5Config(**{**T5, **options}))


def modernbert(kind=t.ModernBertForMaskedLM, **options):
    """Of 5 layers the first and the fourth see all tokens; the others 3 keys on each side."""
    words = {"pad_token_id": 0, "bos_token_id": 1, "cls_token_id": 1, "eos_token_id": 2, "sep_token_id": 2}
    sizes = {**BERT, **words, "num_hidden_layers": 5, "local_attention": 7}
    return kind(t.ModernBertConfig(**{**sizes, **options}))


def electra(kind=t.ElectraForMaskedLM, **options):
    return kind(t.ElectraConfig(**{**BERT, "embedding_size": 20, **options}))


def albert(kind=t.AlbertForMaskedLM, **options):
    words = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "embedding_size": 20}
    return kind(t.AlbertConfig(**{**BERT, **words, **options}))


def mpnet(kind=t.MPNetForMaskedLM, **options):
    return kind(t.MPNetConfig(**{**BERT, **options}))


def deberta(kind=t.DebertaV2ForMaskedLM, **options):
    """As version 3: buckets, which 11 tokens reach, and a table that is normed; k and q read its rows."""
    words = {"relative_attention": True, "pos_att_type": "p2c|c2p", "position_biased_input": False, "norm_rel_ebd": "layer_norm"}
    buckets = {"position_buckets": 6, "share_att_key": True, "type_vocab_size": 0}
    return kind(t.DebertaV2Config(**{**BERT, **words, **buckets, **options}))


def nomic_bert(kind=t.NomicBertForMaskedLM, **options):
    return kind(t.NomicBertConfig(**{**BERT, **options}))


def relative(kind, config, **options):
    """RoBERTa by another name."""
    return kind(config(**{**BERT, "pad_token_id": 1, "type_vocab_size": 1, **options}))


def mt5(**options):
    return t.MT5ForConditionalGeneration(t.MT5Config(**{**T5, **options}))


def of_states(kind, config, **options):
    """A decoder without the map to tokens: states alone, or a classifier of its last token."""
    sizes = GEMMA if "Gemma" in kind.__name__ else LLAMA
    return kind(config(**{**sizes, "pad_token_id": 0, "tie_word_embeddings": False, **options}))


GPT2_STATES = {"vocab_size": VOCABULARY, "n_positions": 128, "n_embd": 48, "n_layer": 2, "n_head": 3, "tie_word_embeddings": False}


def gpt2_states(kind):
    return kind(t.GPT2Config(**GPT2_STATES, pad_token_id=0, bos_token_id=1, eos_token_id=None))


def t5_untied():
    model = t5(feed_forward_proj="gated-gelu", tie_word_embeddings=False)
    model.lm_head.weight = torch.nn.Parameter(0.1 * torch.randn_like(model.lm_head.weight))
    return model


TEXT_TOWER = {
    "vocab_size": VOCABULARY,
    "hidden_size": 48,
    "intermediate_size": 80,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "max_position_embeddings": 16,
}
# Two pixels at each end belong to no patch.
IMAGE_TOWER = {
    "hidden_size": 60,
    "intermediate_size": 90,
    "num_hidden_layers": 3,
    "num_attention_heads": 5,
    "image_size": 20,
    "patch_size": 6,
}
END = 5


def clip(text=None, image=None):
    text = {**TEXT_TOWER, "eos_token_id": END, **(text or {})}
    image = {**IMAGE_TOWER, **(image or {})}
    return t.CLIPModel(t.CLIPConfig(text_config=text, vision_config=image, projection_dim=26))


def siglip(text=None, image=None):
    text = {**TEXT_TOWER, "projection_size": 60, **(text or {})}
    return t.SiglipModel(t.SiglipConfig(text_config=text, vision_config={**IMAGE_TOWER, **(image or {})}))


def vit(kind=None, **options):
    size = {**IMAGE_TOWER, "layer_norm_eps": 1e-5, **options}
    return (kind or t.ViTForImageClassification)(t.ViTConfig(**size))


def deit(kind=None, **options):
    size = {**IMAGE_TOWER, "layer_norm_eps": 1e-5, **options}
    return (kind or t.DeiTForImageClassification)(t.DeiTConfig(**size))


def dinov2_registers(kind=None, **options):
    size = {**IMAGE_TOWER, "mlp_ratio": 3, "num_register_tokens": 3, **options}
    del size["intermediate_size"]
    return (kind or t.Dinov2WithRegistersForImageClassification)(t.Dinov2WithRegistersConfig(**size))


def dinov2(kind=None, **options):
    size = {**IMAGE_TOWER, "mlp_ratio": 3, **options}
    del size["intermediate_size"]
    return (kind or t.Dinov2ForImageClassification)(t.Dinov2Config(**size))
