#include "text/chat_template/globals.h"

#include <fmt/format.h>

#include <array>

namespace qkv::text::jinja {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths = {"January",   "February", "March",    "April",
                                                      "May",       "June",     "July",     "August",
                                                      "September", "October",  "November", "December"};

template <std::size_t count>
std::string_view named(const std::array<std::string_view, count>& names, int place) {
  if (place < 0 || place >= static_cast<int>(count)) throw Fault("strftime_now: expected a date, got none");
  return names[static_cast<std::size_t>(place)];
}

std::string field(const std::tm& time, char letter, const char* layout) {
  constexpr int kFirstYear = 1900;
  constexpr int kCentury = 100;
  constexpr int kHalfDay = 12;
  constexpr std::size_t kShort = 3;
  const auto two = [&](int value) { return fmt::format(fmt::runtime(layout), value); };
  switch (letter) {
    case 'Y':
      return std::to_string(time.tm_year + kFirstYear);
    case 'y':
      return two((time.tm_year + kFirstYear) % kCentury);
    case 'm':
      return two(time.tm_mon + 1);
    case 'd':
      return two(time.tm_mday);
    case 'e':
      return fmt::format("{:2}", time.tm_mday);
    case 'H':
      return two(time.tm_hour);
    case 'I':
      return two((time.tm_hour + kHalfDay - 1) % kHalfDay + 1);
    case 'M':
      return two(time.tm_min);
    case 'S':
      return two(time.tm_sec);
    case 'p':
      return time.tm_hour < kHalfDay ? "AM" : "PM";
    case 'j':
      return fmt::format("{:03}", time.tm_yday + 1);
    case 'B':
      return std::string(named(kMonths, time.tm_mon));
    case 'b':
      return std::string(named(kMonths, time.tm_mon).substr(0, kShort));
    case 'A':
      return std::string(named(kDays, time.tm_wday));
    case 'a':
      return std::string(named(kDays, time.tm_wday).substr(0, kShort));
    case 'F':
      return date_text(time, "%Y-%m-%d");
    case 'T':
      return date_text(time, "%H:%M:%S");
    case 'D':
      return date_text(time, "%m/%d/%y");
    case '%':
      return "%";
    default:
      throw Fault(std::string("strftime_now: expected one of %Y %y %m %d %e %H %I %M %S %p %j %B %b %A %a %F %T %D, "
                              "got %") +
                  letter);
  }
}

}  // namespace

std::string date_text(const std::tm& time, std::string_view format) {
  std::string text;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%' || at + 1 == format.size()) {
      text += format[at];
      continue;
    }
    const bool is_plain = format[at + 1] == '-' && at + 2 < format.size();
    at += is_plain ? 2 : 1;
    text += field(time, format[at], is_plain ? "{}" : "{:02}");
  }
  return text;
}

Value range(Budget& budget, const Arguments& arguments) {
  const Bound bound("range", arguments, {"start", "stop", "step"});
  constexpr std::int64_t kMost = 100'000;
  const bool has_start = bound.at(1).has_value();
  const std::int64_t first = bound.whole(0, 0);
  const std::int64_t start = has_start ? first : 0;
  const std::int64_t stop = has_start ? bound.whole(1, 0) : first;
  const std::int64_t step = bound.whole(2, 1);
  static_cast<void>(bound.need(0));
  if (step == 0) throw Fault("range: expected a step other than 0");
  std::vector<Value> numbers;
  std::int64_t number = start;
  while (step > 0 ? number < stop : number > stop) {
    if (static_cast<std::int64_t>(numbers.size()) == kMost) {
      throw Fault("range: expected at most " + std::to_string(kMost) + " numbers, got more");
    }
    numbers.push_back(whole(number));
    if (__builtin_add_overflow(number, step, &number)) break;
  }
  return list_of(budget, std::move(numbers));
}

Value new_dict(Budget& budget, const Arguments& arguments) {
  std::vector<std::pair<Value, Value>> entries;
  if (arguments.by_place.size() > 1) throw Fault("dict: expected at most one argument by place, got more");
  for (const Value& first : arguments.by_place) {
    if (first.dict() == nullptr) throw Fault("dict: expected a dict, got " + kind_of(first));
    entries = first.dict()->entries;
  }
  for (const auto& [name, value] : arguments.by_name) set(budget, entries, plain_text(budget, name), value);
  return dict_of(budget, std::move(entries));
}

}  // namespace qkv::text::jinja
