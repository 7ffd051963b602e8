#include <algorithm>
#include <array>

#include "text/chat_template/filters.h"
#include "text/chat_template/globals.h"
#include "text/chat_template/methods.h"
#include "text/chat_template/operators.h"
#include "text/chat_template/renderer.h"

namespace qkv::text::jinja {
namespace {

constexpr std::array<std::string_view, 5> kGlobals = {"range", "dict", "namespace", "raise_exception", "strftime_now"};

bool holds(Budget& budget, const std::string& operation, const Value& a, const Value& b) {
  if (operation == "==") return equal(budget, a, b);
  if (operation == "!=") return !equal(budget, a, b);
  if (operation == "<") return less(budget, a, b);
  if (operation == ">") return less(budget, b, a);
  if (operation == "<=") return !less(budget, b, a);
  if (operation == ">=") return !less(budget, a, b);
  return contains(budget, b, a) == (operation == "in");
}

std::tm local_time() {
  const std::time_t seconds = std::time(nullptr);
  std::tm time{};
  localtime_r(&seconds, &time);
  return time;
}

}  // namespace

Value Renderer::evaluate(const Expression& expression) {
  const InnerCall inner(*this);
  line_ = expression.line;
  return evaluate_kind(expression);
}

Value Renderer::evaluate_or_none(const ExpressionPtr& expression) {
  return expression ? evaluate(*expression) : none();
}

std::vector<Value> Renderer::evaluate_all(const std::vector<ExpressionPtr>& parts) {
  std::vector<Value> values;
  values.reserve(parts.size());
  for (const ExpressionPtr& part : parts) values.push_back(evaluate(*part));
  return values;
}

Value Renderer::evaluate_kind(const Expression& expression) {
  const std::vector<ExpressionPtr>& parts = expression.parts;
  switch (expression.kind) {
    case ExpressionKind::constant:
      return expression.value;
    case ExpressionKind::name:
      return look_up(expression.name);
    case ExpressionKind::list:
      return list_of(*budget_, evaluate_all(parts));
    case ExpressionKind::tuple:
      return list_of(*budget_, evaluate_all(parts), ListKind::tuple);
    case ExpressionKind::dict:
      return dict(expression);
    case ExpressionKind::unary:
      return unary(expression);
    case ExpressionKind::binary: {
      const Value left = evaluate(*parts[0]);
      const Value right = evaluate(*parts[1]);
      line_ = expression.line;
      return arithmetic(*budget_, expression.name, left, right);
    }
    case ExpressionKind::concat:
      return concat(expression);
    case ExpressionKind::compare:
      return comparison(expression);
    case ExpressionKind::both: {
      Value left = evaluate(*parts[0]);
      return is_true(left) ? evaluate(*parts[1]) : left;
    }
    case ExpressionKind::either: {
      Value left = evaluate(*parts[0]);
      return is_true(left) ? left : evaluate(*parts[1]);
    }
    case ExpressionKind::conditional:
      return conditional(expression);
    case ExpressionKind::attribute:
      return member(*budget_, evaluate(*parts[0]), expression.name);
    case ExpressionKind::item: {
      const Value value = evaluate(*parts[0]);
      return item(*budget_, value, evaluate(*parts[1]));
    }
    case ExpressionKind::slice: {
      const Value value = evaluate(*parts[0]);
      const Value start = evaluate_or_none(parts[1]);
      const Value stop = evaluate_or_none(parts[2]);
      return slice(*budget_, value, start, stop, evaluate_or_none(parts[3]));
    }
    case ExpressionKind::call:
      return call(expression, nullptr);
    case ExpressionKind::filter: {
      const Value value = parts[0] ? evaluate(*parts[0]) : filter_input_;
      const Arguments given = arguments(expression.arguments);
      line_ = expression.line;
      return filtered(*budget_, expression.name, value, given);
    }
    case ExpressionKind::test: {
      const Value value = evaluate(*parts[0]);
      return boolean(is_so(*budget_, expression.name, value, arguments(expression.arguments)));
    }
  }
  return none();
}

Value Renderer::look_up(const std::string& name) {
  for (const Scope* scope = scope_.get(); scope != nullptr; scope = scope->parent.get()) {
    constexpr std::size_t kNamesPerStep = 8;
    budget_->step(scope->names.size() / kNamesPerStep);
    const auto found = std::ranges::find(scope->names, name, &std::pair<std::string, Value>::first);
    if (found != scope->names.end()) return found->second;
  }
  if (std::ranges::find(kGlobals, name) == kGlobals.end()) return undefined("'" + name + "' is undefined");
  budget_->make(sizeof(Callable));
  return {std::make_shared<const Callable>(Callable{Callable::Kind::global, name})};
}

Value Renderer::dict(const Expression& expression) {
  std::vector<std::pair<Value, Value>> entries;
  for (std::size_t n = 0; n + 1 < expression.parts.size(); n += 2) {
    const Value key = evaluate(*expression.parts[n]);
    jinja::set(*budget_, entries, key, evaluate(*expression.parts[n + 1]));
  }
  return dict_of(*budget_, std::move(entries));
}

Value Renderer::unary(const Expression& expression) {
  const Value value = evaluate(*expression.parts[0]);
  return expression.name == "not" ? boolean(!is_true(value)) : with_sign(expression.name, value);
}

Value Renderer::concat(const Expression& expression) {
  MarkedText text;
  for (const ExpressionPtr& part : expression.parts) {
    const MarkedText one = printed(*budget_, evaluate(*part));
    budget_->make(one.size());
    text.append(one);
  }
  return marked_text(*budget_, std::move(text));
}

Value Renderer::comparison(const Expression& expression) {
  Value left = evaluate(*expression.parts[0]);
  for (std::size_t n = 0; n < expression.names.size(); ++n) {
    Value right = evaluate(*expression.parts[n + 1]);
    line_ = expression.line;
    if (!holds(*budget_, expression.names[n], left, right)) return boolean(false);
    left = std::move(right);
  }
  return boolean(true);
}

Value Renderer::conditional(const Expression& expression) {
  if (is_true(evaluate(*expression.parts[0]))) return evaluate(*expression.parts[1]);
  if (expression.parts[2]) return evaluate(*expression.parts[2]);
  return undefined("an if without an else gave no value");
}

Value Renderer::through_filters(const Expression& filters, const Value& input) {
  Value before = std::exchange(filter_input_, input);
  Value result = evaluate(filters);
  filter_input_ = std::move(before);
  return result;
}

Arguments Renderer::arguments(const std::vector<Argument>& given) {
  Arguments all;
  for (const Argument& argument : given) {
    if (argument.name.empty()) {
      all.by_place.push_back(evaluate(*argument.value));
    } else {
      all.by_name.emplace_back(argument.name, evaluate(*argument.value));
    }
  }
  return all;
}

Value Renderer::call(const Expression& expression, const Value* caller) {
  const Value function = evaluate(*expression.parts[0]);
  Arguments given = arguments(expression.arguments);
  line_ = expression.line;
  if (caller != nullptr) given.by_name.emplace_back("caller", *caller);
  const Callable* callable = function.callable();
  if (callable == nullptr) {
    const auto* none = function.get<Undefined>();
    throw Fault("expected a function to call, " + (none != nullptr ? "but " + none->why : "got " + kind_of(function)));
  }
  switch (callable->kind) {
    case Callable::Kind::macro:
      return call_macro(*callable, given);
    case Callable::Kind::method:
      return call_method(*budget_, callable->self, callable->name, given);
    case Callable::Kind::global:
      break;
  }
  return call_global(callable->name, given);
}

Value Renderer::call_global(const std::string& name, const Arguments& given) {
  if (name == "range") return range(*budget_, given);
  if (name == "dict") return new_dict(*budget_, given);
  if (name == "namespace") return new_namespace(given);
  if (name == "raise_exception") {
    const Bound bound(name, given, {"message"});
    throw Fault("the template refuses this conversation: " + printed(*budget_, bound.need(0)).bytes());
  }
  const Bound bound(name, given, {"format"});
  return plain_text(*budget_, date_text(now_ ? *now_ : local_time(), bound.text(0).bytes()));
}

Value Renderer::new_namespace(const Arguments& given) {
  const Value start = new_dict(*budget_, given);
  auto made = std::make_shared<Namespace>();
  for (const auto& [key, value] : start.dict()->entries) {
    if (key.text() != nullptr) made->entries.emplace_back(key.text()->bytes(), value);
  }
  namespaces_.push_back(made);
  return {made};
}

Value Renderer::call_macro(const Callable& callable, const Arguments& given) {
  const Statement& macro = *callable.macro;
  std::shared_ptr<Scope> home = callable.scope.lock();
  if (!home) throw Fault("expected the macro '" + callable.name + "' where it is defined: its scope has ended");
  const std::size_t count = macro.names.size() - 1;
  if (given.by_place.size() > count) {
    throw Fault("macro '" + callable.name + "': expected at most " + std::to_string(count) + " arguments, got " +
                std::to_string(given.by_place.size()));
  }
  const InnerScope scope(*this, std::move(home));
  std::size_t named = 0;
  const auto by_name = [&](const std::string& name) -> const Value* {
    const auto found = std::ranges::find(given.by_name, name, &std::pair<std::string, Value>::first);
    if (found == given.by_name.end()) return nullptr;
    ++named;
    return &found->second;
  };
  for (std::size_t n = 0; n < count; ++n) {
    const std::string& name = macro.names[n + 1];
    const Value* value = n < given.by_place.size() ? &given.by_place[n] : by_name(name);
    const ExpressionPtr& otherwise = macro.expressions[n];
    set(name, value != nullptr ? *value
              : otherwise      ? evaluate(*otherwise)
                               : undefined("parameter '" + name + "' was not given"));
  }
  if (const Value* caller = by_name("caller")) set("caller", *caller);
  if (named != given.by_name.size()) {
    throw Fault("macro '" + callable.name + "': expected arguments by the names of its parameters, got others");
  }
  return marked_text(*budget_, printed_by(macro.bodies[0]));
}

}  // namespace qkv::text::jinja
