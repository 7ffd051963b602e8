// qkv explain: attention on a text, every step with its formula, its shape, its numbers and a picture.
#include "qkv/explain.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>

#include "commands.h"
#include "common_options.h"
#include "explain_arguments.h"
#include "explain_page.h"
#include "lines.h"
#include "misuse.h"
#include "output.h"
#include "qkv/explain/files.h"
#include "qkv/explain/model.h"
#include "qkv/view/explain.h"
#include "qkv/worked.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

Mask mask_of(const ExplainArguments& arguments) {
  const Mask mask = arguments.mask.empty() ? Mask() : parse_mask(arguments.mask);
  return arguments.is_causal ? causal() & mask : mask;
}

Surroundings surroundings_of(const ExplainArguments& arguments) {
  if (!arguments.block) return Surroundings::attention_only;
  return *arguments.block == "pre-norm" ? Surroundings::pre_norm_block : Surroundings::post_norm_block;
}

ExplainOptions options_of(const ExplainArguments& arguments) {
  ExplainOptions options = arguments.options;
  options.text = arguments.text.value_or("");
  options.mask = mask_of(arguments);
  options.seed = seed_of(arguments.seed);
  if (arguments.dropout) options.dropout = Dropout{.p = *arguments.dropout, .seed = options.seed};
  options.position = of_option("--positions", [&] { return positions_named(arguments.position); });
  // `--bias t5` names the position scheme, whose table is drawn with the parameters; all else, alibi among it, is the
  // language of biases.
  if (arguments.bias == "t5") {
    options.position = Positions::t5;
  } else if (!arguments.bias.empty()) {
    options.bias = parse_bias(arguments.bias);
  }
  options.surroundings = surroundings_of(arguments);
  if (!arguments.npz.empty()) options.own = qkv::read_own_tensors(arguments.npz);
  if (arguments.own.any()) options.own = read_own_tensors(arguments.own);
  // Whoever asks for a query, answers or single steps gets these alone.
  const bool asks_for_parts = options.query || arguments.whys || arguments.steps;
  const bool all = !arguments.all.empty();
  options.steps = all || arguments.steps || !asks_for_parts;
  options.only_steps = arguments.steps.value_or("");
  options.whys = all || arguments.whys || !asks_for_parts;
  return options;
}

// The option by which the reader's own tensors come; empty without them.
std::string own_option(const ExplainArguments& arguments) {
  return arguments.own.any() ? "--q" : arguments.npz.empty() ? "" : "--npz";
}

bool is_block_kind(const std::string& text) { return text == "pre-norm" || text == "post-norm"; }

// A name of the whys, or several joined by commas; a text of one such word is given before the option.
bool names_whys(const std::string& text) {
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    if (part != "all" && std::ranges::find(kWhyIds, part) == kWhyIds.end()) return false;
  }
  return true;
}

// `--block "The cat"` and `--why "The cat"`: the value that both may go without was the text.
void give_back_text(ExplainArguments& arguments) {
  const bool has_text = arguments.text || !own_option(arguments).empty() || !arguments.worked.empty() ||
                        arguments.trained.example.has_value();
  if (arguments.block && arguments.block->empty()) {
    arguments.block = "pre-norm";
  } else if (arguments.block && !is_block_kind(*arguments.block) && !has_text) {
    arguments.text = std::exchange(arguments.block, "pre-norm");
  }
  if (arguments.whys && arguments.whys->empty()) {
    arguments.whys = "all";
  } else if (arguments.whys && !arguments.text && !has_text && !names_whys(*arguments.whys)) {
    arguments.text = std::exchange(arguments.whys, "all");
  }
}

// The option that gives a field of the question explain.
std::string option_of(const std::string& field) {
  if (field == "text") return "TEXT";
  if (field == "captions") return "--caption";
  std::string option = "--" + field;
  std::ranges::replace(option, '_', '-');
  return option;
}

// Names in backquotes as options: "`q`, `k` or `v`".
std::string in_options(const std::string& text) {
  std::string said;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find('`', at);
    const std::size_t end = begin == std::string::npos ? begin : text.find('`', begin + 1);
    if (end == std::string::npos) return said + text.substr(at);
    said += text.substr(at, begin - at) + option_of(text.substr(begin + 1, end - begin - 1));
    at = end + 1;
  }
  return said;
}

