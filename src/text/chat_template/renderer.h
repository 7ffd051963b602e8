// Runs a template's tree.
#pragma once

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "text/chat_template/arguments.h"
#include "text/chat_template/tree.h"

namespace qkv::text::jinja {

struct Scope {
  std::shared_ptr<Scope> parent;
  std::vector<std::pair<std::string, Value>> names;
};

class Renderer {
 public:
  /// `names`: the variables of the template. Of `now`, nullopt is the time of the call of strftime_now().
  Renderer(Budget& budget, std::vector<std::pair<std::string, Value>> names, std::optional<std::tm> now);
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;
  Renderer(Renderer&&) = delete;
  Renderer& operator=(Renderer&&) = delete;

  /// Throws Fault; line() then says where.
  [[nodiscard]] MarkedText run(const Body& body);
  [[nodiscard]] std::uint32_t line() const noexcept { return line_; }

 private:
  enum class Flow : unsigned char { on, leave, next };

  // evaluate.cc
  Value evaluate(const Expression& expression);
  Value evaluate_kind(const Expression& expression);
  Value evaluate_or_none(const ExpressionPtr& expression);
  std::vector<Value> evaluate_all(const std::vector<ExpressionPtr>& parts);
  Value dict(const Expression& expression);
  Value unary(const Expression& expression);
  Value concat(const Expression& expression);
  Value comparison(const Expression& expression);
  Value conditional(const Expression& expression);
  Value look_up(const std::string& name);
  Arguments arguments(const std::vector<Argument>& given);
  Value call(const Expression& expression, const Value* caller);
  Value call_global(const std::string& name, const Arguments& arguments);
  Value call_macro(const Callable& callable, const Arguments& arguments);
  Value new_namespace(const Arguments& arguments);
  // `input` stands for the missing value at the inner end of a chain of filters.
  Value through_filters(const Expression& filters, const Value& input);

  // execute.cc
  Flow execute(const Body& body);
  Flow execute(const Statement& statement);
  Flow choice(const Statement& statement);
  Flow loop(const Statement& statement);
  std::vector<Value> loop_items(const Statement& statement);
  void assign(const std::vector<std::string>& names, const Value& value);
  void set(const std::string& name, const Value& value);
  void set_member(const Statement& statement);
  Flow with(const Statement& statement);
  void call_block(const Statement& statement);
  Value macro_of(const Statement& statement);
  // What a body prints, in a scope of its own.
  MarkedText printed_by(const Body& body);
  void print(const MarkedText& text);

  friend class InnerScope;
  friend class InnerCall;

  Budget* budget_;
  std::optional<std::tm> now_;
  std::shared_ptr<Scope> scope_;
  std::vector<std::shared_ptr<Namespace>> namespaces_;  // emptied at the end: they may hold themselves
  MarkedText* out_ = nullptr;
  std::size_t depth_ = 0;
  Value filter_input_;
  std::uint32_t line_ = 1;
};

/// A scope within the renderer's, or within another one, while it lives.
class InnerScope {
 public:
  explicit InnerScope(Renderer& renderer) : InnerScope(renderer, renderer.scope_) {}
  InnerScope(Renderer& renderer, std::shared_ptr<Scope> parent)
      : renderer_(&renderer), before_(std::move(renderer.scope_)) {
    renderer.scope_ = std::make_shared<Scope>(Scope{std::move(parent), {}});
  }
  InnerScope(const InnerScope&) = delete;
  InnerScope& operator=(const InnerScope&) = delete;
  InnerScope(InnerScope&&) = delete;
  InnerScope& operator=(InnerScope&&) = delete;
  ~InnerScope() { renderer_->scope_ = std::move(before_); }

 private:
  Renderer* renderer_;
  std::shared_ptr<Scope> before_;
};

/// A call of the renderer within others of it. Throws Fault if it is kDeepestCall deep.
class InnerCall {
 public:
  explicit InnerCall(Renderer& renderer) : renderer_(&renderer) {
    if (renderer.depth_ == kDeepestCall) throw Fault("expected calls that are not deeply nested");
    ++renderer.depth_;
    renderer.budget_->step();
  }
  InnerCall(const InnerCall&) = delete;
  InnerCall& operator=(const InnerCall&) = delete;
  InnerCall(InnerCall&&) = delete;
  InnerCall& operator=(InnerCall&&) = delete;
  ~InnerCall() { --renderer_->depth_; }

 private:
  Renderer* renderer_;
};

}  // namespace qkv::text::jinja
