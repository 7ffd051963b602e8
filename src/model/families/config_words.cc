#include "model/families/config_words.h"

#include <algorithm>
#include <array>

#include "core/listed.h"
#include "files/json_text.h"

namespace qkv::families {
namespace {

constexpr IgnoredWord kNames[] = {
    {"_name_or_path"},
    {"name_or_path"},
    {"_commit_hash"},
    {"architectures"},
    {"model_type"},
    {"transformers_version"},
    {"transformers.js_config"},
    {"adapter_transformers_version"},
    {"tokenizer_class"},
    {"processor_class"},
    {"unsloth_fixed"},
    {"unsloth_version"},
    {"is_llama_config"},
    {"auto_map"},
};
constexpr IgnoredWord kDtypes[] = {{"torch_dtype"}, {"dtype"}, {"use_bfloat16"}, {"fp16"}};
constexpr IgnoredWord kTraining[] = {
    {"attention_dropout"},
    {"attention_probs_dropout_prob"},
    {"attn_pdrop"},
    {"classifier_dropout"},
    {"dropout"},
    {"dropout_rate"},
    {"emb_pdrop"},
    {"embedding_dropout"},
    {"embd_pdrop"},
    {"hidden_dropout"},
    {"hidden_dropout_prob"},
    {"qa_dropout"},
    {"resid_pdrop"},
    {"residual_dropout"},
    {"seq_classif_dropout"},
    {"summary_first_dropout"},
    {"gradient_checkpointing"},
    {"initializer_factor"},
    {"initializer_range"},
    {"output_router_logits"},
    {"router_aux_loss_coef"},
    {"router_jitter_noise"},
    {"logit_scale_init_value"},
    {"pretraining_tp"},
    {"tf_legacy_loss"},
};
constexpr IgnoredWord kLabels[] = {{"id2label"},
                                   {"label2id"},
                                   {"num_labels"},
                                   {"_num_labels"},
                                   {"problem_type"},
                                   {"finetuning_task"},
                                   {"task_specific_params"},
                                   {"sentence_transformers"},
                                   {"sbert_ce_default_activation_function"}};
constexpr IgnoredWord kOutputs[] = {
    {"output_attentions"},
    {"output_hidden_states"},
    {"output_past"},
    {"return_dict"},
    {"torchscript"},
    {"use_cache"},
    {"cache_implementation"},
    {"chunk_size_feed_forward"},
    {"attn_implementation"},
    {"_attn_implementation"},
    {"_attn_implementation_autoset"},
};
// Tokens are the tokenizer's; the end is read beside it.
constexpr IgnoredWord kTokens[] = {{"bos_token_id"}, {"eos_token_id"},           {"pad_token_id"},  {"sep_token_id"},
                                   {"prefix"},       {"decoder_start_token_id"}, {"mask_token_id"}, {"cls_token_id"}};
// generation_config.json has these today; transformers 5 leaves them out where they stand in config.json.
constexpr IgnoredWord kWriting[] = {
    {"max_length"},
    {"min_length"},
    {"do_sample"},
    {"early_stopping"},
    {"num_beams"},
    {"num_beam_groups"},
    {"diversity_penalty"},
    {"temperature"},
    {"top_k"},
    {"top_p"},
    {"typical_p"},
    {"repetition_penalty"},
    {"encoder_repetition_penalty"},
    {"length_penalty"},
    {"no_repeat_ngram_size"},
    {"encoder_no_repeat_ngram_size"},
    {"bad_words_ids"},
    {"num_return_sequences"},
    {"output_scores"},
    {"return_dict_in_generate"},
    {"forced_bos_token_id"},
    {"forced_eos_token_id"},
    {"remove_invalid_values"},
    {"exponential_decay_length_penalty"},
    {"suppress_tokens"},
    {"begin_suppress_tokens"},
    {"epsilon_cutoff"},
    {"eta_cutoff"},
};
constexpr IgnoredWord kOff[] = {
    {"add_cross_attention", "false"},
    {"cross_attention_hidden_size", "null"},
    {"is_decoder", "false"},
    {"is_encoder_decoder", "false"},
    {"pruned_heads", "{}"},
    {"tie_encoder_decoder", "false"},
    {"rope_interleaved", "false"},
    {"use_mrope", "false"},
    {"use_bidirectional_attention", "false"},
};

// n_ctx is n_positions once more.
constexpr IgnoredWord kGpt2[] = {{"n_ctx"},
                                 {"n_special"},
                                 {"predict_special_tokens"},
                                 {"summary_activation"},
                                 {"summary_proj_to_labels"},
                                 {"summary_type"},
                                 {"summary_use_proj"}};
constexpr IgnoredWord kGpt2Precision[] = {{"reorder_and_upcast_attn"}};
constexpr IgnoredWord kBertPooler[] = {
    {"directionality"},       {"pooler_fc_size"},       {"pooler_num_attention_heads"},
    {"pooler_num_fc_layers"}, {"pooler_size_per_head"}, {"pooler_type"}};
// The table of positions is stored in either case.
constexpr IgnoredWord kDistilbert[] = {{"sinusoidal_pos_embds"}, {"tie_weights_"}};
constexpr IgnoredWord kGemma2[] = {{"hidden_act"}};
constexpr IgnoredWord kGemma3[] = {{"_sliding_window_pattern"}};
constexpr IgnoredWord kT5[] = {{"n_positions"}};
constexpr IgnoredWord kClip[] = {{"projection_dim"}};
constexpr IgnoredWord kVit[] = {{"encoder_stride"}, {"pooler_act"}, {"pooler_output_size"}};
constexpr IgnoredWord kDinov2[] = {{"apply_layernorm"}, {"drop_path_rate"}, {"layerscale_value"},
                                   {"out_features"},    {"out_indices"},    {"reshape_hidden_states"},
                                   {"stage_names"},     {"use_mask_token"}};
constexpr IgnoredWord kLayerBiases[] = {{"attention_bias"}, {"mlp_bias"}};
constexpr IgnoredWord kFeedForwardBias[] = {{"mlp_bias"}};
constexpr IgnoredWord kTiedOrNot[] = {{"tie_word_embeddings"}};
constexpr IgnoredWord kBartTraining[] = {
    {"activation_dropout"}, {"decoder_layerdrop"}, {"encoder_layerdrop"}, {"init_std"}};
constexpr IgnoredWord kBartForm[] = {{"add_bias_logits", "false"},
                                     {"num_hidden_layers"},
                                     {"normalize_embedding", "true"},
                                     {"static_position_embeddings", "false"},
                                     {"is_encoder_decoder", "true"}};
constexpr IgnoredWord kBartWords[] = {
    {"add_final_layer_norm", "false"}, {"encoder_no_repeat"}, {"force_bos_token_to_be_generated"}};
constexpr IgnoredWord kMbartWords[] = {{"add_final_layer_norm", "true"}};
constexpr IgnoredWord kWhisperTraining[] = {{"activation_dropout"},     {"apply_spec_augment"}, {"decoder_layerdrop"},
                                            {"encoder_layerdrop"},      {"init_std"},           {"mask_feature_length"},
                                            {"mask_feature_min_masks"}, {"mask_feature_prob"},  {"mask_time_length"},
                                            {"mask_time_min_masks"},    {"mask_time_prob"}};
constexpr IgnoredWord kWhisperForm[] = {{"num_hidden_layers"}, {"is_encoder_decoder", "true"}};
constexpr IgnoredWord kWhisperClasses[] = {{"classifier_proj_size"}, {"use_weighted_layer_sum"}};
constexpr IgnoredWord kWhisperWords[] = {{"forced_decoder_ids"}, {"median_filter_width"}};
constexpr IgnoredWord kOptTraining[] = {{"activation_dropout"}, {"init_std"}, {"layerdrop"}};
constexpr IgnoredWord kGptNeoTraining[] = {{"embed_dropout"}, {"resid_dropout"}, {"attention_layers"}};
constexpr IgnoredWord kBigcodePrecision[] = {{"attention_softmax_in_fp32"}, {"scale_attention_softmax_in_fp32"}};
constexpr IgnoredWord kBigcodeHeads[] = {{"num_key_value_heads"}};
constexpr IgnoredWord kBigcodeServing[] = {{"inference_runner"}, {"max_batch_size"},        {"max_sequence_length"},
                                           {"pad_key_length"},   {"pre_allocate_kv_cache"}, {"validate_runner_input"}};
constexpr IgnoredWord kGptj[] = {{"rotary", "true"}, {"scale_attn_weights", "true"}};
constexpr IgnoredWord kBloomPrecision[] = {{"attention_softmax_in_fp32"}, {"bias_dropout_fusion"},
                                           {"masked_softmax_fusion"},     {"skip_bias_add"},
                                           {"skip_bias_add_qkv"},         {"slow_but_exact"}};
constexpr IgnoredWord kBloomWords[] = {{"offset_alibi"}, {"unk_token_id"}};
constexpr IgnoredWord kMpt[] = {{"embedding_fraction"}, {"init_config"}, {"init_device"},
                                {"learned_pos_emb"},    {"norm_type"},   {"verbose"}};
constexpr IgnoredWord kFalcon[] = {{"apply_residual_connection_post_layernorm", "false"}};
constexpr IgnoredWord kStarcoder2[] = {{"activation_function"}, {"layer_norm_epsilon"}};
constexpr IgnoredWord kStarcoder2Form[] = {{"attention_softmax_in_fp32"},
                                           {"mlp_type", R"("default")"},
                                           {"norm_type", R"("layer_norm")"},
                                           {"scale_attention_softmax_in_fp32"},
                                           {"scale_attn_weights", "true"}};
constexpr IgnoredWord kCohere2[] = {{"order_of_interleaved_layers", R"("local_attn_first")"},
                                    {"position_embedding_type", R"("rope_gptj")"},
                                    {"rotary_pct", "1.0"},
                                    {"use_embedding_sharing", "true"},
                                    {"use_gated_activation", "true"},
                                    {"use_parallel_block", "true"},
                                    {"use_parallel_embedding"},
                                    {"use_qk_norm", "false"}};
constexpr IgnoredWord kPhimoeTraining[] = {{"input_jitter_noise"}};
constexpr IgnoredWord kDeepseekTraining[] = {
    {"aux_loss_alpha"}, {"seq_aux"}, {"ep_size"}, {"num_nextn_predict_layers"}, {"num_mtp_layers"}};
constexpr IgnoredWord kLatentWidths[] = {{"head_dim"}, {"qk_head_dim"}};
constexpr IgnoredWord kGptOss[] = {{"experts_per_token"}, {"initial_context_length"}};
constexpr IgnoredWord kDebertaPooler[] = {{"pooler_dropout"}, {"pooler_hidden_act"}, {"pooler_hidden_size"}};
constexpr IgnoredWord kDebertaHead[] = {{"legacy"}};
constexpr IgnoredWord kElectraHead[] = {
    {"summary_activation"}, {"summary_last_dropout"}, {"summary_type"}, {"summary_use_proj"}};
constexpr IgnoredWord kAlbertTraining[] = {{"classifier_dropout_prob"}};
constexpr IgnoredWord kAlbertWords[] = {{"down_scale_factor", "1"},
                                        {"gap_size", "0"},
                                        {"layers_to_keep", "[]"},
                                        {"net_structure_type", "0"},
                                        {"num_memory_blocks", "0"}};
constexpr IgnoredWord kNomicProgram[] = {
    {"dense_seq_output"}, {"fused_bias_fc"}, {"fused_dropout_add_ln"},  {"pad_vocab_size_multiple"},
    {"use_flash_attn"},   {"use_xentropy"},  {"max_trained_positions"}, {"reorder_and_upcast_attn"}};
constexpr IgnoredWord kNomicWords[] = {{"parallel_block_tied_norm", "false"},
                                       {"scale_attn_by_inverse_layer_idx", "false"},
                                       {"scale_attn_weights", "true"}};
constexpr IgnoredWord kMarianForm[] = {
    {"add_bias_logits", "false"}, {"classif_dropout"}, {"num_hidden_layers"}, {"is_encoder_decoder", "true"}};
constexpr IgnoredWord kModernbertHead[] = {{"classifier_pooling"}, {"sparse_pred_ignore_index"}, {"sparse_prediction"}};
constexpr IgnoredWord kModernbertProgram[] = {
    {"deterministic_flash_attn"}, {"reference_compile"}, {"repad_logits_with_grad"}};
constexpr IgnoredWord kModernbertWords[] = {{"layer_norm_eps"}, {"position_embedding_type", R"("absolute")"}};
constexpr IgnoredWord kModernbertTraining[] = {{"initializer_cutoff_factor"}, {"mlp_dropout"}};
constexpr IgnoredWord kWindowLayers[] = {{"max_window_layers"}};

constexpr IgnoredWords kIgnored[] = {
    {"", "names and versions", kNames},
    {"", "weights stay in the dtype that they are stored in", kDtypes},
    {"", "training alone", kTraining},
    {"", "labels and tasks of heads that qkv does not compute", kLabels},
    {"", "what a program returns, keeps or how it computes the same", kOutputs},
    {"", "tokens, which the tokenizer and generation_config.json have", kTokens},
    {"", "writing, which generation_config.json has", kWriting},
    {"", "off", kOff},
    {"gpt2", "n_positions once more, and a head of its own", kGpt2},
    {"gpt2", "the order of rounding", kGpt2Precision},
    {"bert", "the pooler", kBertPooler},
    {"roberta", "the pooler", kBertPooler},
    {"xlm-roberta", "the pooler", kBertPooler},
    {"camembert", "the pooler", kBertPooler},
    {"mistral", "its layers have no biases", kLayerBiases},
    {"qwen2", "biases of q, k and v alone, in any case", kLayerBiases},
    {"qwen3", "its feed-forward layers have no biases", kFeedForwardBias},
    {"gemma", "its feed-forward layers have no biases", kFeedForwardBias},
    {"gemma2", "its feed-forward layers have no biases", kFeedForwardBias},
    {"gemma3_text", "its feed-forward layers have no biases", kFeedForwardBias},
    {"distilbert", "how positions and tables began", kDistilbert},
    {"gemma2", "hidden_activation counts", kGemma2},
    {"gemma3_text", "hidden_activation counts", kGemma2},
    {"gemma3_text", "what transformers keeps for itself; layer_types or sliding_window_pattern count", kGemma3},
    {"t5", "of the first configs; positions are buckets", kT5},
    {"mt5", "of the first configs; positions are buckets", kT5},
    {"mt5", "a head that is stored counts", kTiedOrNot},
    {"clip", "in the config of a tower; that of the whole counts", kClip},
    {"clip", "there is no head of words", kTiedOrNot},
    {"siglip", "there is no head of words", kTiedOrNot},
    {"vit", "there is no head of words", kTiedOrNot},
    {"dinov2", "there is no head of words", kTiedOrNot},
    {"deit", "there is no head of words", kTiedOrNot},
    {"dinov2_with_registers", "there is no head of words", kTiedOrNot},
    {"vit", "the pooler, and a head that makes pictures", kVit},
    {"deit", "the pooler, and a head that makes pictures", kVit},
    {"dinov2", "training, and what a backbone gives", kDinov2},
    {"dinov2_with_registers", "training, and what a backbone gives", kDinov2},
    {"bart", "training alone", kBartTraining},
    {"bart", "what its first program called its form", kBartForm},
    {"bart", "no norm at the end of its stacks; writing, which generation_config.json has", kBartWords},
    {"mbart", "training alone", kBartTraining},
    {"mbart", "what its first program called its form", kBartForm},
    {"mbart", "a norm at the end of its stacks, which it has", kMbartWords},
    {"whisper", "training alone", kWhisperTraining},
    {"whisper", "encoder_layers and decoder_layers count", kWhisperForm},
    {"whisper", "heads of classes", kWhisperClasses},
    {"whisper", "what is asked of a sound, and times, which are not", kWhisperWords},
    {"opt", "training alone", kOptTraining},
    {"gpt_neo", "training alone; attention_types once more", kGptNeoTraining},
    {"gpt_neo", "a head of its own", kGpt2},
    {"gptj", "a head of its own", kGpt2},
    {"gptj", "what its first program called its form", kGptj},
    {"gpt_bigcode", "a head of its own", kGpt2},
    {"gpt_bigcode", "the order of rounding", kBigcodePrecision},
    {"gpt_bigcode", "multi_query counts", kBigcodeHeads},
    {"gpt_bigcode", "how its first program was served", kBigcodeServing},
    {"bloom", "the order of rounding", kBloomPrecision},
    {"bloom", "distances are what counts", kBloomWords},
    {"electra", "heads of classes", kElectraHead},
    {"deberta-v2", "the pooler", kDebertaPooler},
    {"deberta-v2", "the head that is stored counts", kDebertaHead},
    {"albert", "what its first program alone knew", kAlbertWords},
    {"albert", "training alone", kAlbertTraining},
    {"nomic_bert", "a head of its own", kGpt2},
    {"nomic_bert", "how its authors' program computes the same", kNomicProgram},
    {"nomic_bert", "of GPT-2, which it began from", kNomicWords},
    {"marian", "training alone", kBartTraining},
    {"marian", "what its first program called its form", kMarianForm},
    {"marian", "no norm at the end of its stacks; writing, which generation_config.json has", kBartWords},
    {"modernbert", "training alone", kModernbertTraining},
    {"modernbert", "heads of classes, and which scores are computed", kModernbertHead},
    {"modernbert", "how its program computes the same", kModernbertProgram},
    {"modernbert", "norm_eps and rotary positions count", kModernbertWords},
    {"mpt", "how the weights began, and what its first program alone knew", kMpt},
    {"falcon", "of BLOOM, which it began from", kFalcon},
    {"phi3", "its layers have no biases", kLayerBiases},
    {"starcoder2", "hidden_act and norm_epsilon count", kStarcoder2},
    {"starcoder2", "what its first program called its form", kStarcoder2Form},
    {"cohere2", "what its first program called its form", kCohere2},
    {"qwen3_moe", "its windows are those of all layers", kWindowLayers},
    {"phimoe", "training alone", kPhimoeTraining},
    {"deepseek_v2", "training alone, and layers that say tokens further on", kDeepseekTraining},
    {"deepseek_v3", "training alone, and layers that say tokens further on", kDeepseekTraining},
    {"glm4_moe", "training alone, and layers that say tokens further on", kDeepseekTraining},
    {"deepseek_v2", "qk_nope_head_dim and qk_rope_head_dim count", kLatentWidths},
    {"deepseek_v3", "qk_nope_head_dim and qk_rope_head_dim count", kLatentWidths},
    {"gpt_oss", "num_experts_per_tok and the rotary options count", kGptOss},
    {"smollm3", "use_sliding_window and layer_types count", kWindowLayers},
};

constexpr std::string_view kQuantised = "quantization_config";

// An object of a tower, or of MPT's attention, whose words are as those of the whole.
bool is_tower(std::string_view object) {
  return object.empty() || object.starts_with("text_config") || object.starts_with("vision_config") ||
         object.starts_with("attn_config");
}

bool is_ignored(std::string_view family, const UnreadWord& found) {
  if (!is_tower(found.place.substr(0, found.place.size() - found.word.size()))) return false;
  return std::ranges::any_of(kIgnored, [&](const IgnoredWords& kind) {
    if (!kind.family.empty() && kind.family != family) return false;
    return std::ranges::any_of(kind.words, [&](const IgnoredWord& ignored) {
      return ignored.word == found.word &&
             (ignored.only.empty() || nlohmann::json::parse(ignored.only) == *found.value);
    });
  });
}

}  // namespace

std::span<const IgnoredWords> ignored_words() { return kIgnored; }

bool has_mxfp4(const ConfigFile& config, std::string_view family) {
  if (family != "gpt_oss" || !config.has_object(kQuantised)) return false;
  return config.object(kQuantised).text("quant_method", "") == "mxfp4";
}

std::vector<std::string> cautions_of(const ConfigFile& config, std::string_view family) {
  if (has_mxfp4(config, family)) {
    config.mark_read(kQuantised);
  } else if (config.has(kQuantised)) {
    config.refuse(kQuantised, "none: qkv reads weights of f32, bf16 and f16, not quantised ones");
  }
  config.require("per_layer_config", nullptr);
  std::vector<std::string> all = config.remarks();
  std::vector<std::string> unread;
  for (const UnreadWord& found : config.unread()) {
    if (is_ignored(family, found)) continue;
    unread.push_back(found.place + " " + files::json_for_message(*found.value));
  }
  if (!unread.empty()) {
    all.push_back("config.json: " + core::joined(unread) +
                  ": not read; the program of the model's authors may compute something else");
  }
  return all;
}

}  // namespace qkv::families
