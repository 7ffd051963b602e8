// std::from_chars for floating point, by strtod and strtof, which read more: blanks, a plus and hexadecimal digits. And
// std::to_chars for both, which tries more and more digits until they are read as the same number.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace std {
namespace {

bool starts_a_number(const string& text) {
  const size_t sign = text.starts_with('-') ? 1 : 0;
  if (text.size() == sign) return false;
  const char first = text[sign];
  return (first >= '0' && first <= '9') || first == '.' || first == 'i' || first == 'I' || first == 'n' || first == 'N';
}

bool is_hexadecimal(const string& text) {
  const size_t sign = text.starts_with('-') ? 1 : 0;
  return text.size() > sign + 1 && text[sign] == '0' && (text[sign + 1] == 'x' || text[sign + 1] == 'X');
}

template <class Number, class Read>
from_chars_result read_number(const char* begin, const char* end, Number& value, const Read& read) {
  const string text(begin, end);  // strtod stops at a zero byte alone
  if (!starts_a_number(text)) return {begin, errc::invalid_argument};
  if (is_hexadecimal(text)) {
    value = text[0] == '-' ? -Number{} : Number{};
    return {begin + text.find('x' == text[text.find('0') + 1] ? 'x' : 'X'), errc()};
  }
  char* stop = nullptr;
  errno = 0;
  const Number got = read(text.c_str(), &stop);
  const auto length = stop - text.c_str();
  if (length == 0) return {begin, errc::invalid_argument};
  const bool out_of_range = errno == ERANGE && (isinf(got) || got == 0);
  if (out_of_range) return {begin + length, errc::result_out_of_range};
  value = got;
  return {begin + length, errc()};
}

}  // namespace

from_chars_result from_chars(const char* begin, const char* end, double& value) {
  return read_number(begin, end, value, strtod);
}

from_chars_result from_chars(const char* begin, const char* end, float& value) {
  return read_number(begin, end, value, strtof);
}

}  // namespace std

namespace {

// The shorter of both forms, with the fewest digits; where they are equally long, without an exponent.
template <class Number, class Read>
std::to_chars_result write_number(char* begin, char* end, Number value, int most_digits, const Read& read) {
  char scientific[32];
  char fixed[512];
  int digits = 0;
  do {
    snprintf(scientific, sizeof scientific, "%.*e", digits, static_cast<double>(value));
  } while (++digits < most_digits && read(scientific, nullptr) != value);
  std::string_view shortest = scientific;
  if (const char* exponent = strchr(scientific, 'e')) {
    const int places = std::max(0, digits - 1 - atoi(exponent + 1));
    const int length = snprintf(fixed, sizeof fixed, "%.*f", places, static_cast<double>(value));
    if (static_cast<std::size_t>(length) <= shortest.size()) shortest = fixed;
  }
  if (static_cast<std::size_t>(end - begin) < shortest.size()) return {end, std::errc::value_too_large};
  return {std::ranges::copy(shortest, begin).out, std::errc()};
}

}  // namespace

std::to_chars_result std::to_chars(char* begin, char* end, double value) {
  constexpr int kMostDigits = 17;
  return write_number(begin, end, value, kMostDigits, strtod);
}

std::to_chars_result std::to_chars(char* begin, char* end, float value) {
  constexpr int kMostDigits = 9;
  return write_number(begin, end, value, kMostDigits, strtof);
}
