// qkv probe: any part of the T x T matrices of weights and of gradients, without storing them.
#include "qkv/probe.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "applied_options.h"
#include "attend_places.h"
#include "commands.h"
#include "common_options.h"
#include "misuse.h"
#include "output.h"
#include "probe_findings.h"
#include "probe_lse.h"
#include "probe_picture.h"
#include "problem_options.h"
#include "qkv/files.h"
#include "qkv/gradient_probe.h"
#include "terminal.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

void check_flags(const ProbeFlags& flags) {
  const bool files = !flags.problem.q.empty() && !flags.problem.k.empty();
  if (!files && flags.random.empty()) misuse("--q, --k", "both, or --random", "neither, or one");
  if (!flags.random.empty()) {
    const AttendFlags& problem = flags.problem;
    const bool alone = problem.q.empty() && problem.k.empty() && problem.v.empty() && problem.past_k.empty() &&
                       flags.lse.empty() && !problem.heads && !problem.kv_heads;
    if (!alone) misuse("--random", "no file of q, k, v or lse, and no count of heads beside it", "one");
  }
  const bool drawn = !flags.random.empty() || flags.problem.d_out == kDrawn;
  if (!drawn && !flags.problem.dropout && !flags.problem.seed.empty()) {
    misuse("--seed", "--random, --dropout or --d-out random beside it", "none");
  }
  const AttendFlags files_named = files_of(flags);
  std::vector<OptionPath> inputs = inputs_of(files_named);
  inputs.emplace_back("--lse", &flags.lse);
  const std::string npz = flags.npz.empty() ? "" : flags.npz + ":map";
  if (!flags.npz.empty() && !flags.npz.ends_with(".npz")) misuse("--npz", "a name that ends in .npz", flags.npz);
  check_places(inputs, {{"--npy", &flags.npy}, {"--npz", &npz}});
  for (const std::string& path : {flags.png, flags.svg, flags.pdf}) {
    if (!path.empty()) require_writable(path);
  }
}

// Runs walk(watch) with a watch that shows how far it is.
template <class Walk>
auto watched(std::string_view what, std::int64_t h, Speech speech, const Walk& walk) {
  WalkProgress progress(fmt::format("{}, head {}", what, h), speech);
  return walk(ProbeWatch([&](const ProbeProgress& at) {
    progress.show(at.done, at.total);
    return InterruptWatch::interrupted() ? Proceed::stop : Proceed::go_on;
  }));
}

Tensor forbidden(const Tensor& masked) {
  Tensor hidden(DType::b8, masked.shape());
  const std::vector<double> scores = masked.to_vector();
  for (std::size_t n = 0; n < scores.size(); ++n) hidden.values<bool>()[n] = scores[n] == -HUGE_VAL;
  return hidden;
}

// Computes what was asked for, one head and one thing after the other.
class Finder {
 public:
  /// `gradients` is there where gradients are asked for.
  Finder(const Probe& probe, const std::optional<GradientProbe>& gradients, const ProbeRequest& request, std::int64_t b,
         Speech speech)
      : probe_(probe), gradients_(gradients), request_(request), b_(b), speech_(speech) {}

  [[nodiscard]] HeadFindings head(std::int64_t h) const {
    const HeadPlace place = {b_, h};
    HeadFindings found;
    found.h = h;
    if (request_.map && !request_.average) {
      found.map = map({&h, 1});
    }
    const ProbeStage& stage = request_.stage;
    if (request_.row) {
      found.row = stage.gradient ? gradients_->row(place, *request_.row, stage.stage)
                                 : probe_.row(place, *request_.row, stage.stage);
    }
    if (request_.tile) {
      Tile tile = *request_.tile;
      tile.b = b_;
      tile.h = h;
      found.tile = stage.gradient ? gradients_->tile(tile, stage.stage) : probe_.tile(tile, stage.stage);
      if (stage.gradient || stage.is_weights()) found.hidden = forbidden(probe_.tile(tile, Stage::masked));
    }
    if (request_.top_k) {
      found.top = watched("top keys", h, speech_,
                          [&](const ProbeWatch& watch) { return probe_.top_keys(place, *request_.top_k, watch); });
    }
    if (request_.key_totals) {
      found.key_totals =
          watched("key totals", h, speech_, [&](const ProbeWatch& watch) { return probe_.key_totals(place, watch); });
    }
    if (request_.stats) {
      found.statistics = watched("statistics", h, speech_, [&](const ProbeWatch& watch) {
        return probe_.statistics(place, Align::bottom_right, watch);
      });
    }
    return found;
  }

