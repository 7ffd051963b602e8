// Plain formulas, typeset, and the worked examples that have them.
#include <gmock/gmock.h>

#include "explain/formula.h"
#include "qkv/course/worked.h"
#include "qkv/explain.h"

namespace qkv::formula_text_test {
namespace {

using math::typeset;
using testing::HasSubstr;

TEST(Typeset, WritesPowersRootsAndIndices) {
  EXPECT_EQ(typeset("S = Q K^T").text, "S = Q Kᵀ");
  EXPECT_EQ(typeset("Q K^T / sqrt(6) = Q K^T / 2.4495").text, "Q Kᵀ / √6 = Q Kᵀ / 2.4495");
  EXPECT_EQ(typeset("y_3 = sum of alpha_3j v_j").text, "y₃ = sum of α₃ⱼ vⱼ");
  EXPECT_EQ(typeset("softmax(q · k / sqrt(d_k))").text, "softmax(q · k / √dₖ)");
  EXPECT_EQ(typeset("sin and cos of pos / 10000^(2i / 8)").text, "sin and cos of pos / 10000^(2i / 8)");
  EXPECT_EQ(typeset("(x - mean) / sqrt(var + eps), eps = 1e-5").text, "(x − mean) / √(var + ε), ε = 1e-5");
  EXPECT_EQ(typeset("cos(theta) = q · k / (|q| |k|)").text, "cos(θ) = q · k / (|q| |k|)");
  EXPECT_EQ(typeset("1 / sqrt(12,288)").text, "1 / √12,288");
}

TEST(Typeset, MakesElementsOfThem) {
  EXPECT_THAT(typeset("Q K^T").mathml, HasSubstr("<msup><mi>K</mi><mi mathvariant=\"normal\">⊤</mi></msup>"));
  EXPECT_THAT(typeset("W_Q").mathml, HasSubstr("<msub><mi>W</mi><mi>Q</mi></msub>"));
  EXPECT_THAT(typeset("0 where j <= i").mathml, HasSubstr("<mo>&lt;</mo>"));
}

TEST(Typeset, TakesWhatIsNoFormula) {
  for (const char* text : {"", "^", "^T", "(", "sqrt(", "a_", "x)", "[2, -1] W", "n² × 4 B"}) {
    EXPECT_NO_THROW(static_cast<void>(typeset(text))) << text;
  }
}

TEST(WorkedExplanation, NamesItsStepsAndShowsNoRawNotation) {
  for (const char* name : {"scratch", "math", "chapter-y3", "forget-scale"}) {
    const Explanation explanation = explain_worked(name);
    for (const Section& step : explanation.steps) {
      EXPECT_THAT(step.id, testing::Not(testing::StartsWith("step-"))) << name;
      for (const Formula& formula : step.formulas) EXPECT_THAT(formula.text, testing::Not(HasSubstr("^T"))) << name;
    }
  }
}

}  // namespace
}  // namespace qkv::formula_text_test
