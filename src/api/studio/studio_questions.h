// A question with who answers it, and what all answers of one studio share: the models that are open.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/far/far_head.h"
#include "api/heads/model_run.h"
#include "api/replies/answered.h"
#include "api/studio/shared_work.h"
#include "files/reading.h"
#include "qkv/api/bench.h"
#include "qkv/api/heads.h"
#include "qkv/api/models.h"
#include "qkv/api/questions.h"
#include "qkv/api/refusal.h"
#include "qkv/api/studio.h"
#include "qkv/model/text_model.h"
#include "qkv/study/bottleneck.h"

namespace qkv::api_detail {

/// What answers of one studio have in common. Several threads may use it at once.
class StudioState {
 public:
  explicit StudioState(StudioOptions options);

  [[nodiscard]] const StudioOptions& options() const noexcept { return options_; }
  /// What may be read for whoever asks.
  [[nodiscard]] const files::ReadPlaces& places() const noexcept { return places_; }
  /// The model of this name or path, opened once. Throws InvalidArgument naming `model`.
  [[nodiscard]] std::shared_ptr<const TextModel> model(const std::string& name);
  /// Keeps a model that is open already.
  void keep(const std::string& name, OpenedModel model);
  /// Keeps a pass over what its model is shown.
  void keep(const HeadsRequest& shown, const ModelPass& pass);
  /// The model's pass over what it is shown; the last few are kept. Throws InvalidArgument naming the field, before the
  /// pass for a text of more than `most_tokens`.
  [[nodiscard]] std::shared_ptr<const ModelRun> run(const ShownText& shown, std::int64_t most_tokens = kAnyTokens);
  /// The two models of the box, read once. Throws Error if the box does not have them.
  [[nodiscard]] std::shared_ptr<const BottleneckModels> bottleneck();
  /// What the request lays out: `lay_out()`, or what was laid out last, if it was for the same request.
  [[nodiscard]] std::shared_ptr<const Bench> bench(const BenchRequest& request, const std::function<Bench()>& lay_out);
  /// The heads that the page Far looks at.
  [[nodiscard]] FarHeads& far() noexcept { return far_; }
  /// What makes a model's name or path another one: "./gpt.safetensors" and "././gpt.safetensors" are the same, and a
  /// file that was written anew is not.
  [[nodiscard]] std::string model_key(const std::string& name) const;
  /// That models compute in of which a question says nothing.
  [[nodiscard]] ModelNumbers numbers() const;

 private:
  StudioOptions options_;
  files::ReadPlaces places_;
  SharedWork<std::string, const TextModel> models_;
  SharedWork<ShownText, const ModelRun> runs_;
  SharedWork<int, const BottleneckModels> bottleneck_;
  std::mutex mutex_;
  std::pair<BenchRequest, std::shared_ptr<const Bench>> bench_;
  FarHeads far_;
};

/// Whether an answer takes some hundredths of a second at most.
using IsLight = bool (*)(std::span<const FieldInfo> fields, const FieldValues& values);

struct Answerer {
  Question question;
  std::function<AnyReply(StudioState&, const FieldValues& request, const StudioWatch&)> answer;
  IsLight is_light = nullptr;  // null: it may take much
};

/// A question whose request is read by `fields` and whose reply is what `answer` returns.
template <class Request, class Reply>
Answerer answerer(const std::string& name, const std::string& meaning, const Fields<Request>& fields,
                  Reply (*answer)(StudioState&, const Request&, const StudioWatch&),
                  const std::vector<std::string>& examples) {
  return {.question = {.name = name,
                       .meaning = meaning,
                       .fields = fields.infos(),
                       .replies = {{.type = reply_type<Reply>()}},
                       .examples = examples,
                       .is_of_pages = true},
          .answer = [&fields, answer](StudioState& state, const FieldValues& request, const StudioWatch& watch) {
            return answered_for(fields.infos(), request,
                                [&] { return any_reply(answer(state, fields.from_values(request), watch)); });
          }};
}

[[nodiscard]] Answerer about_question();
[[nodiscard]] Answerer bench_question();
[[nodiscard]] Answerer number_question();
[[nodiscard]] Answerer heads_question();
[[nodiscard]] Answerer head_question();
[[nodiscard]] Answerer head_parts_question();
[[nodiscard]] Answerer pair_question();
[[nodiscard]] Answerer positions_question();
[[nodiscard]] Answerer learn_question();
[[nodiscard]] Answerer pictures_question();
[[nodiscard]] Answerer operations_question();
[[nodiscard]] Answerer bottleneck_question();
[[nodiscard]] Answerer bottleneck_lengths_question();
[[nodiscard]] Answerer far_open_question();
[[nodiscard]] Answerer far_tile_question();
[[nodiscard]] Answerer far_walk_question();
[[nodiscard]] Answerer far_row_question();
[[nodiscard]] Answerer far_largest_question();
[[nodiscard]] Answerer far_find_question();

/// Those of commands that change nothing, each called as its command is; pages ask some of them, too.
[[nodiscard]] std::vector<Answerer> questions_of_attention();
[[nodiscard]] std::vector<Answerer> questions_of_heads();
[[nodiscard]] std::vector<Answerer> questions_of_texts();
[[nodiscard]] std::vector<Answerer> questions_of_tasks();
/// Those of commands that write files or use the network: whoever only reads is refused, but by `train`.
[[nodiscard]] std::vector<Answerer> questions_that_write();

/// Every question with who answers it, in the order of questions().
[[nodiscard]] const std::vector<Answerer>& answerers();
/// The one of this name. Throws InvalidArgument naming `question` if there is none, with the nearest name.
[[nodiscard]] const Answerer& answerer_named(std::string_view name);

}  // namespace qkv::api_detail
