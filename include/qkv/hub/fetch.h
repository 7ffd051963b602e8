// A model from a hub, a folder or a GGUF file: what Model::open() needs of it, resumed where it was cut, and checked.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "qkv/error.h"

namespace qkv {

struct FetchOptions {
  std::string hub = "https://huggingface.co";
  std::string revision = "main";  // a branch, a tag or a commit
  std::string token = {};         // of a reader, for models that are not for everyone; never sent to another host
  int tries = 5;                  // of a file, with no byte more in between, before a failing network is an error
  double patience = 1;            // seconds before the second try; twice as long before each later one
};

/// A file of the model as the hub describes it.
struct HubFile {
  std::string name;       // "config.json", "1_Pooling/config.json"
  std::int64_t size = 0;  // bytes
  std::string hash = {};  // in hexadecimal: SHA-256 of a large file, else git's hash of a blob (SHA-1)
};

struct HubModel {
  std::string name;            // "sentence-transformers/all-MiniLM-L6-v2"
  std::string revision;        // the commit
  std::vector<HubFile> files;  // that qkv reads: config, weights, tokenizer, licence
  std::string gguf = {};       // of them the file that is opened; empty where their folder is
  // What may follow the name behind a colon, "Q4_K_M", where its GGUF files are several models and none was chosen:
  // then `files` has those of all.
  std::vector<std::string> choices = {};
};

struct FetchProgress {
  std::string file = {};
  std::int64_t done = 0;  // bytes of all files that are here
  std::int64_t total = 0;
  std::string waiting = {};  // for what, as long as no bytes come: "asking https://huggingface.co"
};
/// Asked now and then, at least once a second; false stops.
using FetchWatch = std::function<bool(const FetchProgress&)>;

/// A hub could not be asked for a model, or did not say what it is.
class LookUpFailed : public Error {
 public:
  LookUpFailed(const std::string& message, bool answered) : Error(message), answered_(answered) {}
  /// Whether the hub said so; otherwise it cannot be reached, or is busy.
  [[nodiscard]] bool answered() const noexcept { return answered_; }

 private:
  bool answered_;
};

/// The watch said stop. What has come stays, and the next call goes on with it.
class FetchStopped : public Error {
 public:
  using Error::Error;
};

struct FetchReport {
  HubModel model;
  std::int64_t received = 0;   // bytes that came over the network
  std::int64_t was_there = 0;  // files that were there already, whole
};

/// What a hub says of a model, by the interface of Hugging Face's: GET <hub>/api/models/<name>/revision/<revision>. Of
/// `name`, "owner/name:Q4_K_M" or "owner/name:model-Q4_K_M.gguf" is the GGUF model of that type, in any case, or with
/// that file, with all its parts; "owner/name" is the folder of safetensors, or if it has none its only GGUF model.
/// Throws InvalidArgument naming name or hub if it does not have the form of one, and for a choice that is none. Throws
/// Error if the hub cannot be reached, has no such model or asks for a token, or if the model has neither safetensors
/// nor GGUF files; FetchStopped.
[[nodiscard]] HubModel look_up_model(const std::string& name, const FetchOptions& options = {},
                                     const FetchWatch& watch = {});

/// Brings its files into `folder`, which is made. A file has its name only when it is whole and has its hash; until
/// then it is .qkv-partial-<hash>-<name>, from which a later call goes on. Files that are there with their hash are
/// left alone. All are of one commit. Throws as look_up_model(), and InvalidArgument naming name where one of several
/// GGUF models has to be chosen; Error for a file that comes with another hash or size (it is removed), where the
/// folder cannot be written, and where another process fetches into it; FetchStopped.
FetchReport fetch_model(const std::string& name, const std::string& folder, const FetchOptions& options = {},
                        const FetchWatch& watch = {});

}  // namespace qkv
