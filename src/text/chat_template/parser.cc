#include "text/chat_template/parser.h"

#include <algorithm>

namespace qkv::text::jinja {
namespace {

std::string shown(const Token& token) {
  constexpr std::size_t kMost = 40;
  const std::string text = token.text.size() > kMost ? token.text.substr(0, kMost) + "…" : token.text;
  switch (token.kind) {
    case TokenKind::text:
      return "text";
    case TokenKind::output_begin:
      return "{{";
    case TokenKind::output_end:
      return "}}";
    case TokenKind::block_begin:
      return "{%";
    case TokenKind::block_end:
      return "%}";
    case TokenKind::string:
      return "the string '" + text + "'";
    case TokenKind::end:
      return "the template's end";
    default:
      return text;
  }
}

}  // namespace

Parser::Depth::Depth(Parser& parser) : parser_(&parser) {
  if (parser.depth_ == kDeepestTree) parser.fail("a template that is not deeply nested");
  ++parser.depth_;
}

bool Parser::is_mark(std::string_view mark) const { return now().kind == TokenKind::mark && now().text == mark; }
bool Parser::is_word(std::string_view word) const { return now().kind == TokenKind::name && now().text == word; }

bool Parser::skip_mark(std::string_view mark) {
  const bool is_it = is_mark(mark);
  if (is_it) ++at_;
  return is_it;
}

bool Parser::skip_word(std::string_view word) {
  const bool is_it = is_word(word);
  if (is_it) ++at_;
  return is_it;
}

void Parser::expect_mark(std::string_view mark) {
  if (!skip_mark(mark)) fail(std::string(mark));
}

std::string Parser::expect_name(std::string_view what) {
  if (now().kind != TokenKind::name) fail(std::string(what));
  return tokens_[at_++].text;
}

void Parser::fail(const std::string& expected) const {
  throw Fault(at_line(now().line, "expected " + expected + ", got " + shown(now())));
}

std::unique_ptr<Expression> Parser::node(ExpressionKind kind, std::string name) const {
  auto made = std::make_unique<Expression>();
  made->kind = kind;
  made->line = now().line;
  made->name = std::move(name);
  return made;
}

ExpressionPtr Parser::done(std::unique_ptr<Expression> node) const {
  std::size_t deepest = 0;
  for (const ExpressionPtr& part : node->parts) deepest = std::max(deepest, part ? part->depth : 0);
  for (const Argument& argument : node->arguments) deepest = std::max(deepest, argument.value->depth);
  node->depth = deepest + 1;
  if (node->depth > kDeepestTree) fail("an expression of fewer parts");
  return node;
}

Body parse(std::vector<Token> tokens) { return Parser(std::move(tokens)).body({}); }

}  // namespace qkv::text::jinja
