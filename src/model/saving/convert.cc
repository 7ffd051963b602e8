#include "qkv/model/convert.h"

#include <algorithm>
#include <filesystem>

#include "core/listed.h"
#include "core/split_name.h"
#include "files/descriptor.h"
#include "files/place.h"
#include "files/reading.h"
#include "model/families/gguf.h"
#include "model/saving/forms.h"
#include "model/saving/planned_tensors.h"
#include "qkv/error.h"
#include "qkv/files.h"

namespace qkv {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConvertModel = "convert_model";

enum class ModelForm : std::uint8_t { folder, gguf, safetensors };

ModelForm form_of_model(const std::string& path) {
  files::require_file_or_folder(path);
  if (files::is_folder(path)) return ModelForm::folder;
  require_readable(path);
  return families::is_gguf(path) ? ModelForm::gguf : ModelForm::safetensors;
}

ModelForm form_of_out(const std::string& path) {
  if (path.ends_with(".gguf")) return ModelForm::gguf;
  return path.ends_with(".safetensors") ? ModelForm::safetensors : ModelForm::folder;
}

fs::path whole_place(const std::string& path) {
  std::error_code none;
  const fs::path place = fs::weakly_canonical(fs::absolute(path, none), none);
  return place.has_filename() ? place : place.parent_path();
}

void require_outside(const std::string& model, const std::string& out) {
  const fs::path from = whole_place(model);
  for (fs::path place = whole_place(out); place != place.root_path(); place = place.parent_path()) {
    if (place == from) {
      throw InvalidArgument(kConvertModel, "out",
                            files::is_folder(model) ? "a place outside of `model`" : "another file", out);
    }
  }
}

void require_other_model(const std::string& model, const std::string& out) {
  const std::string from = whole_place(model).string();
  const std::string to = whole_place(out).string();
  const std::optional<core::SplitName> own = core::split_name(from);
  const std::optional<core::SplitName> other = core::split_name(to);
  if (own && other && own->stem == other->stem && own->count == other->count) {
    throw InvalidArgument(kConvertModel, "out", "another file: this is the name of a part of `model`", out);
  }
}

void require_type(const std::optional<std::string>& type, ModelForm out) {
  if (!type) return;
  std::vector<std::string> names = convert_types();
  if (out != ModelForm::gguf) std::erase_if(names, [](const auto& known) { return !saving::is_plain_type(known); });
  if (std::ranges::find(names, *type) != names.end()) return;
  const bool is_of_gguf = std::ranges::find(convert_types(), *type) != convert_types().end();
  throw InvalidArgument(kConvertModel, "type", core::joined(names) + (is_of_gguf ? ", which safetensors hold" : ""),
                        *type);
}

void require_free(const std::string& out, bool overwrite) {
  if (overwrite || !files::is_there(out)) return;
  if (files::is_folder(out)) files::fail("cannot write", out, "it is a directory");
  throw InvalidArgument(kConvertModel, "out", "a name where nothing is, or `overwrite` beside it",
                        out + ", which is there already");
}

Conversion converted(const std::string& model, ModelForm from, const std::string& out, const ConvertOptions& options) {
  const ModelForm into = form_of_out(out);
  if (from == into && !options.type) {
    throw InvalidArgument(kConvertModel, "type", "a type, since `out` has the form that `model` has", "none");
  }
  if (into == ModelForm::folder) {
    if (from == ModelForm::safetensors) {
      throw InvalidArgument(kConvertModel, "out",
                            "a name that ends in .safetensors, since `model` is a single file of safetensors", out);
    }
    files::StagedFolder folder(out);
    Conversion done = from == ModelForm::gguf ? saving::gguf_to_folder(model, folder, options)
                                              : saving::folder_to_folder(model, folder, options);
    folder.appear();
    return done;
  }
  if (into == ModelForm::safetensors && from != ModelForm::safetensors) {
    throw InvalidArgument(kConvertModel, "out", "a folder, or a name that ends in .gguf", out);
  }
  if (into == ModelForm::gguf && from == ModelForm::safetensors) {
    throw InvalidArgument(
        kConvertModel, "model",
        "a folder with config.json or a GGUF file: from a single file of safetensors alone no GGUF is written", model);
  }
  require_free(out, options.overwrite);
  require_writable(out);
  files::StagedFile file(out);
  Conversion done = from == ModelForm::safetensors ? saving::file_to_file(model, file, options)
                    : from == ModelForm::gguf      ? saving::gguf_to_gguf(model, file, options)
                                                   : saving::folder_to_gguf(model, file, options);
  file.appear();
  return done;
}

}  // namespace

const std::vector<std::string>& convert_types() {
  static const std::vector<std::string> kTypes = {"f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1"};
  return kTypes;
}

Conversion convert_model(const std::string& model, const std::string& out, const ConvertOptions& options) {
  const ModelForm from = form_of_model(model);
  require_outside(model, out);
  require_other_model(model, out);
  require_type(options.type, form_of_out(out));
  return converted(model, from, out, options);
}

}  // namespace qkv
