// qkv probe: any part of the T x T matrices of weights and of gradients, without storing them.
#include "qkv/api/probe.h"

#include <fmt/format.h>

#include <string>

#include "commands.h"
#include "common_options.h"
#include "file_places.h"
#include "misuse.h"
#include "output.h"
#include "pictures.h"
#include "qkv/files.h"
#include "terminal.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

struct ProbeFlags : ProbeRequest {
  PicturePaths pictures;
  bool terminal = false;
  std::string color_scale = "log";
  TerminalLook look;
  std::string npy, npz;
  bool json = false;
  bool quiet = false;
};

void check_outputs(const ProbeFlags& flags, const ProbeChoice& choice) {
  if (!flags.npy.empty() && choice.arrays() != 1) {
    misuse("--npy", "one array; --npz takes several", std::to_string(choice.arrays()));
  }
  if (!flags.npz.empty() && !flags.npz.ends_with(".npz")) misuse("--npz", "a name that ends in .npz", flags.npz);
  std::vector<OptionPath> inputs = inputs_of(flags);
  inputs.emplace_back("--lse", &flags.lse);
  const std::string npz = flags.npz.empty() ? "" : flags.npz + ":map";
  check_places(inputs, {{"--npy", &flags.npy}, {"--npz", &npz}}, flags.pictures);
}

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

void report(const ProbeFlags& flags, const ProbeInputs& inputs, const ProbeReply& reply) {
  write_arrays(flags, reply);
  const bool drawable = reply.choice.map || reply.choice.tile;
  Panel panel;
  if (drawable) {
    const ColourScale scale = flags.color_scale == "log" ? ColourScale::logarithmic : ColourScale::linear;
    panel = picture_of(reply, inputs.problem, scale);
    write_pictures(flags.pictures, panel);
  }
  if (flags.quiet) return;
  if (flags.json) return print(reply_as_json(probe_figures(inputs, reply)));
  const TerminalOptions terminal = terminal_options(flags.look.color, flags.look.width);
  print(as_text(flags, inputs, reply, terminal.width));
  // What went into a picture is shown here as well only where that was asked for.
  if (drawable && (flags.terminal || flags.pictures.empty())) print("\n" + to_terminal(panel, terminal));
  if (drawable && !flags.pictures.empty()) print("\n" + pictures_report(flags.pictures));
}

void run_probe(ProbeFlags& flags, const Given& /*all*/) {
  const ProbeChoice choice = probe_choice(flags);
  check_outputs(flags, choice);
  const ProbeInputs inputs = load_probe_inputs(flags, choice);
  for (const std::string& what : inputs.cautions) complain("qkv probe", "careful: " + what);
  const InterruptWatch watch;
  try {
    const ProbeReply reply = [&] {
      StagedProgress progress(flags.quiet ? Speech::off : Speech::on);
      return probe(flags, inputs, [&](std::string_view what, std::int64_t h, const ProbeProgress& at) {
        progress.show(fmt::format("{}, head {}", what, h), at.done, at.total);
        return InterruptWatch::interrupted() ? Proceed::stop : Proceed::go_on;
      });
    }();
    report(flags, inputs, reply);
  } catch (const Cancelled&) {
    complain("qkv probe", "stopped; no file was written");
    throw Exit{kInterrupted};
  }
}

void add_pictures(Fields<ProbeFlags>& fields) {
  const std::string group = "Pictures of the maps, or of the tiles where there is no map";
  fields.add(&ProbeFlags::pictures, picture_fields(group));
  fields.add(&ProbeFlags::terminal,
             {.name = "terminal", .meaning = "Draw it here; so too where no picture is written", .group = group});
  fields.add(&ProbeFlags::color_scale, {.name = "color_scale",
                                        .form = "SCALE",
                                        .meaning = "Of weights and of maps: log or linear",
                                        .group = group,
                                        .words = {"log", "linear"}});
  for (const char* const drawn : {"png", "svg", "pdf", "terminal"}) fields.info(drawn).needs_one = {"map", "tile"};
  fields.add(&ProbeFlags::look, terminal_fields(group));
}

void add_numbers(Fields<ProbeFlags>& fields) {
  const std::string group = "Numbers (each file appears whole or not at all, and none before all are computed)";
  fields.add(&ProbeFlags::npy,
             {.name = "npy", .form = "FILE", .meaning = "Write the one array that was asked for", .group = group});
  fields.add(&ProbeFlags::npz,
             {.name = "npz", .form = "FILE", .meaning = "Write every array, by name", .group = group});
  fields.add(&ProbeFlags::json, json_field("Print every array as JSON", group));
  fields.add(&ProbeFlags::quiet, quiet_field("Print nothing, not even how far it is", group));
  fields.give_examples({{"npy", "weights.npy"}, {"npz", "all.npz"}});
}

Fields<ProbeFlags> fields_of_probe() {
  Fields<ProbeFlags> fields;
  fields.add(probe_fields());
  add_pictures(fields);
  add_numbers(fields);
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
