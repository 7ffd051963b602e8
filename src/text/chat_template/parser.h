// A recursive descent over tokens. Jinja's grammar, without templates that extend or include others.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "text/chat_template/token.h"
#include "text/chat_template/tree.h"

namespace qkv::text::jinja {

/// The tree of a template. Throws Fault, with its line in front.
[[nodiscard]] Body parse(std::vector<Token> tokens);

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)), budget_(0, tokens_.size()) {}

  /// Statements up to a block that begins with one of these words, which is read; up to the end if there are none.
  Body body(std::initializer_list<std::string_view> ends);

 private:
  // parse_expression.cc
  ExpressionPtr expression();         // with commas: a tuple
  ExpressionPtr one_expression();     // a if b else c
  ExpressionPtr without_condition();  // the same without its if, for the items of a for
  ExpressionPtr from_left(ExpressionPtr (Parser::*part)(), ExpressionKind kind,
                          std::initializer_list<std::string_view> operators);
  ExpressionPtr either();
  ExpressionPtr both();
  ExpressionPtr negation();
  ExpressionPtr comparison();
  ExpressionPtr sum();
  ExpressionPtr concatenation();
  ExpressionPtr product();
  ExpressionPtr power();
  ExpressionPtr operand();
  enum class Filters : unsigned char { with, without };
  ExpressionPtr unary(Filters filters);
  ExpressionPtr primary();
  ExpressionPtr name_or_word();
  ExpressionPtr number();
  ExpressionPtr tuple_in_brackets();
  ExpressionPtr list();
  ExpressionPtr dict();
  ExpressionPtr postfix(ExpressionPtr node);
  ExpressionPtr filters_and_tests(ExpressionPtr node);
  ExpressionPtr filter(ExpressionPtr node);
  ExpressionPtr test(ExpressionPtr node);
  ExpressionPtr call(ExpressionPtr node);
  ExpressionPtr subscript(ExpressionPtr node);
  std::vector<Argument> arguments();
  ExpressionPtr block_filters();

  // parse_statement.cc
  void statement(Body& out);
  Statement block(const std::string& word);
  void choice(Statement& out);
  void loop(Statement& out);
  void set(Statement& out);
  void macro(Statement& out);
  void call_block(Statement& out);
  void filter_block(Statement& out);
  void with(Statement& out);
  void parameters(Statement& macro);
  std::vector<std::string> targets();
  void end_block();

  // parser.cc
  [[nodiscard]] const Token& now() const { return tokens_[at_]; }
  [[nodiscard]] const Token& next() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  [[nodiscard]] bool is_mark(std::string_view mark) const;
  [[nodiscard]] bool is_word(std::string_view word) const;
  bool skip_mark(std::string_view mark);
  bool skip_word(std::string_view word);
  void expect_mark(std::string_view mark);
  std::string expect_name(std::string_view what);
  [[noreturn]] void fail(const std::string& expected) const;
  [[nodiscard]] std::unique_ptr<Expression> node(ExpressionKind kind, std::string name = "") const;
  // The node, with its depth counted.
  [[nodiscard]] ExpressionPtr done(std::unique_ptr<Expression> node) const;

  // How deep a call is within others of the parser.
  class Depth {
   public:
    explicit Depth(Parser& parser);
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    Depth(Depth&&) = delete;
    Depth& operator=(Depth&&) = delete;
    ~Depth() { --parser_->depth_; }

   private:
    Parser* parser_;
  };

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t loops_ = 0;
  Budget budget_;
};

}  // namespace qkv::text::jinja