ExplainGiven given_of(const CLI::App& command, const ExplainArguments& arguments) {
  ExplainGiven given{
      .fields = {}, .bias = arguments.bias, .block = arguments.block.value_or(""), .positions = arguments.position};
  for (const FieldInfo& field : explain_fields().infos()) {
    const CLI::Option* option = command.get_option_no_throw(option_of(field.name));
    if (option != nullptr && option->nonpositional() && option->count() > 0) given.fields.insert(field.name);
  }
  if (arguments.text) given.fields.insert("text");
  return given;
}

// An option that would change nothing is refused, or its reader would believe that it did.
void require_effect(const CLI::App& command, const ExplainArguments& arguments) {
  if (const auto clash = explain_clash(given_of(command, arguments))) {
    const std::string option = option_of(clash->field);
    if (clash->beside.empty()) misuse(option, in_options(clash->why), clash->got);
    refuse(option, "cannot be combined with " + in_options(clash->beside) + ": " + clash->why);
  }
  const bool is_drawn = arguments.trained.model.empty() && arguments.worked.empty();
  if (is_drawn && !arguments.all.empty() && !arguments.options.query && !arguments.whys) {
    misuse("--all", "a --model, --query or --why, of which a part is shown without it", "none");
  }
}

// Standard output holds one thing, and --quiet needs something else to be left.
void require_one_output(const ExplainArguments& arguments) {
  if (arguments.files.prints_page() && (arguments.json || arguments.prints)) {
    misuse("--html", "a file beside --json or --print, for standard output holds one of them", "-");
  }
  if (arguments.prints && !arguments.files.wants_any()) misuse("--print", "--html, --svg or --png beside it", "none");
  if (arguments.quiet && !arguments.files.wants_any()) misuse("--quiet", "--html, --svg or --png beside it", "none");
  if (arguments.quiet && (arguments.json || arguments.prints || arguments.files.prints_page())) {
    misuse("--quiet", "nothing else to be printed",
           arguments.json     ? "--json"
           : arguments.prints ? "--print"
                              : "--html -");
  }
}

void require_sense(const CLI::App& command, const ExplainArguments& arguments) {
  require_one_output(arguments);
  if (arguments.steps && !arguments.all.empty()) refuse("--all", "cannot be combined with --step");
  if (!arguments.all.empty() && arguments.all != "true" && arguments.all != "full") {
    misuse("--all", "no value, or full", "\"" + arguments.all + "\"");
  }
  if (arguments.steps && arguments.steps->empty()) misuse("--step", "numbers, ranges or names of steps", "nothing");
  require_effect(command, arguments);
  if (!arguments.worked.empty() || !arguments.trained.model.empty()) return;
  if (!arguments.text && own_option(arguments).empty()) {
    misuse("TEXT", "some words, as in qkv explain \"The cat sat down\" (or --npz FILE, or --q, --k and --v)", "none");
  }
  if (arguments.block && !is_block_kind(*arguments.block)) {
    misuse("--block", "pre-norm or post-norm", "\"" + *arguments.block + "\"");
  }
}

std::string worked_list(bool json) {
  if (json) return reply_as_json(worked_examples());
  std::string text;
  for (const WorkedExample& example : worked_examples()) {
    text += fmt::format("{:<22} {}\n", example.name, example.title);
  }
  return text;
}

Explanation explanation_of(const ExplainArguments& arguments) {
  if (!arguments.worked.empty()) return of_option("--worked", [&] { return explain_worked(arguments.worked); });
  if (!arguments.trained.model.empty()) {
    return explain_trained(
        arguments.trained, arguments.text,
        {.query = arguments.options.query, .blocks = arguments.block.has_value(), .whys = arguments.whys.has_value()});
  }
  return explain(options_of(arguments));
}

