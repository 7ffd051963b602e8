#include <algorithm>
#include <array>

#include "core/number_text.h"
#include "text/chat_template/parser.h"

namespace qkv::text::jinja {
namespace {

std::unique_ptr<Expression> with_parts(std::unique_ptr<Expression> node, ExpressionPtr a, ExpressionPtr b = nullptr) {
  node->parts.push_back(std::move(a));
  if (b) node->parts.push_back(std::move(b));
  return node;
}

}  // namespace

ExpressionPtr Parser::expression() {
  ExpressionPtr first = one_expression();
  if (!is_mark(",")) return first;
  auto tuple = with_parts(node(ExpressionKind::tuple), std::move(first));
  while (skip_mark(",")) {
    const bool is_end = now().kind == TokenKind::block_end || now().kind == TokenKind::output_end || is_mark(")");
    if (is_end) break;
    tuple->parts.push_back(one_expression());
  }
  return done(std::move(tuple));
}

ExpressionPtr Parser::one_expression() {
  const Depth depth(*this);
  ExpressionPtr value = either();
  while (is_word("if")) {
    auto choice = node(ExpressionKind::conditional);
    ++at_;
    choice->parts.push_back(either());
    choice->parts.push_back(std::move(value));
    choice->parts.push_back(skip_word("else") ? one_expression() : nullptr);
    value = done(std::move(choice));
  }
  return value;
}

ExpressionPtr Parser::without_condition() {
  const Depth depth(*this);
  ExpressionPtr first = either();
  if (!is_mark(",")) return first;
  auto tuple = with_parts(node(ExpressionKind::tuple), std::move(first));
  while (skip_mark(",")) tuple->parts.push_back(either());
  return done(std::move(tuple));
}

// Operators of one level, from the left: (a - b) - c.
ExpressionPtr Parser::from_left(ExpressionPtr (Parser::*part)(), ExpressionKind kind,
                                std::initializer_list<std::string_view> operators) {
  ExpressionPtr left = (this->*part)();
  while (std::ranges::any_of(operators, [&](std::string_view one) { return is_mark(one) || is_word(one); })) {
    auto made = node(kind, kind == ExpressionKind::binary ? now().text : "");
    ++at_;
    left = done(with_parts(std::move(made), std::move(left), (this->*part)()));
  }
  return left;
}

ExpressionPtr Parser::either() { return from_left(&Parser::both, ExpressionKind::either, {"or"}); }

ExpressionPtr Parser::both() { return from_left(&Parser::negation, ExpressionKind::both, {"and"}); }

ExpressionPtr Parser::negation() {
  const Depth depth(*this);
  if (!is_word("not")) return comparison();
  auto made = node(ExpressionKind::unary, "not");
  ++at_;
  return done(with_parts(std::move(made), negation()));
}

ExpressionPtr Parser::comparison() {
  constexpr std::array<std::string_view, 6> kOperators = {"==", "!=", "<", "<=", ">", ">="};
  ExpressionPtr left = sum();
  auto made = node(ExpressionKind::compare);
  for (;;) {
    if (now().kind == TokenKind::mark && std::ranges::find(kOperators, now().text) != kOperators.end()) {
      made->names.push_back(now().text);
      ++at_;
    } else if (is_word("in")) {
      made->names.emplace_back("in");
      ++at_;
    } else if (is_word("not") && next().kind == TokenKind::name && next().text == "in") {
      made->names.emplace_back("not in");
      at_ += 2;
    } else {
      break;
    }
    if (made->parts.empty()) made->parts.push_back(std::move(left));
    made->parts.push_back(sum());
  }
  return made->parts.empty() ? std::move(left) : done(std::move(made));
}

ExpressionPtr Parser::sum() { return from_left(&Parser::concatenation, ExpressionKind::binary, {"+", "-"}); }

ExpressionPtr Parser::concatenation() {
  ExpressionPtr first = product();
  if (!is_mark("~")) return first;
  auto made = with_parts(node(ExpressionKind::concat), std::move(first));
  while (skip_mark("~")) made->parts.push_back(product());
  return done(std::move(made));
}

ExpressionPtr Parser::product() { return from_left(&Parser::power, ExpressionKind::binary, {"*", "/", "//", "%"}); }

ExpressionPtr Parser::power() { return from_left(&Parser::operand, ExpressionKind::binary, {"**"}); }

ExpressionPtr Parser::operand() { return unary(Filters::with); }

ExpressionPtr Parser::unary(Filters filters) {
  const Depth depth(*this);
  ExpressionPtr value;
  if (is_mark("-") || is_mark("+")) {
    auto made = node(ExpressionKind::unary, now().text);
    ++at_;
    value = done(with_parts(std::move(made), unary(Filters::without)));
  } else {
    value = primary();
  }
  value = postfix(std::move(value));
  return filters == Filters::with ? filters_and_tests(std::move(value)) : std::move(value);
}

ExpressionPtr Parser::primary() {
  switch (now().kind) {
    case TokenKind::name:
      return name_or_word();
    case TokenKind::integer:
    case TokenKind::real:
      return number();
    case TokenKind::string: {
      auto made = node(ExpressionKind::constant);
      std::string text;
      while (now().kind == TokenKind::string) text += tokens_[at_++].text;
      made->value = plain_text(budget_, std::move(text));
      return done(std::move(made));
    }
    default:
      break;
  }
  if (is_mark("(")) return tuple_in_brackets();
  if (is_mark("[")) return list();
  if (is_mark("{")) return dict();
  fail("an expression");
}

ExpressionPtr Parser::name_or_word() {
  const std::string& word = now().text;
  const bool is_true = word == "true" || word == "True";
  const bool is_false = word == "false" || word == "False";
  const bool is_none = word == "none" || word == "None";
  auto made = node(is_true || is_false || is_none ? ExpressionKind::constant : ExpressionKind::name, word);
  if (is_none) made->value = none();
  if (is_true || is_false) made->value = boolean(is_true);
  ++at_;
  return done(std::move(made));
}

ExpressionPtr Parser::number() {
  auto made = node(ExpressionKind::constant);
  if (now().kind == TokenKind::integer) {
    const auto value = core::number_from<std::int64_t>(now().text);
    if (!value) fail("an integer of 64 bits");
    made->value = whole(*value);
  } else {
    const auto value = core::number_from<double>(now().text);
    if (!value) fail("a float of 64 bits");
    made->value = real(*value);
  }
  ++at_;
  return done(std::move(made));
}

ExpressionPtr Parser::tuple_in_brackets() {
  auto empty = node(ExpressionKind::tuple);
  expect_mark("(");
  if (skip_mark(")")) return done(std::move(empty));
  ExpressionPtr value = expression();
  expect_mark(")");
  return value;
}

ExpressionPtr Parser::list() {
  auto made = node(ExpressionKind::list);
  expect_mark("[");
  while (!is_mark("]")) {
    if (!made->parts.empty()) expect_mark(",");
    if (is_mark("]")) break;
    made->parts.push_back(one_expression());
  }
  expect_mark("]");
  return done(std::move(made));
}

ExpressionPtr Parser::dict() {
  auto made = node(ExpressionKind::dict);
  expect_mark("{");
  while (!is_mark("}")) {
    if (!made->parts.empty()) expect_mark(",");
    if (is_mark("}")) break;
    made->parts.push_back(one_expression());
    expect_mark(":");
    made->parts.push_back(one_expression());
  }
  expect_mark("}");
  return done(std::move(made));
}

ExpressionPtr Parser::postfix(ExpressionPtr value) {
  for (;;) {
    if (skip_mark(".")) {
      if (now().kind == TokenKind::integer) {
        auto made = node(ExpressionKind::item);
        ExpressionPtr index = number();
        value = done(with_parts(std::move(made), std::move(value), std::move(index)));
      } else {
        auto made = node(ExpressionKind::attribute);
        made->name = expect_name("the name of a member");
        value = done(with_parts(std::move(made), std::move(value)));
      }
    } else if (is_mark("[")) {
      value = subscript(std::move(value));
    } else if (is_mark("(")) {
      value = call(std::move(value));
    } else {
      return value;
    }
  }
}

ExpressionPtr Parser::subscript(ExpressionPtr value) {
  auto item = node(ExpressionKind::item);
  expect_mark("[");
  const auto bound = [&]() -> ExpressionPtr { return is_mark(":") || is_mark("]") ? nullptr : one_expression(); };
  ExpressionPtr first = bound();
  if (!is_mark(":")) {
    if (!first) fail("an index");
    expect_mark("]");
    return done(with_parts(std::move(item), std::move(value), std::move(first)));
  }
  item->kind = ExpressionKind::slice;
  item->parts.push_back(std::move(value));
  item->parts.push_back(std::move(first));
  item->parts.push_back(skip_mark(":") ? bound() : nullptr);
  item->parts.push_back(skip_mark(":") ? bound() : nullptr);
  expect_mark("]");
  return done(std::move(item));
}

std::vector<Argument> Parser::arguments() {
  std::vector<Argument> all;
  expect_mark("(");
  while (!is_mark(")")) {
    if (!all.empty()) expect_mark(",");
    if (is_mark(")")) break;
    Argument argument;
    const bool is_named = now().kind == TokenKind::name && next().kind == TokenKind::mark && next().text == "=";
    if (is_named) {
      argument.name = now().text;
      at_ += 2;
    } else if (!all.empty() && !all.back().name.empty()) {
      fail("arguments by name behind the first of them");
    }
    argument.value = one_expression();
    all.push_back(std::move(argument));
  }
  expect_mark(")");
  return all;
}

ExpressionPtr Parser::call(ExpressionPtr value) {
  auto made = with_parts(node(ExpressionKind::call), std::move(value));
  made->arguments = arguments();
  return done(std::move(made));
}

ExpressionPtr Parser::filters_and_tests(ExpressionPtr value) {
  for (;;) {
    if (is_mark("|")) {
      value = filter(std::move(value));
    } else if (is_word("is")) {
      value = test(std::move(value));
    } else if (is_mark("(")) {
      value = call(std::move(value));
    } else {
      return value;
    }
  }
}

ExpressionPtr Parser::filter(ExpressionPtr value) {
  expect_mark("|");
  auto made = node(ExpressionKind::filter);
  made->name = expect_name("the name of a filter");
  made->parts.push_back(std::move(value));
  if (is_mark("(")) made->arguments = arguments();
  return done(std::move(made));
}

ExpressionPtr Parser::block_filters() {
  ExpressionPtr value;
  while (is_mark("|")) value = filter(std::move(value));
  return value;
}

ExpressionPtr Parser::test(ExpressionPtr value) {
  ++at_;
  auto negation = node(ExpressionKind::unary, "not");
  const bool is_negated = skip_word("not");
  auto made = node(ExpressionKind::test);
  made->name = expect_name("the name of a test");
  made->parts.push_back(std::move(value));
  const bool is_operator = is_word("else") || is_word("or") || is_word("and") || is_word("if") || is_word("is") ||
                           is_word("not") || is_word("in");
  const bool is_value = now().kind == TokenKind::string || now().kind == TokenKind::integer ||
                        now().kind == TokenKind::real || (now().kind == TokenKind::name && !is_operator) ||
                        is_mark("[") || is_mark("{");
  if (is_mark("(")) {
    made->arguments = arguments();
  } else if (is_value) {
    made->arguments.push_back({"", postfix(primary())});
  }
  ExpressionPtr result = done(std::move(made));
  return is_negated ? done(with_parts(std::move(negation), std::move(result))) : std::move(result);
}

}  // namespace qkv::text::jinja
