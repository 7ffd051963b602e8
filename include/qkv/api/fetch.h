// A model from a hub: `qkv fetch`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/hub/fetch.h"

namespace qkv {

struct FetchRequest {
  std::string name;  // "owner/name", "owner/name:Q4_K_M"
  std::string out;   // a folder; ./ and what follows the slash
  std::string revision = "main";
  std::optional<std::string> hub;  // HF_ENDPOINT, or FetchOptions().hub
  bool list = false;               // fetch nothing
};

[[nodiscard]] const Fields<FetchRequest>& fetch_fields();

struct FetchFile {
  std::string name;
  std::int64_t size = 0;
  std::string hash;
};

/// A model on its hub, and what came of it.
struct FetchFigures {
  std::string name, revision;
  std::vector<FetchFile> files;
  std::vector<std::string> choices;   // of several GGUF models, where none was chosen
  std::optional<std::string> folder;  // none where files were only listed
  std::optional<std::string> model;   // likewise
  std::optional<std::int64_t> received, was_there;
};

/// Looks the model up, and fetches it unless it is only to be listed. The environment's HF_TOKEN is the reader's token.
/// Throws as look_up_model() and fetch_model().
[[nodiscard]] FetchFigures answer(const FetchRequest& request, const FetchWatch& watch = {});

/// For people: the files with their sizes, or a line of what came.
[[nodiscard]] std::string as_text(const FetchFigures& figures);

[[nodiscard]] Members<FetchFile> describe(const FetchFile* file);
[[nodiscard]] Members<FetchFigures> describe(const FetchFigures* figures);

}  // namespace qkv
