// Two texts as one, as an encoder such as BERT reads them.
#include <algorithm>

#include "api/fields/refuse.h"
#include "api/heads/model_run.h"
#include "insight/asked_text.h"
#include "qkv/model/encoder.h"

namespace qkv::api_detail {

PairedText paired_text(const TextModel& trained, const ShownText& shown) {
  const Encoder* const encoder = trained.traits().fills ? trained.model().parts().encoder : nullptr;
  if (encoder == nullptr) {
    refuse("second", "none: only encoders, such as BERT, read pairs of texts",
           "a model of kind " + std::string(name_of(trained.kind())));
  }
  const Tokenizer& tokenizer = trained.tokenizer();
  const Encoding both = tokenizer.encode(shown.text, {.pair = shown.second});
  PairedText paired;
  paired.text.ids.assign(both.ids.begin(), both.ids.end());
  paired.text.roles = insight::roles_of(trained, paired.text.ids, tokenizer);
  if (encoder->options().types > 1) paired.text.types.assign(both.types.begin(), both.types.end());
  const auto first = std::ranges::find(both.sources, TokenSource::pair);
  if (first == both.sources.end()) refuse("second", "a token or more", "none");
  paired.second_from = first - both.sources.begin();
  const auto most = trained.positions();
  if (most && std::ssize(both.ids) > *most) {
    refuse("second", "at most " + std::to_string(*most) + " tokens with the first text",
           std::to_string(both.ids.size()));
  }
  return paired;
}

}  // namespace qkv::api_detail
