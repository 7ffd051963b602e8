// No reply passes the width that it is given.
#include <gmock/gmock.h>

#include <sstream>

#include "qkv/api/check.h"
#include "qkv/api/cost.h"
#include "qkv/api/info.h"
#include "qkv/api/mask.h"

namespace qkv::width_test {
namespace {

using testing::HasSubstr;

void expect_within(const std::string& text, int width) {
  EXPECT_FALSE(text.empty());
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), width) << line;
}

TEST(Width, IsKeptByCostOfEveryPreset) {
  for (const std::string& preset : cost_presets()) {
    CostRequest request;
    request.preset = preset;
    const CostReport report = cost(cost_config(request));
    for (const int width : {80, 132}) expect_within(as_text(report, width), width);
  }
}

TEST(Width, IsKeptByMasksAndTheirWords) {
  MaskRequest request;
  request.mask = "window(64) | global(4) | strided(7) | documents(256, 256) & !window(2) | prefix(3)";
  expect_within(as_text(mask(request), 80), 80);
  expect_within(as_text(mask_word_list(request), 80), 80);
  request.tq = request.tk = 8192;
  expect_within(as_text(mask_word_list(request), 80), 80);
}

TEST(Width, IsKeptByInfoAndCheck) {
  expect_within(info_as_text(80), 80);
  CheckRequest request;
  request.a = std::string(70, 'a') + "/one.npy";
  request.b = std::string(70, 'b') + "/two.npy";
  const Tensor one(std::vector<double>{1.0 / 3, 2.0 / 3}, {2});
  const Tensor two(std::vector<double>{1.0 / 7, 2.0 / 3}, {2});
  expect_within(as_text(request, {.pairs = {compare("a.name", one, two)}, .only_a = {}, .only_b = {}}, 80), 80);
}

TEST(Cost, HasOneStyleOfUnits) {
  CostRequest request;
  request.preset = "gpt3";
  const std::string text = as_text(cost(cost_config(request)), 80);
  for (const char* amount : {" 24.6 K\n", " 618 M\n", " 175 B\n", " 1.50 GiB\n"}) EXPECT_THAT(text, HasSubstr(amount));
}

}  // namespace
}  // namespace qkv::width_test
