// Errors of the engine as those of Python.
#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "python.h"
#include "qkv/error.h"

namespace qkv::python {

namespace {

// What Python calls otherwise than the engine does: functions, and arguments of one.
struct Word {
  std::string_view function;
  std::string_view argument;
  std::string_view python;
};
constexpr std::array kFunctions = {
    Word{"write_texts", "", "generate"},
    Word{"embed_texts", "", "embed"},
    Word{"fill_gaps", "", "fill"},
    Word{"match_pairs", "", "match"},
    Word{"head_texts", "", "heads"},
    Word{"analyze_heads", "", "heads"},
    Word{"attention_flow", "", "rollout"},
    Word{"attention_rollout", "", "rollout"},
    Word{"change_text", "", "change"},
    Word{"sweep_heads", "", "sweep"},
    Word{"sweep_places", "", "sweep"},
    Word{"lens_report", "", "lens"},
    Word{"Tokenizer::encode", "", "encode"},
    Word{"Tokenizer::piece", "", "decode"},
    Word{"Tokenizer::decode", "", "decode"},
    Word{"embedding", "", "Model"},
    Word{"parse_mask", "", "Mask"},
    Word{"parse_bias", "", "Bias"},
    Word{"dense_bias", "", "dense"},
    Word{"key_lengths", "", "keys"},
    Word{"t5_bias", "", "t5"},
    Word{"block_sparse", "", "blocks"},
    Word{"fill_masks", "", "fill"},
    Word{"make_text_task", "", "train"},
    Word{"parse_intervention", "", "changes"},
};
constexpr std::array kArguments = {
    Word{"write_texts", "prompts", "prompt"},
    Word{"write_texts", "stops", "stop"},
    Word{"global_tokens", "positions", "at"},
    Word{"causal", "offsets", "offset"},
};

std::string_view python_of(std::span<const Word> words, std::string_view function, std::string_view argument) {
  const auto* word = std::ranges::find_if(words.data(), words.data() + words.size(), [&](const Word& one) {
    return one.function == function && one.argument == argument;
  });
  return word == words.data() + words.size() ? std::string_view() : word->python;
}

// "write_texts: prompts[0]: …" as "generate: prompt[0]: …".
std::string said_in_python(const InvalidArgument& invalid) {
  std::string text = invalid.what();
  const std::string& function = invalid.function();
  const std::string argument = invalid.argument().substr(0, invalid.argument().find('['));
  if (!text.starts_with(function + ": ")) return text;
  const std::string_view said_argument = python_of(kArguments, function, argument);
  if (!said_argument.empty()) text.replace(function.size() + 2, argument.size(), said_argument);
  const std::string_view said_function = python_of(kFunctions, function, "");
  if (!said_function.empty()) text.replace(0, function.size(), said_function);
  return text;
}

}  // namespace

void add_errors(nb::module_& module) {
  const nb::exception<Error> failure(module, "Error", PyExc_RuntimeError);
  failure.doc() =
      "A valid call failed: an unreadable file, memory that another library refuses. Invalid arguments are ValueError "
      "or "
      "TypeError.";
  // Asked before the one above, which was added first.
  const auto translate = [](const std::exception_ptr& error, void* type) {
    try {
      std::rethrow_exception(error);
    } catch (const InvalidArgument& invalid) {
      set_error(PyExc_ValueError, said_in_python(invalid));
    } catch (const Error& failed) {
      set_error(static_cast<PyObject*>(type), failed.what());
    } catch (const std::filesystem::filesystem_error& failed) {
      set_error(static_cast<PyObject*>(type),
                "cannot read " + failed.path1().string() + ": " + failed.code().message());
    }
  };
  nb::register_exception_translator(translate, failure.ptr());
}

}  // namespace qkv::python
