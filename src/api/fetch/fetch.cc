#include "qkv/api/fetch.h"

#include <fmt/format.h>

#include <cstdlib>

#include "api/replies/lines.h"
#include "core/counted.h"
#include "qkv/api/refusal.h"

namespace qkv {
namespace {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing sets it
  return value == nullptr ? "" : value;
}

FetchOptions options_of(const FetchRequest& request) {
  FetchOptions options{.revision = request.revision, .token = environment("HF_TOKEN")};
  if (const std::string hub = environment("HF_ENDPOINT"); !hub.empty()) options.hub = hub;
  if (request.hub) options.hub = *request.hub;
  return options;
}

FetchFigures figures_of(const HubModel& model) {
  FetchFigures figures;
  figures.name = model.name;
  figures.revision = model.revision;
  figures.choices = model.choices;
  for (const HubFile& file : model.files) figures.files.push_back({file.name, file.size, file.hash});
  return figures;
}

std::string listed(const FetchFigures& figures) {
  std::string text;
  std::int64_t total = 0;
  for (const FetchFile& file : figures.files) {
    text += fmt::format("{:>10}  {}\n", api_detail::size_text(file.size), file.name);
    total += file.size;
  }
  text += fmt::format("{:>10}  {} at {}\n", api_detail::size_text(total), figures.name, figures.revision);
  if (figures.choices.empty()) return text;
  return text + fmt::format("These are {} GGUF models: choose one, as in {}:{}\n", figures.choices.size(), figures.name,
                            figures.choices.front());
}

}  // namespace

const Fields<FetchRequest>& fetch_fields() {
  static const Fields<FetchRequest> kFields = [] {
    using R = FetchRequest;
    Fields<R> fields;
    fields.add(&R::name,
               {.name = "name",
                .form = "NAME",
                .meaning = "The model's name on the hub, such as owner/name; owner/name:Q4_K_M is a GGUF file",
                .required = true});
    fields.add(&R::out, {.name = "out", .form = "DIR", .meaning = "Its folder here"});
    fields.add(&R::revision, {.name = "revision", .form = "NAME", .meaning = "A branch, a tag or a commit"});
    fields.add(&R::hub, {.name = "hub", .form = "URL", .meaning = "Another hub"});
    fields.add(&R::list, {.name = "list", .meaning = "Fetch nothing: the files and their sizes"});
    fields.give_otherwise({{"out", "./ and what follows the slash, without what follows a colon"},
                           {"hub", "HF_ENDPOINT, or https://huggingface.co"}});
    fields.give_examples(
        {{"name", "owner/name"}, {"out", "model"}, {"revision", "v1.0"}, {"hub", "https://hub.example.org"}});
    return fields;
  }();
  return kFields;
}

namespace {

FetchFigures fetched(const FetchRequest& request, const FetchWatch& watch) {
  const FetchOptions options = options_of(request);
  if (request.list) return figures_of(look_up_model(request.name, options, watch));
  const std::string name = request.name.substr(0, request.name.find(':'));
  const std::string folder = request.out.empty() ? "./" + name.substr(name.find('/') + 1) : request.out;
  const FetchReport report = fetch_model(request.name, folder, options, watch);
  FetchFigures figures = figures_of(report.model);
  figures.folder = folder;
  figures.model = report.model.gguf.empty() ? folder : folder + "/" + report.model.gguf;
  figures.received = report.received;
  figures.was_there = report.was_there;
  return figures;
}

}  // namespace

FetchFigures answer(const FetchRequest& request, const FetchWatch& watch) {
  try {
    return fetched(request, watch);
  } catch (const LookUpFailed& error) {  // which of the two fields is at fault, qkv::hub does not know
    throw NotThere(error.answered() || !request.hub ? "name" : "hub", error.what());
  }
}

std::string as_text(const FetchFigures& figures) {
  if (!figures.folder) return listed(figures);
  const std::string there = *figures.was_there > 0 ? fmt::format(", {} were there", *figures.was_there) : "";
  return fmt::format("{}: {} of {} at {:.12}{}; {} came\n", *figures.model, core::counted(figures.files.size(), "file"),
                     figures.name, figures.revision, there, api_detail::size_text(*figures.received));
}

}  // namespace qkv
