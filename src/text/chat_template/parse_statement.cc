#include <algorithm>

#include "text/chat_template/parser.h"

namespace qkv::text::jinja {

Body Parser::body(std::initializer_list<std::string_view> ends) {
  const Depth depth(*this);
  Body statements;
  while (now().kind != TokenKind::end) {
    const bool is_block = now().kind == TokenKind::block_begin;
    if (is_block && next().kind == TokenKind::name && std::ranges::find(ends, next().text) != ends.end()) {
      ++at_;
      return statements;
    }
    statement(statements);
  }
  std::string expected;
  for (const std::string_view end : ends) expected += (expected.empty() ? "" : " or ") + std::string(end);
  if (!expected.empty()) fail(expected);
  return statements;
}

void Parser::statement(Body& out) {
  Statement made;
  made.line = now().line;
  if (now().kind == TokenKind::text) {
    made.value = plain_text(budget_, tokens_[at_++].text);
    out.push_back(std::move(made));
    return;
  }
  if (now().kind == TokenKind::output_begin) {
    ++at_;
    made.kind = StatementKind::output;
    made.expressions.push_back(expression());
    if (now().kind != TokenKind::output_end) fail("}}");
    ++at_;
    out.push_back(std::move(made));
    return;
  }
  ++at_;  // {%
  if (now().kind != TokenKind::name) fail("the word of a block");
  if (skip_word("generation")) {  // marks what a training counts: to a rendered text, nothing
    end_block();
    for (Statement& inner : body({"endgeneration"})) out.push_back(std::move(inner));
    ++at_;
    end_block();
    return;
  }
  const std::string word = now().text;
  made = block(word);
  out.push_back(std::move(made));
}

void Parser::end_block() {
  if (now().kind != TokenKind::block_end) fail("%}");
  ++at_;
}

Statement Parser::block(const std::string& word) {
  Statement out;
  out.line = now().line;
  const auto reads = [&](void (Parser::*read)(Statement&)) {
    ++at_;
    (this->*read)(out);
  };
  if (word == "if") {
    reads(&Parser::choice);
  } else if (word == "for") {
    reads(&Parser::loop);
  } else if (word == "set") {
    reads(&Parser::set);
  } else if (word == "macro") {
    reads(&Parser::macro);
  } else if (word == "call") {
    reads(&Parser::call_block);
  } else if (word == "filter") {
    reads(&Parser::filter_block);
  } else if (word == "with") {
    reads(&Parser::with);
  } else if ((word == "break" || word == "continue") && loops_ > 0) {
    out.kind = word == "break" ? StatementKind::leave_loop : StatementKind::next_round;
    ++at_;
  } else {
    fail("if, for, set, macro, call, filter, with, generation or raw, or break or continue in a for");
  }
  end_block();
  return out;
}

void Parser::choice(Statement& out) {
  out.kind = StatementKind::choice;
  for (;;) {
    out.expressions.push_back(expression());
    end_block();
    out.bodies.push_back(body({"elif", "else", "endif"}));
    if (!skip_word("elif")) break;
  }
  if (skip_word("else")) {
    end_block();
    out.bodies.push_back(body({"endif"}));
  }
  ++at_;
}

std::vector<std::string> Parser::targets() {
  const bool is_bracketed = skip_mark("(");
  std::vector<std::string> names;
  do {
    names.push_back(expect_name("the name of a variable"));
  } while (skip_mark(","));
  if (is_bracketed) expect_mark(")");
  return names;
}

void Parser::loop(Statement& out) {
  out.kind = StatementKind::loop;
  out.names = targets();
  if (!skip_word("in")) fail("in");
  out.expressions.push_back(without_condition());
  out.expressions.push_back(skip_word("if") ? one_expression() : nullptr);
  end_block();
  ++loops_;
  out.bodies.push_back(body({"else", "endfor"}));
  --loops_;
  if (skip_word("else")) {
    end_block();
    out.bodies.push_back(body({"endfor"}));
  }
  ++at_;
}

void Parser::set(Statement& out) {
  out.kind = StatementKind::set;
  out.names = targets();
  if (skip_mark(".")) {
    if (out.names.size() != 1) fail("=");
    out.kind = StatementKind::set_member;
    out.names.push_back(expect_name("the name of a member"));
  }
  if (skip_mark("=")) {
    out.expressions.push_back(expression());
    return;
  }
  if (out.kind == StatementKind::set_member || out.names.size() != 1) fail("=");
  out.kind = StatementKind::set_block;
  out.expressions.push_back(block_filters());
  end_block();
  out.bodies.push_back(body({"endset"}));
  ++at_;
}

void Parser::parameters(Statement& macro) {
  macro.kind = StatementKind::macro;
  expect_mark("(");
  while (!is_mark(")")) {
    if (macro.names.size() > 1) expect_mark(",");
    macro.names.push_back(expect_name("the name of a parameter"));
    const bool follows_default = !macro.expressions.empty() && macro.expressions.back() != nullptr;
    if (follows_default && !is_mark("=")) fail("a default, as the parameter before has one");
    macro.expressions.push_back(skip_mark("=") ? one_expression() : nullptr);
  }
  expect_mark(")");
}

void Parser::macro(Statement& out) {
  out.names.push_back(expect_name("the name of the macro"));
  parameters(out);
  end_block();
  const std::size_t loops = loops_;
  loops_ = 0;
  out.bodies.push_back(body({"endmacro"}));
  loops_ = loops;
  ++at_;
  if (now().kind == TokenKind::name) ++at_;  // the macro's name again
}

void Parser::call_block(Statement& out) {
  out.kind = StatementKind::call_block;
  Statement caller;
  caller.line = out.line;
  caller.kind = StatementKind::macro;
  caller.names.emplace_back("caller");
  if (is_mark("(")) parameters(caller);
  out.expressions.push_back(one_expression());
  if (out.expressions[0]->kind != ExpressionKind::call) fail("a call");
  end_block();
  const std::size_t loops = loops_;
  loops_ = 0;
  caller.bodies.push_back(body({"endcall"}));
  loops_ = loops;
  ++at_;
  out.macro.push_back(std::move(caller));
}

void Parser::filter_block(Statement& out) {
  out.kind = StatementKind::filter_block;
  auto first = node(ExpressionKind::filter);
  first->name = expect_name("the name of a filter");
  first->parts.push_back(nullptr);
  if (is_mark("(")) first->arguments = arguments();
  ExpressionPtr filters = done(std::move(first));
  while (is_mark("|")) filters = filter(std::move(filters));
  out.expressions.push_back(std::move(filters));
  end_block();
  out.bodies.push_back(body({"endfilter"}));
  ++at_;
}

void Parser::with(Statement& out) {
  out.kind = StatementKind::with;
  while (now().kind != TokenKind::block_end) {
    if (!out.names.empty()) expect_mark(",");
    out.names.push_back(expect_name("the name of a variable"));
    expect_mark("=");
    out.expressions.push_back(one_expression());
  }
  end_block();
  out.bodies.push_back(body({"endwith"}));
  ++at_;
}

}  // namespace qkv::text::jinja