  /// Of the heads' mean.
  [[nodiscard]] MapFindings map(std::span<const std::int64_t> heads) const {
    return watched("map", heads.front(), speech_, [&](const ProbeWatch& watch) {
      const Stage stage = request_.stage.stage;
      if (gradients_) {
        GradientMap map = gradients_->map(b_, heads, *request_.map, stage, request_.reduce, watch);
        return MapFindings{.cells = std::move(map.magnitudes), .visible = std::move(map.visible)};
      }
      WeightMap map = probe_.map(b_, heads, *request_.map, request_.reduce, watch);
      return MapFindings{.cells = std::move(map.weights), .visible = std::move(map.visible)};
    });
  }

 private:
  const Probe& probe_;
  const std::optional<GradientProbe>& gradients_;
  const ProbeRequest& request_;
  std::int64_t b_;
  Speech speech_;
};

// The forward call, whose results gradients need, and them.
class Gradients {
 public:
  explicit Gradients(const ProbeInputs& inputs) {
    if (inputs.upstream.d_out.empty()) return;
    const auto& [layout, q, k, v, options] = inputs.problem;
    result_ = attention(q, k, v, options);
    std::optional<TensorView> d_lse;
    if (!inputs.upstream.d_lse.empty()) d_lse = inputs.upstream.d_lse;
    probe_.emplace(inputs.upstream.d_out, q, k, v, result_.out, result_.lse, options, d_lse);
  }

  [[nodiscard]] const std::optional<GradientProbe>& probe() const { return probe_; }

 private:
  AttentionResult result_;
  std::optional<GradientProbe> probe_;
};

ProbeFindings find(const ProbeFlags& flags, ProbeRequest request, const ProbeInputs& inputs, const Tensor& lse) {
  const AttendProblem& problem = inputs.problem;
  std::optional<TensorView> given;
  if (!lse.empty()) given = lse;
  const Probe probe(problem.q, problem.k, problem.options, given);
  fit(request, probe.shape());
  if (flags.batch < 0 || flags.batch >= probe.shape().B) {
    misuse("--batch", "0 to " + std::to_string(probe.shape().B - 1), std::to_string(flags.batch));
  }
  const std::vector<std::int64_t> heads = heads_of(flags.head, probe.shape().H);
  if (given) check_lse(flags.lse, lse, problem, flags.batch, heads);
  ProbeFindings findings{.request = request, .shape = probe.shape(), .b = flags.batch, .heads = {}, .average = {}};
  const Gradients gradients(inputs);
  const Finder finder(probe, gradients.probe(), findings.request, flags.batch, flags.quiet ? Speech::off : Speech::on);
  if (request.map && request.average) findings.average = finder.map(heads);
  for (const std::int64_t h : heads) findings.heads.push_back(finder.head(h));
  return findings;
}

FileContent document(const std::string& path, const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {path, {bytes.begin(), bytes.end()}};
}

void write_arrays(const ProbeFlags& flags, const ProbeFindings& findings) {
  if (flags.npy.empty() && flags.npz.empty()) return;
  const std::vector<NamedTensor> arrays = arrays_of(findings);
  std::vector<NamedView> files;
  if (!flags.npy.empty()) files.push_back({flags.npy, arrays.front().tensor});
  if (!flags.npz.empty()) {
    for (const auto& [name, tensor] : arrays) files.push_back({flags.npz + ":" + name, tensor});
  }
  write_tensors(files);
}

void write_pictures(const ProbeFlags& flags, const Panel& panel) {
  std::vector<FileContent> files;
  if (!flags.png.empty()) files.push_back(document(flags.png, to_png(panel)));
  if (!flags.svg.empty()) files.push_back(document(flags.svg, to_svg(panel)));
  if (!flags.pdf.empty()) files.push_back(document(flags.pdf, to_pdf(panel)));
  write_files(files);
}

