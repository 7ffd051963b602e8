// Model::open of a folder as others publish models: config.json beside its weights.
#include "model/families/folder.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "model/families/config_words.h"
#include "model/families/family.h"
#include "model/families/weight_files.h"
#include "nn/trace_record.h"
#include "qkv/error.h"
#include "qkv/text/read_tokenizer.h"

namespace qkv::families {
namespace {

namespace fs = std::filesystem;

// A parameter's name with "#" for the number of its block, that number, and its last word: "blocks.#.attn.q.weight",
// "3",
// ".weight".
struct ParameterName {
  explicit ParameterName(std::string name) : whole(std::move(name)) {
    constexpr std::string_view kBlocks = "blocks.";
    if (std::size_t begin = whole.find(kBlocks); begin != std::string::npos) {
      begin += kBlocks.size();
      number = whole.substr(begin, whole.find('.', begin) - begin);
      whole.replace(begin, number.size(), "#");
    }
    last = whole.substr(std::min(whole.rfind('.'), whole.size()));
  }

  [[nodiscard]] std::string layer() const { return whole.substr(0, whole.size() - last.size()); }

  std::string whole;
  std::string number;
  std::string last;  // empty if there is none
};

const WeightName& weight_of(const Family& family, const ParameterName& parameter) {
  for (const WeightName& name : family.names) {
    if (name.ours == parameter.layer() || name.ours == parameter.whole) return name;
  }
  throw Error("no weight of the family " + std::string(family.type) + " is the parameter " + parameter.whole);
}

std::string with_number(std::string_view pattern, const std::string& number) {
  std::string name(pattern);
  if (const std::size_t place = name.find('#'); place != std::string::npos) name.replace(place, 1, number);
  return name;
}

// Along its output axis, which is the last one of a stored transpose.
TensorView part_of(const TensorView& stored, const WeightName& name) {
  const int axis = name.change == Change::transposed ? stored.rank() - 1 : 0;
  const std::int64_t all = stored.dim(axis) - name.skipped;
  const std::int64_t each = all / name.parts;
  const std::int64_t begin = name.skipped + name.part * each;
  return stored.slice(axis, begin, begin + each);
}

class Loading {
 public:
  Loading(const Family& family, const WeightFiles& files)
      : family_(family), files_(files), prefix_(prefix_in(family, files)) {}

  void add(const Parameter& parameter) {
    const ParameterName name(parameter.name);
    const WeightName& weight = weight_of(family_, name);
    const auto place = [&](std::string_view theirs) {
      const bool is_whole = weight.ours == name.whole;
      return (weight.in_head ? "" : prefix_) + with_number(theirs, name.number) + (is_whole ? "" : name.last);
    };
    std::string stored = place(weight.theirs);
    if (!weight.otherwise.empty() && !files_.contains(stored)) stored = place(weight.otherwise);
    used_.insert(stored);
    if (!files_.contains(stored)) {
      differences_.push_back(stored + ": expected " + parameter.value.shape().to_string() + ", got no such tensor");
      return;
    }
    const Tensor tensor = files_.load(stored);
    const bool divides =
        weight.parts == 1 ||
        (tensor.rank() > 0 && tensor.dim(weight.change == Change::transposed ? -1 : 0) % weight.parts == 0);
    Tensor value = divides ? changed(tensor, weight, parameter.value.shape()) : tensor;
    if (!is_floating(value.dtype()) || !(value.shape() == parameter.value.shape())) {
      differences_.push_back(stored + ": expected " + expected_of(parameter, weight) + ", got " +
                             tensor.shape().to_string() + " of " + std::string(name_of(tensor.dtype())));
      return;
    }
    values_.emplace_back(parameter.value, std::move(value));
  }

  // Gives all parameters their values, or throws with every difference.
  void finish(const std::string& folder) {
    for (const auto& [name, file] : files_.names()) {
      if (!used_.contains(name) && !is_unused(name)) {
        differences_.push_back(name + ": a tensor that the model has no use for");
      }
    }
    if (!differences_.empty()) {
      std::string text = folder + ": " + std::to_string(differences_.size()) + " of its tensors are not those of a " +
                         std::string(family_.type) + " with this config.json:";
      for (const std::string& difference : differences_) text += "\n  " + difference;
      throw Error(text);
    }
    for (auto& [parameter, value] : values_) parameter.replace_value(std::move(value));
  }

 private:
  static std::string prefix_in(const Family& family, const WeightFiles& files) {
    const std::string first = std::string(family.prefix) + std::string(family.names.front().theirs) + ".weight";
    return files.contains(first) ? std::string(family.prefix) : "";
  }

  static Tensor changed(const Tensor& tensor, const WeightName& name, const Shape& shape) {
    if (name.change == Change::reshaped) return tensor.size() == shape.product() ? tensor.reshape(shape) : tensor;
    if (name.parts == 1 && name.skipped == 0 && name.change == Change::none) return tensor;
    const TensorView part = part_of(tensor, name);
    return Tensor(name.change == Change::transposed && part.rank() == 2 ? part.transpose(0, 1) : part);
  }

  // The shape that the stored tensor should have.
  static std::string expected_of(const Parameter& parameter, const WeightName& name) {
    std::vector<std::int64_t> extents;
    const Shape& shape = parameter.value.shape();
    for (int axis = 0; axis < shape.rank(); ++axis) extents.push_back(shape[axis]);
    extents.front() = extents.front() * name.parts + name.skipped;
    if (name.change == Change::transposed && extents.size() == 2) std::swap(extents[0], extents[1]);
    return Shape(extents).to_string();
  }

