// Words of fields are taken in any case.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "core/error_message.h"
#include "qkv/api/cost.h"
#include "qkv/api/questions.h"
#include "qkv/api/texts.h"

namespace qkv::words_in_any_case_test {
namespace {

// From every face, by field_value() of the command, JSON and named values alike.
TEST(WordsOfFields, AreTakenInAnyCase) {
  int words = 0;
  for (const Question& question : questions()) {
    for (const FieldInfo& field : question.fields) {
      for (const std::string& word : field.words) {
        if (word.empty()) continue;
        std::string capitals = word;
        std::ranges::transform(capitals, capitals.begin(), [](unsigned char c) { return std::toupper(c); });
        const bool is_list = field.type == FieldType::texts;
        const FieldValue wanted = is_list ? FieldValue(std::vector{word}) : FieldValue(word);
        EXPECT_EQ(field_value(field, capitals), wanted) << question.name << "." << field.name;
        EXPECT_EQ(checked_value(field, is_list ? FieldValue(std::vector{capitals}) : FieldValue(capitals), capitals),
                  wanted);
        ++words;
      }
    }
  }
  EXPECT_GT(words, 100);
  EXPECT_EQ(generate_fields().from_json(R"({"model": "gpt", "text": "a", "cache_type": "BF16"})").cache_type, "bf16");
  EXPECT_EQ(error_message<Error>([] { (void)cost_fields().from_json(R"({"preset": "gpt3", "dtype": "BF17"})"); }),
            "request: dtype: expected f64, f32, f16 or bf16, got \"BF17\"; did you mean bf16?");
}

}  // namespace
}  // namespace qkv::words_in_any_case_test
