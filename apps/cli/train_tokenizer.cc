#include "train_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "file_places.h"
#include "lines.h"
#include "misuse.h"
#include "output.h"
#include "progress.h"
#include "qkv/api/train.h"
#include "qkv/text/train_tokenizer.h"

namespace qkv::cli {
namespace {

void require_options_of_tokenizers(const Given& given) {
  constexpr std::array<std::string_view, 5> kOurs = {"task", "data", "size", "out", "json"};
  for (const std::string& name : given.names()) {
    const bool ours = std::ranges::find(kOurs, name) != kOurs.end();
    if (!ours) misuse(option_named(name), "none beside a tokenizer", option_named(name));
  }
}

}  // namespace

void run_tokenizer_training(const TokenizerTraining& training, const Given& given) {
  require_options_of_tokenizers(given);
  if (training.data.empty()) misuse("DATA", "a file for tokenizer", "none");
  const std::string out = training.out.empty() ? "tokenizer.json" : training.out;
  check_files({{"DATA", training.data}}, {{"--out", out}});
  TrainTokenizerOptions options;
  options.size = training.size.value_or(options.size);
  Progress progress;
  options.progress = [&](std::int64_t pieces) { progress.show(fmt::format("{} of {} pieces", pieces, options.size)); };
  const TrainTokenizerReply reply = trained_tokenizer(training.data, out, options);
  if (training.json) return print(reply_as_json(reply));
  const double each = reply.tokens == 0 ? 0 : static_cast<double>(reply.bytes) / static_cast<double>(reply.tokens);
  print(fmt::format("{} pieces, written to {}\n{} bytes of {} are {} tokens: {:.2f} bytes a token\n", reply.pieces, out,
                    reply.bytes, training.data, reply.tokens, each));
}

}  // namespace qkv::cli
