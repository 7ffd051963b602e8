// Random questions to a studio in this process: QKV_FUZZ_QUESTIONS (1000) of them, or as many as QKV_FUZZ_SECONDS
// takes, from number QKV_FUZZ_SEED (1) on. QKV_FUZZ_CASE is one to repeat instead, its number. After
// QKV_FUZZ_PATIENCE (500) milliseconds the client leaves.
#include "qkv/api/studio.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "fuzz/studio_questions.h"
#include "qkv/error.h"

namespace qkv::fuzz::studio_test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kMostAfterwards{60};  // until the work has ended, on a slow machine under sanitizers

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets it
  return value == nullptr ? otherwise : std::stoull(value);
}

// What each tensor of a reply says lies in the blocks.
void require_tensors(const nlohmann::json& json, std::size_t bytes) {
  if (json.is_object() && json.contains("dtype") && json.contains("at")) {
    ASSERT_LE(json["at"].get<std::size_t>(), bytes);
    return;
  }
  if (!json.is_structured()) return;
  for (const nlohmann::json& member : json) require_tensors(member, bytes);
}

// What is wrong with the answer to a question; empty where nothing is.
std::string fault_of(Studio& studio, const StudioQuestion& one, std::chrono::milliseconds patience) {
  const auto begin = Clock::now();
  const StudioWatch leaves = [&](std::string_view /*what*/, const ProbeProgress& /*at*/) {
    return Clock::now() - begin > patience ? Proceed::stop : Proceed::go_on;
  };
  std::string fault;
  try {
    const StudioReply reply = studio.ask(one.name, one.request, leaves);
    require_tensors(nlohmann::json::parse(reply.json), reply.blocks.size());
  } catch (const Error& error) {
    if (std::string(error.what()).empty()) fault = "an error without a word";
  } catch (const std::exception& error) {
    fault = std::string("an error that is not qkv's: ") + error.what();
  }
  if (Clock::now() - begin > patience + kMostAfterwards) fault = "it goes on although its client has left";
  return fault;
}

TEST(StudioFuzz, AnswersOrRefusesEveryQuestion) {
  Studio studio;
  const std::uint64_t repeated = from_environment("QKV_FUZZ_CASE", 0);
  const std::uint64_t first = repeated > 0 ? repeated : from_environment("QKV_FUZZ_SEED", 1);
  const std::uint64_t count = repeated > 0 ? 1 : from_environment("QKV_FUZZ_QUESTIONS", 1000);
  const auto most = std::chrono::seconds(from_environment("QKV_FUZZ_SECONDS", 0));
  const auto patience = std::chrono::milliseconds(from_environment("QKV_FUZZ_PATIENCE", 500));
  const bool tells = from_environment("QKV_FUZZ_TELLS", 0) > 0;  // before each, where one is looked for that crashes
  const auto begin = Clock::now();
  std::uint64_t n = first;
  for (; most.count() > 0 ? Clock::now() - begin < most : n < first + count; ++n) {
    const StudioQuestion one = studio_question(n);
    if (tells || repeated > 0) {
      std::printf("%llu %s %s\n", static_cast<unsigned long long>(n), one.name.c_str(), one.request.c_str());
      std::fflush(stdout);
    }
    EXPECT_EQ(fault_of(studio, one, patience), "") << "question " << n << ": " << one.name << " " << one.request;
  }
  std::printf("%llu questions from number %llu on\n", static_cast<unsigned long long>(n - first),
              static_cast<unsigned long long>(first));
}

}  // namespace
}  // namespace qkv::fuzz::studio_test
