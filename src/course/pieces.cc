#include "course/pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ascii.h"
#include "core/listed.h"
#include "core/number_text.h"
#include "explain/plain.h"
#include "explain/target.h"

namespace qkv::worked {
namespace {

/// The end of the number that starts at `begin`: digits, groups of three behind commas, decimals.
std::size_t number_end(std::string_view text, std::size_t begin) {
  std::size_t i = begin;
  const auto digit_at = [&](std::size_t at) { return at < text.size() && core::is_digit(text[at]); };
  while (digit_at(i) || (i < text.size() && text[i] == ',' && digit_at(i + 1) && digit_at(i + 2) && digit_at(i + 3))) {
    ++i;
  }
  if (i < text.size() && text[i] == '.') ++i;
  while (digit_at(i)) ++i;
  return i;
}

struct PrintedNumber {
  double value = 0;
  int decimals = 0;
};

std::vector<PrintedNumber> printed_numbers(std::string_view text) {
  std::vector<PrintedNumber> numbers;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!core::is_digit(text[i])) continue;
    const std::size_t end = number_end(text, i);
    std::string digits(text.substr(i, end - i));
    digits.erase(std::remove(digits.begin(), digits.end(), ','), digits.end());
    const std::size_t point = digits.find('.');
    const double sign = i > 0 && text[i - 1] == '-' ? -1.0 : 1.0;
    numbers.push_back({sign * core::number_from<double>(digits).value(),
                       point == std::string::npos ? 0 : static_cast<int>(digits.size() - point - 1)});
    i = end;
  }
  return numbers;
}

Agreement agreement_of(const std::vector<double>& printed, const std::vector<double>& computed, int decimals) {
  if (printed.size() != computed.size()) return Agreement::wrong;
  const double unit = std::pow(10.0, -decimals);
  double worst = 0;
  for (std::size_t i = 0; i < printed.size(); ++i) worst = std::max(worst, std::fabs(printed[i] - computed[i]) / unit);
  // 1e-6 of a unit: what the doubles' own rounding may add.
  if (worst <= 0.5 + 1e-6) return Agreement::agrees;
  // Decimals may be off by a unit where rounded figures were added up; a whole number that is off by one is wrong.
  const double slack = decimals > 0 ? 1.5 : 1.0;
  return worst < slack ? Agreement::rounding : Agreement::wrong;
}

}  // namespace

Tensor vector_of(const std::vector<double>& values) { return {values, {static_cast<std::int64_t>(values.size())}}; }

Tensor matrix_of(const Rows& rows) {
  std::vector<double> values;
  for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
  return {values, {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows.front().size())}};
}

double sum_of(const TensorView& values) {
  double sum = 0;
  for (const double value : values.to_vector()) sum += value;
  return sum;
}

Tensor row_sums(const TensorView& matrix) {
  std::vector<double> sums;
  for (std::int64_t i = 0; i < matrix.dim(0); ++i) sums.push_back(sum_of(matrix.select(0, i)));
  return vector_of(sums);
}

TensorView as_head(const TensorView& matrix) { return matrix.unsqueeze(0).unsqueeze(0); }

Tensor as_matrix(const TensorView& head) { return Tensor(head.select(0, 0).select(0, 0)); }

OneHead one_head(const TensorView& q, const TensorView& k, const TensorView& v, const AttentionOptions& options) {
  AttentionOptions on_reference = options;
  on_reference.target = explain_detail::kTarget;
  const std::vector<Tensor> stages =
      attention_stages(as_head(q), as_head(k), options, {Stage::raw, Stage::scaled, Stage::weights}, q.dtype());
  return {as_matrix(stages[0]), as_matrix(stages[1]), as_matrix(stages[2]),
          as_matrix(attention(as_head(q), as_head(k), as_head(v), on_reference).out)};
}

double largest_difference(const TensorView& a, const TensorView& b) {
  if (!(a.shape() == b.shape())) return std::numeric_limits<double>::infinity();
  const std::vector<double> left = a.to_vector();
  const std::vector<double> right = b.to_vector();
  double largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i) largest = std::max(largest, std::fabs(left[i] - right[i]));
  return largest;
}

std::string bound_text(double difference) {
  if (difference == 0) return "0";
  return fmt::format("below 1e{:+03d}", static_cast<int>(std::ceil(std::log10(difference))));
}

std::string text_of(double value, int decimals) {
  if (std::isnan(value)) return "NaN";  // whatever its sign bit says
  const double rounded = std::fabs(value) < 0.5 * std::pow(10.0, -decimals) ? 0.0 : value;  // no "-0.00"
  return fmt::format("{:.{}f}", rounded, decimals);
}

std::string text_of(const TensorView& values, int decimals) {
  if (values.rank() == 0) return text_of(values.to_vector().front(), decimals);
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < values.dim(0); ++i) texts.push_back(text_of(values.select(0, i), decimals));
  return "[" + core::joined(texts) + "]";
}

int decimals_of(std::string_view printed) {
  int most = 0;
  for (const PrintedNumber& number : printed_numbers(printed)) most = std::max(most, number.decimals);
  return most;
}

std::vector<double> numbers_of(std::string_view printed) {
  std::vector<double> values;
  for (const PrintedNumber& number : printed_numbers(printed)) values.push_back(number.value);
  return values;
}

WorkedTensor shown(std::string name, Tensor values, int decimals) {
  return {std::move(name), std::move(values), {}, {}, decimals};
}

WorkedTensor shown(std::string name, Tensor values, const std::vector<std::string>& rows,
                   const std::vector<std::string>& columns, int decimals) {
  return {std::move(name), std::move(values), rows, columns, decimals};
}

WorkedClaim figure(std::string what, std::string printed, const TensorView& computed, std::string remark, int more) {
  const int decimals = decimals_of(printed);
  const Agreement agreement = agreement_of(numbers_of(printed), computed.to_vector(), decimals);
  return {std::move(what), std::move(printed), text_of(computed, decimals + more), agreement, std::move(remark)};
}

WorkedClaim figure(std::string what, std::string printed, double computed, std::string remark, int more) {
  const int decimals = decimals_of(printed);
  const Agreement agreement = agreement_of(numbers_of(printed), {computed}, decimals);
  return {std::move(what), std::move(printed), text_of(computed, decimals + more), agreement, std::move(remark)};
}

WorkedClaim statement(std::string what, std::string printed, std::string computed, Holds holds, std::string remark) {
  return {std::move(what), std::move(printed), std::move(computed),
          holds == Holds::yes ? Agreement::agrees : Agreement::wrong, std::move(remark)};
}

WorkedClaim not_derivable(std::string what, std::string printed, std::string computed, std::string remark) {
  return {std::move(what), std::move(printed), std::move(computed), Agreement::not_derivable, std::move(remark)};
}

}  // namespace qkv::worked
