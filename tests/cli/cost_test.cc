#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/command.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/picture/terminal.h"

namespace qkv::cost_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using tests::Outcome;
using tests::run_qkv;
using tests::TemporaryDirectory;

TEST(Cost, OfGpt3PrintsEachFigureWithItsArithmeticIn80Columns) {
  const Outcome outcome = run_qkv({"cost", "gpt3", "--tokens", "2048"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("1.50 GiB\n      96 heads × 2,048² × 4 B = 1,610,612,736\n"),
                                 HasSubstr("144 GiB\n      96 layers × 96 heads × 2,048² × 4 B = 154,618,822,656\n"),
                                 HasSubstr("174,604,259,328\n"), HasSubstr("24.6 K\n")));
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80) << line;
}

TEST(Cost, PrintsTheSameAsJson) {
  const auto json = nlohmann::json::parse(run_qkv({"cost", "gpt2", "--json"}).out);
  EXPECT_EQ(json["title"], "gpt2, 1024 tokens");
  EXPECT_EQ(json["model"]["heads"], 12);
  EXPECT_EQ(json["model"]["causal"], true);
  for (const auto& group : json["groups"]) {
    for (const auto& item : group["items"]) {
      if (item["key"] == "weights.total") {
        EXPECT_EQ(item["value"], 124439808);
        EXPECT_EQ(item["unit"], "parameters");
        EXPECT_EQ(item["amount"], "124,439,808 = 124 M");
      }
      EXPECT_EQ(std::to_string(item["value"].get<std::uint64_t>()), item["exact"].get<std::string>());
    }
  }
}

TEST(Cost, OptionsOverrideThePreset) {
  const Outcome outcome = run_qkv({"cost", "llama-3-8b", "--kv-heads", "32", "--no-causal", "--dtype", "bf16"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("every token sees every token"));
  EXPECT_THAT(outcome.out, HasSubstr("32 layers × 32 kv heads × 256 × 2 B = 524,288\n"));
  EXPECT_THAT(run_qkv({"cost", "--layers", "1", "--d-model", "8", "--heads", "2", "--tokens", "6"}).out,
              HasSubstr("custom: 1 layer,"));
}

TEST(Cost, DrawsOverTheSequenceLength) {
  const TemporaryDirectory directory;
  const std::string svg = directory / "cost.svg";
  const std::string png = directory / "cost.png";
  const Outcome outcome = run_qkv({"cost", "gpt2", "--plot", "--svg", svg, "--png", png, "--to", "4096"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("gpt2: bytes kept"), HasSubstr("KV cache")));
  const auto text_of = [](const std::string& path) {
    const std::vector<std::byte> bytes = read_file(path);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  EXPECT_THAT(text_of(svg), HasSubstr("</svg>"));
  EXPECT_THAT(text_of(png), StartsWith("\x89PNG"));
  for (const char* of : {"flops", "traffic"}) EXPECT_EQ(run_qkv({"cost", "gpt2", "--plot", "--of", of}).code, 0);
}

TEST(Cost, RefusesWhatHasNoMeaning) {
  const auto refusal = [](const std::vector<std::string>& arguments) {
    const Outcome outcome = run_qkv(arguments);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.out, IsEmpty());
    return outcome.err;
  };
  EXPECT_THAT(refusal({"cost"}), AllOf(HasSubstr("PRESET: expected one of "),
                                       HasSubstr("or --layers, --d-model and --heads, got none of them")));
  EXPECT_THAT(
      refusal({"cost", "--layers", "2", "--d-model", "64"}),
      HasSubstr("--heads: expected a number, as --layers, --d-model and --heads describe a model without a preset"));
  EXPECT_THAT(refusal({"cost", "--heads", "2"}), HasSubstr("--layers: expected a number"));
  EXPECT_THAT(refusal({"cost", "gpt5"}),
              AllOf(StartsWith("qkv cost: PRESET: expected one of"), HasSubstr("llama-3-8b, got \"gpt5\"")));
  EXPECT_THAT(refusal({"cost", "gpt2", "--tokens", "0"}),
              StartsWith("qkv cost: --tokens: expected a whole number from 1 to 1000000000, got 0"));
  EXPECT_THAT(refusal({"cost", "gpt2", "--heads", "7"}),
              HasSubstr("qkv cost: --heads: expected a divisor of --d-model, 768, where --d-k is not given"));
  EXPECT_THAT(refusal({"cost", "gpt2", "--dtype", "i8"}), HasSubstr("--dtype: expected f64, f32, f16 or bf16"));
  EXPECT_THAT(refusal({"cost", "gpt2", "--plot", "--of", "time"}),
              HasSubstr("--of: expected memory, flops or traffic"));
  EXPECT_THAT(refusal({"cost", "gpt2", "--of", "flops"}),
              HasSubstr("--of: expected --plot, --svg, --png, --pdf or --json beside it, got none of them"));
  EXPECT_THAT(refusal({"cost", "gpt2", "--json", "--plot"}),
              HasSubstr("--plot: expected it without --json (standard output holds one of them), got both"));
  EXPECT_THAT(refusal({"cost", "gpt2", "--svg", ""}), HasSubstr("--svg: expected a value, got \"\""));
  EXPECT_THAT(refusal({"cost", "gpt2", "--plot", "--from", "0"}),
              HasSubstr("--from: expected a whole number from 1 to 1000000000, got 0"));
  EXPECT_THAT(refusal({"cost", "gpt2", "--plot", "--from", "9", "--to", "9"}),
              HasSubstr("--to: expected more than --from, 9, got 9"));
}

TEST(Cost, NamesATurnedOffOptionAsItWasTyped) {
  EXPECT_EQ(
      run_qkv({"cost", "gpt2", "--no-causal", "--plot"}).err,
      "qkv cost: --no-causal: expected it without --plot (the chart of memory does not change by it), got both\n");
}

TEST(Cost, PlotsNoModelWhoseChartIsTheSame) {
  const auto plotted = [](std::vector<std::string> words, const std::string& of) {
    words.insert(words.begin(), "cost");
    words.insert(words.end(), {"--plot", "--of", of});
    return run_qkv(words);
  };
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused = {
      {{"gpt2", "--layers", "3"}, "traffic"},
      {{"gpt2", "--decoder-layers", "2"}, "traffic"},
      {{"gpt2", "--d-ff", "64"}, "traffic"},
      {{"gpt2", "--gated"}, "traffic"},
      {{"gpt2", "--vocab", "9"}, "traffic"},
      {{"gpt2", "--no-causal"}, "memory"},
      {{"bert-base", "--vocab", "9"}, "flops"},
      {{"--layers", "2", "--d-model", "64", "--heads", "2", "--vocab", "9"}, "traffic"},
  };
  for (const auto& [words, of] : refused) {
    const Outcome outcome = plotted(words, of);
    EXPECT_EQ(outcome.code, 2) << testing::PrintToString(words);
    EXPECT_THAT(outcome.err, HasSubstr(": expected it without --plot (the chart of " + of + " does not change by it)"));
  }
  EXPECT_EQ(plotted({"gpt2", "--layers", "3"}, "memory").code, 0);
  EXPECT_EQ(plotted({"gpt2", "--causal"}, "memory").code, 0) << "gpt2 is causal";
  EXPECT_EQ(plotted({"gpt2", "--heads", "5", "--d-k", "64"}, "flops").code, 0) << "five heads need the width of each";
  EXPECT_EQ(plotted({"--layers", "2", "--d-model", "64", "--heads", "2"}, "traffic").code, 0) << "they are its shape";
}

}  // namespace
}  // namespace qkv::cost_test
