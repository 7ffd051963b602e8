// A probe's reply as text: readable in 80 columns.
#include "qkv/api/probe.h"

#include <gmock/gmock.h>

#include <sstream>

#include "core/error_message.h"

namespace qkv::probe_test {
namespace {

using testing::HasSubstr;

ProbeRequest drawn() {
  ProbeRequest request;
  request.random = "1,2,1,128,128,16";
  request.causal = true;
  return request;
}

std::string text_of(const ProbeRequest& request, int width) {
  const ProbeInputs inputs = load_probe_inputs(request, probe_choice(request));
  return as_text(request, inputs, probe(request, inputs), width);
}

TEST(ViewProbe, ReadsTheTextThatThePageFarMakesUp) {
  ProbeRequest request;
  request.planted = 4096;
  request.causal = true;
  request.row = 3125;
  const ProbeInputs inputs = load_probe_inputs(request, probe_choice(request));
  const std::string text = as_text(request, inputs, probe(request, inputs), 80);
  const std::size_t first = text.find("weights\n") + 8;
  EXPECT_THAT(text.substr(first, text.find('\n', first) - first), testing::HasSubstr("Paris"));
  request.random = "1,1,1,8,8,4";
  EXPECT_THROW(static_cast<void>(probe_choice(request)), InvalidArgument);
}

TEST(ViewProbe, KeepsItsLinesWithinTheWidth) {
  ProbeRequest request = drawn();
  request.head = "all";
  request.map = "8";
  request.row = 100;
  request.tile = "100:108,96:108";
  request.top_k = 9;
  request.key_totals = true;
  request.stats = true;
  request.mask = "window(64) | global(4) | strided(7) | documents(64, 64) & !window(2) | prefix(3)";
  std::istringstream lines(text_of(request, 80));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80) << line;
}

TEST(ViewProbe, WritesTheNumbersOfATile) {
  ProbeRequest request = drawn();
  request.tile = "100:108,96:108";
  const std::string text = text_of(request, 80);
  EXPECT_THAT(text, HasSubstr("head 0: weights of queries 100 to 107 and keys 96 to 107\n"
                              "                96        97        98        99       100       101       102\n"));
  EXPECT_THAT(text, HasSubstr("\n     107 "));
  EXPECT_THAT(text, HasSubstr("·"));  // keys after the query
}

TEST(ViewProbe, SaysWhichHeadsAMeanIsOf) {
  ProbeRequest request;
  request.random = "1,12,12,8,8,4";
  request.map = "4";
  request.average = true;
  EXPECT_THAT(text_of(request, 80), HasSubstr("mean of 12 heads: 4 x 4 cells"));
  request.head = "0,3,5";
  EXPECT_THAT(text_of(request, 80), HasSubstr("mean of heads 0, 3, 5: 4 x 4 cells"));
  request.head = "0,1,2,3,4,5,6,7,8,9";
  EXPECT_THAT(text_of(request, 300), HasSubstr("mean of heads 0, 1, 2, 3, 4, 5, 6, 7 and 2 more: 4 x 4 cells"));
}

TEST(ViewProbe, RefusesAnEmptyRequest) {
  const ProbeRequest request = drawn();
  const ProbeInputs inputs = load_probe_inputs(request, probe_choice(request));
  EXPECT_EQ(error_message([&] { (void)probe(request, inputs); }),
            "request: map, row, tile, top_k, key_totals, stats: expected one of them or more, to be shown, got none");
}

}  // namespace
}  // namespace qkv::probe_test
