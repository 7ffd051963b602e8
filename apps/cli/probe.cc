// qkv probe: any part of the T x T matrices of weights and of gradients, without storing them.
#include "qkv/api/probe.h"

#include <fmt/format.h>

#include "commands.h"
#include "interrupts.h"
#include "qkv/files.h"

namespace qkv::cli {
namespace {

struct ProbeFlags : ProbeRequest {
  bool terminal = false;
  std::string color_scale = "log";
  std::string npy, npz;
};

void write_arrays(const ProbeFlags& flags, const ProbeReply& reply) {
  if (flags.npy.empty() && flags.npz.empty()) return;
  const std::vector<NamedTensor> arrays = arrays_of(reply);
  std::vector<NamedView> files;
  if (!flags.npy.empty()) files.push_back({flags.npy, arrays.front().tensor});
  if (!flags.npz.empty()) {
    for (const auto& [name, tensor] : arrays) files.push_back({flags.npz + ":" + name, tensor});
  }
  write_tensors(files);
}

void report(const Asked<ProbeFlags>& asked, const ProbeInputs& inputs, const ProbeReply& reply) {
  const Manner& how = asked.how;
  write_arrays(asked, reply);
  const bool drawable = reply.choice.map || reply.choice.tile;
  Panel panel;
  if (drawable) {
    const ColourScale scale = asked.color_scale == "log" ? ColourScale::logarithmic : ColourScale::linear;
    panel = picture_of(reply, inputs.problem, scale);
    write_pictures(how.pictures, panel);
  }
  if (how.quiet) return;
  if (how.json) return print(reply_as_json(probe_figures(inputs, reply)));
  print(as_text(asked, inputs, reply, how.terminal().width));
  // What went into a picture is shown here as well only where that was asked for.
  if (drawable && (asked.terminal || how.pictures.empty())) print("\n" + to_terminal(panel, how.terminal()));
  if (drawable && !how.pictures.empty()) print("\n" + pictures_report(how.pictures));
}

void run_probe(const Asked<ProbeFlags>& asked, const Given& /*all*/) {
  const ProbeChoice choice = probe_choice(asked);
  if (!asked.npy.empty() && choice.arrays() != 1) {
    misuse("--npy", "one array; --npz takes several", std::to_string(choice.arrays()));
  }
  const ProbeInputs inputs = load_probe_inputs(asked, choice);
  for (const std::string& what : inputs.cautions) asked.how.careful(what);
  const InterruptWatch watch;
  const ProbeReply reply = [&] {
    WalkProgress progress(asked.how.speech());
    return probe(asked, inputs, [&](std::string_view what, std::int64_t h, const ProbeProgress& at) {
      progress.show(fmt::format("{}, head {}", what, h), at.done, at.total);
      return InterruptWatch::interrupted() ? Proceed::stop : Proceed::go_on;
    });
  }();
  report(asked, inputs, reply);
}

Fields<Asked<ProbeFlags>> fields_of_probe() {
  using F = ProbeFlags;
  const std::string pictures = "Pictures of the maps, or of the tiles where there is no map";
  const std::string numbers = "Numbers (each file appears whole or not at all, and none before all are computed)";
  Fields<F> own;
  own.add(probe_fields());
  own.add(&F::terminal, {.name = "terminal",
                         .meaning = "Draw it here; so too where no picture is written",
                         .group = pictures,
                         .excludes = {"json", "quiet"}});
  own.add(&F::color_scale, {.name = "color_scale",
                            .form = "SCALE",
                            .meaning = "Of weights and of maps: log or linear",
                            .group = pictures,
                            .words = {"log", "linear"},
                            .beside = {{{"json", "quiet"}, {"png", "svg", "pdf"}}}});
  own.add(&F::npy, {.name = "npy",
                    .form = "FILE",
                    .meaning = "Write the one array that was asked for",
                    .group = numbers,
                    .file = FileUse::tensor,
                    .example = "weights.npy"});
  own.add(&F::npz, {.name = "npz",
                    .form = "FILE",
                    .meaning = "Write every array, by name",
                    .group = numbers,
                    .ending = ".npz",
                    .file = FileUse::archive,
                    .example = "all.npz"});
  Fields<Asked<F>> fields = asked(own, {"json", "quiet", "pictures", "color", "width"}, pictures);
  for (const char* const printed : {"json", "quiet"}) fields.info(printed).group = numbers;
  fields.info("json").meaning = "Print every array as JSON";
  fields.info("quiet").meaning = "Print nothing, not even how far it is";
  fields.info("quiet").needs_one = {"npy", "npz", "png", "svg", "pdf"};
  for (const char* const drawn : {"png", "svg", "pdf", "terminal", "color_scale", "color"}) {
    fields.info(drawn).needs_one = {"map", "tile"};
  }
  fields.info("color").beside = {{{"png", "svg", "pdf"}, {"terminal"}}};
  for (const char* const printed : {"color", "width"}) fields.info(printed).excludes.emplace_back("quiet");
  return fields;
}

}  // namespace

void add_probe(Commands& commands) {
  commands.add({.name = "probe",
                .group = "Attention",
                .footer = "Examples:\n"
                          "  qkv probe --q q.npy --k k.npy --causal --map 1024 --png map.png\n"
                          "  qkv probe --q q.npy --k k.npy --lse lse.npy --causal --head all --stats\n"
                          "  qkv probe --random 1,8,2,4096,4096,64 --causal --row 4095\n"
                          "  qkv probe --q q.npy --k k.npy --v v.npy --d-out d_out.npy --stage ds --map 512\n"
                          "  qkv probe --model gpt --text \"The cat sat down\" --layer 1 --head 4 --top-k 2"},
               fields_of_probe(), run_probe);
}

}  // namespace qkv::cli
