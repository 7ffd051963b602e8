// What `qkv analyze` is asked, and what it computes.
#include <algorithm>
#include <string>

#include "api/fields/refuse.h"
#include "api/fields/shared_fields.h"
#include "api/models/models.h"
#include "api/models/shown.h"
#include "api/roles/analyzed_texts.h"
#include "api/studio/question_watch.h"
#include "files/place.h"
#include "qkv/api/explain.h"
#include "qkv/api/models.h"
#include "qkv/api/refusal.h"
#include "qkv/api/roles.h"
#include "qkv/api/syntax.h"

namespace qkv {
namespace {

constexpr std::int64_t kTexts = 64;

HeadOptions head_options(const AnalyzeRequest& request, const HeadTexts& texts) {
  HeadOptions options;
  options.importance_texts = request.importance;
  options.repeats = texts.repeats;
  options.masks = texts.masks;
  options.patterns = texts.patterns;
  options.repeats.seed = options.masks.seed = request.seed.value_or(0);
  const auto is_left_out = [&](AttentionSite site) {
    return std::ranges::find(request.sites, name_of(site)) == request.sites.end();
  };
  if (!request.sites.empty()) std::erase_if(options.sites, is_left_out);
  return options;
}

void require_tokens_drawn(const AnalyzeRequest& request, const HeadOptions& options) {
  const bool are_masked = options.masks.mask && options.importance_texts > 0;
  if (!request.seed || are_masked || !options.repeats.tokens.empty()) return;
  api_detail::refuse("seed", "none beside texts of which this model has no tokens drawn",
                     std::to_string(*request.seed));
}

std::vector<ParsedSentence> analyzed_trees(const AnalyzeRequest& request) {
  if (request.syntax == "english") return trees_to_look_at(request.count.value_or(kTexts));
  if (request.count) {
    api_detail::refuse("count", "`syntax` english beside it: a file is read whole", request.syntax);
  }
  return parse_conllu(files::read_text(request.syntax), request.syntax);
}

constexpr std::int64_t kMostAnalyzed = 100000;

void add_texts(Fields<AnalyzeRequest>& fields) {
  using R = AnalyzeRequest;
  const std::string group = "Instead of examples";
  fields.add(&R::count, {.name = "count",
                         .form = "N",
                         .meaning = "Examples or sentences",
                         .least = 1,
                         .most = kMostAnalyzed,
                         .fallback = std::to_string(kTexts)});
  fields.add(&R::file, line_file_field(group));
  fields.info("file").former = {"text"};
  fields.add(&R::texts, texts_field(group));
  const auto many = [&](const char* name, const char* one, std::vector<std::string> R::* paths, const char* meaning) {
    const FieldInfo shared = api_detail::shared_field(one);
    fields.add(paths, {.name = name,
                       .form = shared.form,
                       .meaning = meaning,
                       .group = group,
                       .option = one,
                       .media = shared.media,
                       .example = shared.example});
  };
  many("pictures", "picture", &R::pictures, "PNGs, for a model that reads images alone");
  many("sounds", "sound", &R::sounds, "WAV files, for a model that reads sound");
  fields.add(&R::talk, api_detail::chat_fields_of_texts(group));
  fields.add(&R::syntax, {.name = "syntax",
                          .form = "TREES",
                          .meaning = "Hold heads against trees, a CoNLL-U file's or english",
                          .group = group});
  fields.give_examples({{"syntax", "english"}});
}

void add_looks(Fields<AnalyzeRequest>& fields) {
  using R = AnalyzeRequest;
  fields.add(&R::sites, {.name = "sites",
                         .form = "SITE",
                         .meaning = "Only tokens, source or cross, or two of them: source,cross",
                         .words = {"tokens", "source", "cross"},
                         .option = "site"});
  fields.add(&R::importance, {.name = "importance",
                              .form = "N",
                              .meaning = "Measure the loss without each head on N texts; 0: not",
                              .least = 0,
                              .most = kMostAnalyzed});
  fields.add(&R::seed,
             {.name = "seed", .form = "N", .meaning = "Of the random tokens that come twice, and of those masked"});
  fields.give_fallbacks({{"seed", "0"}});
  fields.give_examples({{"sites", "source"}, {"importance", "2"}});
}

void say_company(Fields<AnalyzeRequest>& fields) {
  constexpr const char* kOne = "a model reads one of them";
  fields.exclude({"count"}, {"file", "texts"}, "all of them are read");
  fields.exclude({"file"}, {"texts"}, "texts come from one place");
  fields.exclude({"pictures", "sounds"}, {"count", "file", "texts", "syntax", "chat"}, kOne);
  fields.exclude({"pictures"}, {"sounds"}, kOne);
  fields.exclude({"chat"}, {"syntax"}, "trees are held against sentences as they are");
  fields.exclude({"file", "texts"}, {"syntax"}, "the trees have their sentences");
  fields.exclude({"syntax"}, {"sites", "importance", "seed"}, "heads are held against trees, and no more");
}

}  // namespace

const Fields<AnalyzeRequest>& analyze_fields() {
  static const Fields<AnalyzeRequest> kFields = [] {
    Fields<AnalyzeRequest> fields;
    fields.add(&AnalyzeRequest::model, api_detail::shared_field("model"));
    fields.info("model").required = true;
    fields.add(&AnalyzeRequest::dtype, api_detail::numbers_field());
    add_texts(fields);
    add_looks(fields);
    say_company(fields);
    fields.tell_arguments(
        {{"model", {"trained", "texts", "count"}}, {"file", {"texts"}}, {"syntax", {"trained", "sentences"}}});
    return fields;
  }();
  return kFields;
}

HeadsFound found_heads(const AnalyzeRequest& request, const Saying& saying) {
  HeadsFound found{
      .model = api_detail::open_in_dtype(request.model, request.dtype, saying), .texts = {}, .analysis = nullptr};
  found.texts = api_detail::analyzed_texts(request, *found.model, kTexts, saying);
  HeadOptions options = head_options(request, found.texts);
  require_tokens_drawn(request, options);
  options.doing = [&](const std::string& what, std::int64_t done, std::int64_t total) {
    api_detail::QuestionWatch::doing(what, {.done = done, .total = total});
    if (saying.doing) saying.doing(what);
  };
  found.analysis =
      std::make_shared<const HeadAnalysis>(analyze_heads(found.model->model(), found.texts.texts, options));
  return found;
}

SyntaxAnalysis found_syntax(const AnalyzeRequest& request, const Saying& saying) {
  const OpenedModel model = api_detail::open_in_dtype(request.model, request.dtype, saying);
  const std::vector<ParsedSentence> sentences = analyzed_trees(request);
  return analyze_syntax(*model, sentences);
}

AnyReply answer(const AnalyzeRequest& request, const Saying& saying) {
  if (!request.syntax.empty()) return any_reply(syntax_reply(found_syntax(request, saying), request.model));
  const HeadsFound found = found_heads(request, saying);
  return any_reply(roles_reply(*found.analysis, request.model, found.texts.described));
}

}  // namespace qkv