// What the terminal leaves out of a model's explanation, and how to see it.
std::string rest_of(const Explanation& whole, const Explanation& part, std::string_view all) {
  constexpr std::size_t kLine = 76;
  std::string ids;
  std::string line;
  for (const Section& step : whole.steps) {
    if (std::ranges::find(part.steps, step.id, &Section::id) != part.steps.end()) continue;
    if (line.size() + step.id.size() + 1 > kLine) ids += std::exchange(line, "") + "\n";
    line += (line.empty() ? "  " : " ") + step.id;
  }
  return fmt::format(
      "\nThis is {} of {} steps. {}\n{}\n--html FILE, --png DIR and --json hold everything.\n", part.steps.size(),
      whole.steps.size(),
      !all.empty() ? "--all=full adds every step, --step NAMES some of them:"
                   : "--all adds the heads that show a pattern, --all=full\nevery step, --step NAMES some of them:",
      ids + line);
}

void print_text(const ExplainArguments& arguments, Explanation explanation) {
  std::string rest;
  const bool is_trained = !arguments.trained.model.empty();
  const bool is_whole = arguments.all == "full" || arguments.steps;
  if (is_trained && arguments.whys && !is_whole && arguments.all.empty()) {
    explanation.steps.clear();
  } else if (is_trained && !is_whole) {
    Explanation part = arguments.all.empty() ? in_short(explanation) : with_known_heads(explanation);
    if (!arguments.options.query) rest = rest_of(explanation, part, arguments.all);
    explanation = std::move(part);
  }
  ExplainTextOptions text;
  text.terminal = terminal_options(arguments.color, arguments.width);
  text.whys_in_full = arguments.whys.has_value();
  print(to_text(explanation, text) + rest);
}

void run(const CLI::App& command, ExplainArguments& arguments) {
  give_back_text(arguments);
  require_sense(command, arguments);
  if (arguments.worked == "list") {
    print(worked_list(arguments.json));
    return;
  }
  arguments.files.require_writable();
  if (arguments.text) arguments.text = text_or_input(*arguments.text);
  Explanation explanation = explanation_of(arguments);
  if (arguments.steps) keep_steps(explanation, *arguments.steps);
  if (arguments.whys) keep_whys(explanation, *arguments.whys);
  const std::string page = arguments.files.html.empty() ? "" : explain_page(arguments, explanation);
  arguments.files.write(explanation, page);
  if (arguments.json) {
    print(reply_as_json(explained(explanation, Explained::in_numbers)));
  } else if (arguments.files.prints_page()) {
    print(page);
  } else {
    if (!arguments.files.wants_any() || arguments.prints) print_text(arguments, explanation);
    if (!arguments.quiet) print((arguments.prints ? "\n" : "") + arguments.files.report());
  }
}

void add_model_options(CLI::App& command, ExplainArguments& arguments) {
  ExplainOptions& options = arguments.options;
  const auto whole = [&](const char* name, auto& value, const char* meaning) {
    return command.add_option(name, value, meaning)->type_name("N")->check(a_whole_number());
  };
  whole("--heads", options.heads, "Heads")->capture_default_str();
  whole("--kv-heads", options.kv_heads, "Heads of keys and values, shared by query heads [heads]");
  whole("--d-model", options.d_model, "Width of a token's vector")->capture_default_str();
  whole("--d-k", options.d_k, "Width of a head's queries and keys [d-model / heads]");
  whole("--d-v", options.d_v, "Width of a head's values [d-k]");
  add_seed_option(command, arguments.seed, "Of the untrained parameters (PyTorch's numbers), and of --dropout")
      ->capture_default_str();
  command.add_option("--positions", arguments.position, "sinusoidal, learned, rotary, alibi, t5 or none")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--block", arguments.block, "Show the whole transformer block: pre-norm or post-norm")
      ->expected(0, 1)
      ->option_text("[=KIND]");
}

