#include "train_tokenizer.h"

#include <fmt/format.h>

#include "file_places.h"
#include "output.h"
#include "progress.h"

namespace qkv::cli {

void run_tokenizer_training(TokenizerRun run, bool as_json) {
  check_files({{"DATA", run.data}}, {{"--out", run.out}});
  Progress progress;
  run.options.progress = [&](std::int64_t pieces) {
    progress.show(fmt::format("{} of {} pieces", pieces, run.options.size));
  };
  const TrainTokenizerReply reply = trained_tokenizer(run);
  if (as_json) return print(reply_as_json(reply));
  const double each = reply.tokens == 0 ? 0 : static_cast<double>(reply.bytes) / static_cast<double>(reply.tokens);
  print(fmt::format("{} pieces, written to {}\n{} bytes of {} are {} tokens: {:.2f} bytes a token\n", reply.pieces,
                    run.out, reply.bytes, run.data, reply.tokens, each));
}

}  // namespace qkv::cli