std::string summary(const ProbeFlags& flags, const ProbeInputs& inputs) {
  const AttendProblem& problem = inputs.problem;
  const AttendFlags files = files_of(flags);
  std::string text;
  const auto add = [&](std::string_view name, const Tensor& tensor, const std::string& path) {
    if (tensor.empty()) return;
    text += fmt::format("{:<10}{} {}{}\n", name, tensor.shape().to_string(), name_of(tensor.dtype()),
                        path.empty() ? ", drawn at random" : "  " + path);
  };
  add("q", problem.q, files.q);
  add("k", problem.k, files.k);
  add("v", problem.v, files.v);
  add("d_out", inputs.upstream.d_out, files.d_out);
  add("d_lse", inputs.upstream.d_lse, files.d_lse);
  text += fmt::format("lse       {}\n", flags.lse.empty() ? "computed" : flags.lse);
  return text + applied_as_text(problem);
}

void report(const ProbeFlags& flags, const ProbeInputs& inputs, const ProbeFindings& findings) {
  const AttendProblem& problem = inputs.problem;
  const std::string mask = fit_to_width(problem.options.mask.to_string(), 80);
  write_arrays(flags, findings);
  const bool drawable = findings.request.map || findings.request.tile;
  Panel panel;
  if (drawable) {
    const ColourScale scale = flags.color_scale == "log" ? ColourScale::logarithmic : ColourScale::linear;
    panel = picture_of(findings, mask, scale);
    write_pictures(flags, panel);
  }
  if (flags.json) print(as_json(findings, applied_as_json(problem)));
  if (flags.quiet || flags.json) return;
  print(summary(flags, inputs) + as_text(findings));
  // A tile is numbers to be read; a map is shown where it went into no picture.
  const bool elsewhere = !flags.png.empty() || !flags.svg.empty() || !flags.pdf.empty();
  if (drawable && (flags.terminal || !elsewhere)) {
    print("\n" + to_terminal(panel, terminal_options(flags.color, flags.width)));
  }
}

void run(const ProbeFlags& flags) {
  const ProbeRequest request = request_of(flags);
  static_cast<void>(attention_target(DType::f32, {.target = flags.problem.target}));
  check_flags(flags);
  const ProbeInputs inputs = load_probe_inputs(flags, request);
  const Tensor lse = load_lse(flags.lse, inputs.problem);
  const InterruptWatch watch;
  try {
    report(flags, inputs, find(flags, request, inputs, lse));
  } catch (const Cancelled&) {
    complain("qkv probe", "stopped; no file was written");
    throw Exit{kInterrupted};
  }
}

void add_choice_options(CLI::App& command, ProbeFlags& flags) {
  const std::string group = "What to show";
  command.add_option("--batch", flags.batch, "Batch entry")->type_name("B")->group(group)->capture_default_str();
  command.add_option("--head", flags.head, "Query heads")->type_name("H|H,…|all")->group(group)->capture_default_str();
  auto* map = command.add_option("--map", flags.map,
                                 "The whole matrix of weights, or of |dP| or |dS|, in N x N cells or fewer");
  map->type_name("N|ROWSxCOLUMNS")->group(group);
  command.add_option("--reduce", flags.reduce, "What a cell shows: mean or max")
      ->type_name("HOW")
      ->check(one_of({"mean", "max"}))
      ->group(group)
      ->needs(map)
      ->capture_default_str();
  command.add_flag("--average", flags.average, "One map, of the heads' mean")->group(group)->needs(map);
  command.add_option("--row", flags.row, "One query's row")->type_name("I")->group(group);
  command.add_option("--tile", flags.tile, "A rectangle of the matrix")->type_name("I0:I1,J0:J1")->group(group);
  command.add_option("--top-k", flags.top_k, "Each query's N keys of largest weight")->type_name("N")->group(group);
  command.add_flag("--key-totals", flags.key_totals, "The weight on each key, summed over queries")->group(group);
  command.add_flag("--stats", flags.stats, "Entropy, distance and more of each row, and their means")->group(group);
  command
      .add_option("--stage", flags.stage,
                  "Of --row and --tile: raw, scaled, softcapped, biased, masked, weights or dropped; of these and "
                  "--map: dp, the loss's gradient by weights, or ds, that by scores")
      ->type_name("STAGE")
      ->group(group)
      ->capture_default_str();
}