void add_attention_options(CLI::App& command, ExplainArguments& arguments) {
  ExplainOptions& options = arguments.options;
  command.add_flag("--causal", arguments.is_causal, "No token sees a later one");
  command.add_option("--mask", arguments.mask, "Which query sees which key, e.g. \"causal & window(3) | global(1)\"")
      ->type_name("EXPR");
  command.add_option("--bias", arguments.bias, "Added to the scores: alibi, t5, or an expression")->type_name("EXPR");
  command.add_option("--scale", options.scale, "Factor of the scores [1/√d_k]")->type_name("X")->check(a_number());
  command.add_option("--softcap", options.softcap, "Bend the scores into ±C")->type_name("C")->check(a_number());
  command.add_option("--dropout", arguments.dropout, "Drop weights with probability P, as training does")
      ->type_name("P")
      ->check(a_number());
  command.add_option("--context", options.context, "Cross-attention: keys and values come from this text")
      ->type_name("TEXT");
}

void add_view_options(CLI::App& command, ExplainArguments& arguments) {
  command
      .add_option("--query", arguments.options.query, "Write out one token's sum alone: a word, its index, or cat@5")
      ->type_name("WORD");
  command.add_option("--step", arguments.steps, "Only these: 7, 5-8, softmax, 3,softmax")->type_name("STEPS");
  command.add_option("--why", arguments.whys, "Answer why, and nothing else; or only some: variance,order")
      ->expected(0, 1)
      ->option_text("[=KIND]");
  const std::string own = "Your own Q, K and V instead of a text";
  command.add_option("--npz", arguments.npz, "A file of Q, K and V: [T, D], [H, T, D] or [B, H, T, D]")
      ->type_name("FILE")
      ->group(own);
  command.add_option("--q", arguments.own.q, "Queries: a file, or typed as \"[[1,0],[0,1]]\"")
      ->type_name("TENSOR")
      ->group(own);
  command.add_option("--k", arguments.own.k, "Keys")->type_name("TENSOR")->group(own);
  command.add_option("--v", arguments.own.v, "Values")->type_name("TENSOR")->group(own);
  command.add_option("--worked", arguments.worked, "Replay a worked example by name; `list` lists them")
      ->type_name("NAME");
  add_terminal_options(command, arguments.color, arguments.width, "Options");
}

void add_file_options(CLI::App& command, ExplainArguments& arguments) {
  command.add_flag("--json", arguments.json, "Print it as JSON, every cell with all its digits");
  command.add_option("--html", arguments.files.html, "Write one self-contained page; `-` prints it")->type_name("FILE");
  command.add_option("--svg", arguments.files.svg, "Write every picture as SVG into this directory")->type_name("DIR");
  command.add_option("--png", arguments.files.png, "Write every picture as PNG into this directory")->type_name("DIR");
  command.add_flag("--print", arguments.prints, "Print the explanation beside these files, too");
  command.add_flag("--quiet", arguments.quiet, "Print nothing, not even what was written");
}

}  // namespace

void add_explain(CLI::App& app) {
  CLI::App* command = app.add_subcommand("explain", "Attention on a text: every step with its numbers")->group("Learn");
  command->footer(
      "Examples:\n"
      "  qkv explain \"The cat sat down\" --causal\n"
      "  qkv explain \"The cat sat down\" --query cat\n"
      "  qkv explain --q \"[[1,0],[0,1]]\" --k \"[[1,0],[1,1]]\" --v \"[[2],[3]]\"\n"
      "  qkv explain \"The cat sat down\" --block pre-norm --html explain.html\n"
      "  qkv explain --model induction \"a b c x y a b\"\n"
      "  qkv explain --model translation \"some umbrellas are heavy\" --all\n"
      "  qkv explain \"Le chat\" --context \"The cat sat down\" --why");
  const auto arguments = std::make_shared<ExplainArguments>();
  command->add_option("TEXT", arguments->text,
                      "The text, split into tokens at white space. `-` reads it from standard input");
  add_attention_options(*command, *arguments);
  add_model_options(*command, *arguments);
  add_trained_options(*command, arguments->trained);
  command
      ->add_flag(
          "--all", arguments->all,
          "The heads that show a pattern, too; --all=full every head and step. Beside --query or --why every step")
      ->option_text("[=full]")
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  add_view_options(*command, *arguments);
  add_file_options(*command, *arguments);
  command->callback([command, arguments] { run(*command, *arguments); });
}

}  // namespace qkv::cli