  [[nodiscard]] bool is_unused(const std::string& name) const {
    for (const std::string_view pattern : family_.unused) {
      if (trace_detail::matches(pattern, name)) return true;
    }
    return false;
  }

  const Family& family_;
  const WeightFiles& files_;
  std::string prefix_;
  std::set<std::string> used_;
  std::vector<std::string> differences_;
  std::vector<std::pair<Variable, Tensor>> values_;
};

DType stored_dtype(const WeightFiles& files) {
  for (const auto& [name, file] : files.names()) {
    if (!name.ends_with(".weight")) continue;
    if (const DType dtype = files.load(name).dtype(); is_floating(dtype)) return dtype;
  }
  return DType::f32;
}

// That of the folder, if it has one; its pieces must have rows in the table of tokens.
std::shared_ptr<const Tokenizer> tokenizer_of(const std::string& folder, std::int64_t vocabulary,
                                              std::vector<std::string>& cautions) {
  if (!has_tokenizer(folder)) return nullptr;
  auto tokenizer = read_tokenizer(folder, &cautions);
  if (tokenizer->size() <= vocabulary) return tokenizer;
  throw Error(folder + ": expected a tokenizer of at most " + std::to_string(vocabulary) +
              " pieces, as config.json has it, got one of " + std::to_string(tokenizer->size()));
}

std::int64_t vocabulary_of(const Model::Network& network) {
  return std::visit([](const auto& kind) { return kind.options().vocabulary; }, network);
}

// eos_token_id of generation_config.json, else of config.json.
std::vector<std::int64_t> ends_of(const std::string& folder, const ConfigFile& config, std::int64_t vocabulary) {
  constexpr const char* kWord = "eos_token_id";
  const fs::path path = fs::path(folder) / "generation_config.json";
  const ConfigFile own = fs::exists(path) ? ConfigFile(path.string()) : config;
  const ConfigFile& said = own.has(kWord) ? own : config;
  std::vector<std::int64_t> ends = said.integers(kWord);
  for (const std::int64_t end : ends) {
    if (end < 0 || end >= vocabulary) said.refuse(kWord, "tokens below vocab_size, " + std::to_string(vocabulary));
  }
  return ends;
}

// "pad_token" of a file beside the tokenizer: a piece, or an object with one.
std::optional<std::int64_t> padding_in(const fs::path& path, const Tokenizer& tokenizer) {
  constexpr const char* kWord = "pad_token";
  if (!fs::exists(path)) return std::nullopt;
  const ConfigFile file(path.string());
  if (!file.has(kWord)) return std::nullopt;
  const std::string piece = file.has_object(kWord) ? file.object(kWord).text("content") : file.text(kWord);
  const std::optional<std::int32_t> token = tokenizer.find(piece);
  if (!token) file.refuse(kWord, "a piece of the tokenizer");
  return *token;
}

// What stands for a text at the last place has read the padding before it, so that it must be the authors'.
std::optional<std::int64_t> padding_of(const std::string& folder, const ConfigFile& config,
                                       const Model::Network& network, const Tokenizer* tokenizer) {
  const auto* towers = std::get_if<TwoTower>(&network);
  if (towers == nullptr || towers->options().text_pooling != TextPooling::last || tokenizer == nullptr) {
    return std::nullopt;
  }
  for (const char* name : {"tokenizer_config.json", "special_tokens_map.json"}) {
    if (const auto token = padding_in(fs::path(folder) / name, *tokenizer)) return token;
  }
  constexpr const char* kWord = "pad_token_id";
  constexpr std::int64_t kUsual = 1;
  const ConfigFile text = config.object("text_config");
  const std::int64_t token = text.integer(kWord, kUsual);
  if (token >= tokenizer->size()) text.refuse(kWord, "a token of the tokenizer");
  return token;
}

ModelTokenizers tokenizers_of(const std::string& folder, const ConfigFile& config, const Model::Network& network,
                              std::vector<std::string>& cautions) {
  const std::int64_t vocabulary = vocabulary_of(network);
  const auto tokens = tokenizer_of(folder, vocabulary, cautions);
  return {.tokens = tokens,
          .ends = ends_of(folder, config, vocabulary),
          .padding = padding_of(folder, config, network, tokens.get())};
}

}  // namespace

Model open_folder(const std::string& folder) {
  const ConfigFile config((fs::path(folder) / "config.json").string());
  const Family& family = family_of(config);
  const WeightFiles files(folder);
  std::vector<std::string> cautions;
  Model model = [&] {
    try {
      const Model::Network network = family.network(config, Init::undrawn(), stored_dtype(files));
      return Model(network, tokenizers_of(folder, config, network, cautions));
    } catch (const InvalidArgument& unsound) {
      throw Error(config.path() + ": " + unsound.what());
    }
  }();
  Loading loading(family, files);
  for (const Parameter& parameter : model.parameters()) loading.add(parameter);
  loading.finish(folder);
  for (std::string& caution : cautions_of(config, family.type)) model.add_caution(std::move(caution));
  for (std::string& caution : cautions) model.add_caution(std::move(caution));
  return model;
}

}  // namespace qkv::families