void add_picture_options(CLI::App& command, ProbeFlags& flags) {
  const std::string group = "Pictures of the maps, or of the tiles where there is no map";
  command.add_option("--png", flags.png, "Write a PNG")->type_name("FILE")->group(group);
  command.add_option("--svg", flags.svg, "Write an SVG")->type_name("FILE")->group(group);
  command.add_option("--pdf", flags.pdf, "Write a PDF")->type_name("FILE")->group(group);
  command.add_flag("--terminal", flags.terminal, "Draw it here; so too where no picture is written")->group(group);
  command.add_option("--color-scale", flags.color_scale, "Of weights and of maps: log or linear")
      ->type_name("SCALE")
      ->check(one_of({"log", "linear"}))
      ->group(group)
      ->capture_default_str();
  add_terminal_options(command, flags.color, flags.width, group);
}

void add_output_options(CLI::App& command, ProbeFlags& flags) {
  const std::string group = "Numbers (each file appears whole or not at all, and none before all are computed)";
  command.add_option("--npy", flags.npy, "Write the one array that was asked for")->type_name("FILE")->group(group);
  command.add_option("--npz", flags.npz, "Write every array, by name")->type_name("FILE")->group(group);
  auto* json = command.add_flag("--json", flags.json, "Print every array as JSON")->group(group);
  command.add_flag("--quiet", flags.quiet, "Print nothing, not even how far it is")->group(group)->excludes(json);
}

}  // namespace

void add_probe(CLI::App& app) {
  CLI::App* command = app.add_subcommand("probe", "Any part of the T x T matrices, without storing them");
  command->group("Compute");
  command->footer(
      "Examples:\n"
      "  qkv probe --q q.npy --k k.npy --causal --map 1024 --png map.png\n"
      "  qkv probe --q q.npy --k k.npy --lse lse.npy --causal --head all --stats\n"
      "  qkv probe --random 1,8,2,4096,4096,64 --causal --row 4095\n"
      "  qkv probe --q q.npy --k k.npy --v v.npy --d-out d_out.npy --stage ds --map 512");
  const auto flags = std::make_shared<ProbeFlags>();
  add_input_options(*command, flags->problem);
  command->add_option("--lse", flags->lse, "What qkv attend --lse wrote [computed]")
      ->type_name("FILE")
      ->group(kInputGroup);
  command->add_option("--v", flags->problem.v, "Values, for --stage dp and ds")->type_name("FILE")->group(kInputGroup);
  command->add_option("--past-v", flags->problem.past_v, "Values of earlier steps")
      ->type_name("FILE")
      ->group(kInputGroup)
      ->needs("--v")
      ->needs("--past-k");
  command->add_option("--d-out", flags->problem.d_out, "For them: the loss's gradient by attend's --out; or random")
      ->type_name("FILE|random")
      ->group(kInputGroup);
  command->add_option("--d-lse", flags->problem.d_lse, "For them: that by its --lse [zeros]")
      ->type_name("FILE")
      ->group(kInputGroup);
  command->add_option("--random", flags->random, "Instead: normal numbers, from --seed")
      ->type_name("B,Hq,Hk,Tq,Tk,D")
      ->group(kInputGroup);
  add_choice_options(*command, *flags);
  add_mask_options(*command, flags->problem);
  add_score_options(*command, flags->problem);
  command->get_option("--seed")->remove_needs(command->get_option("--dropout"));
  command->get_option("--seed")->description("Of what is drawn, and of the dropout [0]");
  add_picture_options(*command, *flags);
  add_output_options(*command, *flags);
  add_run_options(*command, flags->problem);
  command->callback([flags] { run(*flags); });
}

}  // namespace qkv::cli
