#include "course/diagrams.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace qkv::worked {
namespace {

constexpr double kCell = 30;
constexpr double kRow = 22;
constexpr double kLine = 14;

std::string pair_text(const Vector2& a) { return fmt::format("({:g}, {:g})", a[0], a[1]); }

/// Coordinates with y upwards, on paper.
class Plane {
 public:
  Plane(Spot corner, double scale, Vector2 low, Vector2 high)
      : corner_(corner), scale_(scale), low_(low), high_(high) {}

  [[nodiscard]] Spot at(const Vector2& point) const {
    return {corner_.x + (point[0] - low_[0]) * scale_, corner_.y + (high_[1] - point[1]) * scale_};
  }
  [[nodiscard]] double width() const { return (high_[0] - low_[0]) * scale_; }
  [[nodiscard]] double height() const { return (high_[1] - low_[1]) * scale_; }

  void draw_axes(Diagram& diagram) const {
    diagram.strokes.push_back({{at({low_[0], 0}), at({high_[0], 0})}, Ink::soft});
    diagram.strokes.push_back({{at({0, low_[1]}), at({0, high_[1]})}, Ink::soft});
  }
  void draw_arrow(Diagram& diagram, const Vector2& from, const Vector2& to, Ink ink) const {
    diagram.strokes.push_back({{at(from), at(to)}, ink, Stroke::Kind::arrow});
  }
  // Beyond the tip, away from the origin.
  void name(Diagram& diagram, const Vector2& point, const std::string& text, Ink ink) const {
    const Spot spot = at(point);
    const bool is_left = point[0] < 0;
    diagram.captions.push_back({{spot.x + (is_left ? -5 : 5), spot.y + (point[1] < 0 ? 10 : -3)},
                                text,
                                ink,
                                is_left ? Caption::Align::right : Caption::Align::left});
  }
  // From one direction to the other, the short way.
  void draw_angle(Diagram& diagram, const Vector2& from, const Vector2& to, double radius) const {
    constexpr int kSteps = 24;
    const double begin = std::atan2(from[1], from[0]);
    const double turn = std::remainder(std::atan2(to[1], to[0]) - begin, 2 * std::numbers::pi);
    Stroke arc{{}, Ink::accent};
    for (int i = 0; i <= kSteps; ++i) {
      const double angle = begin + turn * i / kSteps;
      arc.through.push_back(at({radius * std::cos(angle), radius * std::sin(angle)}));
    }
    diagram.strokes.push_back(std::move(arc));
  }

 private:
  Spot corner_;
  double scale_;
  Vector2 low_;
  Vector2 high_;
};

double degrees(const Vector2& a, const Vector2& b) {
  return std::acos(std::clamp(cosine(a, b), -1.0, 1.0)) * 180 / std::numbers::pi;
}

struct Matrix {
  Spot corner;
  std::string name;
  std::string shape;
};

void draw_matrix(Diagram& diagram, const Matrix& place, const TensorView& values,
                 const std::function<Box(std::int64_t, std::int64_t)>& look) {
  diagram.captions.push_back({{place.corner.x, place.corner.y - 5}, place.name + "  " + place.shape});
  for (std::int64_t i = 0; i < values.dim(0); ++i) {
    for (std::int64_t j = 0; j < values.dim(1); ++j) {
      Box box = look(i, j);
      box.corner = {place.corner.x + static_cast<double>(j) * kCell, place.corner.y + static_cast<double>(i) * kRow};
      box.width = kCell;
      box.height = kRow;
      box.text = fmt::format("{:g}", values.at({i, j}));
      diagram.boxes.push_back(std::move(box));
    }
  }
}

Box marked(bool is_marked, Ink ink, Box::Fill fill = Box::Fill::faint) {
  Box box;
  box.ink = ink;
  box.fill = is_marked ? fill : Box::Fill::none;
  return box;
}

}  // namespace

double dot(const Vector2& a, const Vector2& b) { return a[0] * b[0] + a[1] * b[1]; }
double length(const Vector2& a) { return std::sqrt(dot(a, a)); }
double cosine(const Vector2& a, const Vector2& b) { return dot(a, b) / (length(a) * length(b)); }

Diagram dot_product_diagram(const Vector2& q, const Vector2& k) {
  Diagram diagram;
  const double shadow = dot(q, k) / length(q);
  const Vector2 foot = {q[0] * shadow / length(q), q[1] * shadow / length(q)};
  const double reach = std::max(length(q), length(k)) + 0.7;
  const Plane plane({0, 0}, 70, {-0.3, -0.3}, {reach, reach});
  diagram.title = "A dot product: the shadow of k on q, times the length of q";
  diagram.text = fmt::format(
      "q = {} and k = {}: q · k = {:g} · {:g} + {:g} · {:g} = {:g}. The shadow of k on q is {:.3f} long and q is "
      "{:.3f} "
      "long; their product is the same.",
      pair_text(q), pair_text(k), q[0], k[0], q[1], k[1], dot(q, k), shadow, length(q));
  plane.draw_axes(diagram);
  diagram.strokes.push_back({{plane.at(k), plane.at(foot)}, Ink::soft, Stroke::Kind::dashes});
  plane.draw_arrow(diagram, {0, 0}, q, Ink::query);
  plane.draw_arrow(diagram, {0, 0}, k, Ink::key);
  const double aside = 0.09;  // beside q, so that both can be seen
  const Vector2 across = {q[1] / length(q) * aside, -q[0] / length(q) * aside};
  diagram.strokes.push_back({{plane.at(across), plane.at({foot[0] + across[0], foot[1] + across[1]})}, Ink::accent});
  plane.draw_angle(diagram, q, k, 0.5);
  plane.name(diagram, q, "q = " + pair_text(q), Ink::query);
  plane.name(diagram, k, "k = " + pair_text(k), Ink::key);
  const Spot under = plane.at({foot[0] / 2 + 2.2 * across[0], foot[1] / 2 + 2.2 * across[1]});
  diagram.captions.push_back({{under.x, under.y + 6}, fmt::format("shadow {:.3f}", shadow), Ink::accent});
  const double below = plane.height() + kLine;
  diagram.captions.push_back(
      {{0, below}, fmt::format("q · k = {:g}·{:g} + {:g}·{:g} = {:g}", q[0], k[0], q[1], k[1], dot(q, k))});
  diagram.captions.push_back({{0, below + kLine},
                              fmt::format("|q| |k| cos θ = {:.3f} · {:.3f} · {:.3f} = {:g}, with θ = {:.1f}°",
                                          length(q), length(k), cosine(q, k), dot(q, k), degrees(q, k))});
  diagram.width = std::max(plane.width() + 40, 290.0);
  diagram.height = below + kLine + 6;
  return diagram;
}

Diagram angle_diagram(const Vector2& q, const std::vector<Vector2>& keys) {
  constexpr double kScale = 34;
  constexpr double kApart = 24;
  double reach = length(q);
  for (const Vector2& k : keys) reach = std::max(reach, length(k));
  reach += 0.5;
  Diagram diagram;
  diagram.title = "The angle between a query and a key";
  diagram.text = fmt::format("The query {} beside", pair_text(q));
  double left = 0;
  double height = 0;
  for (const Vector2& k : keys) {
    const Plane plane({left, 0}, kScale, {-reach, -reach}, {reach, reach});
    plane.draw_axes(diagram);
    plane.draw_arrow(diagram, {0, 0}, q, Ink::query);
    plane.draw_arrow(diagram, {0, 0}, k, Ink::key);
    plane.draw_angle(diagram, q, k, 0.6);
    plane.name(diagram, q, "q", Ink::query);
    plane.name(diagram, k, "k", Ink::key);
    height = plane.height() + kLine;
    diagram.captions.push_back({{left, height}, fmt::format("k = {}, q · k = {:g}", pair_text(k), dot(q, k))});
    diagram.captions.push_back(
        {{left, height + kLine}, fmt::format("θ = {:.1f}°, cos θ = {:.3f}", degrees(q, k), cosine(q, k)), Ink::soft});
    diagram.text +=
        fmt::format("{} {}: {:.1f} degrees, q · k = {:g}", left > 0 ? ";" : "", pair_text(k), degrees(q, k), dot(q, k));
    left += plane.width() + kApart;
  }
  diagram.text += '.';
  diagram.width = left - kApart;
  diagram.height = height + kLine + 6;
  return diagram;
}

Diagram product_diagram(const TensorView& q, const TensorView& k, std::int64_t i, std::int64_t j) {
  Diagram diagram;
  const Tensor turned(k.transpose(0, 1));
  Tensor scores(DType::f64, {q.dim(0), k.dim(0)});
  for (std::int64_t row = 0; row < q.dim(0); ++row) {
    for (std::int64_t column = 0; column < k.dim(0); ++column) {
      double sum = 0;
      for (std::int64_t d = 0; d < q.dim(1); ++d) sum += q.at({row, d}) * k.at({column, d});
      scores.set({row, column}, sum);
    }
  }
  std::string sum;
  for (std::int64_t d = 0; d < q.dim(1); ++d) {
    sum += fmt::format("{}{:g}·{:g}", d == 0 ? "" : " + ", q.at({i, d}), k.at({j, d}));
  }
  const double left = static_cast<double>(q.dim(1)) * kCell + 40;
  const double top = static_cast<double>(turned.dim(0)) * kRow + 2 * kLine + 20;
  draw_matrix(diagram, {{left, kLine}, "Kᵀ", fmt::format("[{}, {}]", turned.dim(0), turned.dim(1))}, turned,
              [&](std::int64_t, std::int64_t column) { return marked(column == j, Ink::key); });
  draw_matrix(diagram, {{0, top}, "Q", fmt::format("[{}, {}]", q.dim(0), q.dim(1))}, q,
              [&](std::int64_t row, std::int64_t) { return marked(row == i, Ink::query); });
  draw_matrix(diagram, {{left, top}, "S = Q Kᵀ", fmt::format("[{}, {}]", scores.dim(0), scores.dim(1))}, scores,
              [&](std::int64_t row, std::int64_t column) {
                return marked(row == i && column == j, Ink::accent, Box::Fill::strong);
              });
  const double below = top + static_cast<double>(scores.dim(0)) * kRow + kLine + 4;
  const std::string line = fmt::format("row {} of Q meets column {} of Kᵀ: {} = {:g}", i, j, sum, scores.at({i, j}));
  diagram.captions.push_back({{0, below}, line});
  diagram.title = "A matrix product: every row meets every column";
  diagram.text =
      fmt::format("Of Q Kᵀ, {}. Each of the {} scores is such a sum of {} terms.", line, scores.size(), q.dim(1));
  diagram.width = std::max(left + static_cast<double>(scores.dim(1)) * kCell, 260.0);
  diagram.height = below + 6;
  return diagram;
}

Diagram convex_diagram(const TensorView& values, const std::vector<double>& weights) {
  constexpr std::array kNames = {"v₁", "v₂", "v₃"};
  Diagram diagram;
  Vector2 high = {0, 0};
  Stroke hull{{}, Ink::value, Stroke::Kind::area};
  std::vector<Vector2> corners;
  for (std::int64_t j = 0; j < 3; ++j) {
    corners.push_back({values.at({j, 0}), values.at({j, 1})});
    for (std::size_t axis = 0; axis < 2; ++axis) high[axis] = std::max(high[axis], corners.back()[axis]);
  }
  const Plane plane({0, 0}, 260 / std::max(high[0], high[1]), {0, 0}, {high[0] * 1.15, high[1] * 1.1});
  for (const Vector2& corner : corners) hull.through.push_back(plane.at(corner));
  plane.draw_axes(diagram);
  diagram.strokes.push_back(std::move(hull));
  Vector2 y = {0, 0};
  std::string sum;
  for (std::size_t j = 0; j < 3; ++j) {
    const Vector2 next = {y[0] + weights[j] * corners[j][0], y[1] + weights[j] * corners[j][1]};
    plane.draw_arrow(diagram, y, next, Ink::accent);
    const bool is_inner = corners[j][0] > 0 && corners[j][1] > 0;  // its name would lie on the triangle
    const Spot corner = plane.at(corners[j]);
    diagram.captions.push_back({{corner.x + (is_inner ? -6 : 5), corner.y + (is_inner ? 12 : -3)},
                                fmt::format("{} = {}", kNames.at(j), pair_text(corners[j])),
                                Ink::value,
                                is_inner ? Caption::Align::right : Caption::Align::left});
    sum += fmt::format("{}{:.3f} {}", j == 0 ? "" : " + ", weights[j], kNames.at(j));
    y = next;
  }
  const std::string result = fmt::format("y = {} = ({:.3f}, {:.3f})", sum, y[0], y[1]);
  const Spot tip = plane.at(y);
  diagram.captions.push_back({{tip.x + 9, tip.y + 12}, "y", Ink::accent});
  diagram.captions.push_back({{0, plane.height() + 2 * kLine}, result});
  diagram.title = "A convex combination stays among the values";
  diagram.text = result + ": the shares, put tip to tail from the origin, end inside the triangle of the values.";
  diagram.width = plane.width() + 60;
  diagram.height = plane.height() + 2 * kLine + 6;
  return diagram;
}

Diagram heads_diagram(std::int64_t tokens, std::int64_t heads, std::int64_t width) {
  constexpr std::array kInks = {Ink::query, Ink::value, Ink::key, Ink::accent};
  constexpr double kApart = 34;
  constexpr double kBetween = 8;
  Diagram diagram;
  const auto ink_of = [&](std::int64_t place) {
    return kInks.at(static_cast<std::size_t>(place / width % heads) % kInks.size());
  };
  const auto draw = [&](Spot corner, std::int64_t place) {
    diagram.boxes.push_back({corner, kCell, kRow, fmt::format("{}", place), ink_of(place), Box::Fill::faint});
  };
  const std::int64_t row = heads * width;
  double left = 0;
  const auto title = [&](const std::string& text, const std::string& more) {
    diagram.captions.push_back({{left, 10}, text});
    diagram.captions.push_back({{left, 10 + kLine}, more, Ink::soft});
  };
  const double top = 10 + 2 * kLine;
  title(fmt::format("X W: [{}, {}]", tokens, row), "a row a token");
  for (std::int64_t place = 0; place < tokens * row; ++place) {
    const std::int64_t token = place / row;
    draw({left + static_cast<double>(place % row) * kCell, top + static_cast<double>(token) * kRow}, place);
  }
  left += static_cast<double>(row) * kCell + kApart;
  title(fmt::format("view: [{}, {}, {}]", tokens, heads, width), "no number moves");
  for (std::int64_t place = 0; place < tokens * row; ++place) {
    const std::int64_t token = place / row;
    const std::int64_t head = place % row / width;
    const double gap = static_cast<double>(head) * kBetween;
    draw({left + static_cast<double>(place % row) * kCell + gap, top + static_cast<double>(token) * kRow}, place);
  }
  left += static_cast<double>(row) * kCell + static_cast<double>(heads - 1) * kBetween + kApart;
  const auto draw_by_head = [&](const auto& place_of) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t t = 0; t < tokens; ++t) {
        for (std::int64_t d = 0; d < width; ++d) {
          const double down = static_cast<double>(h) * (static_cast<double>(tokens) * kRow + kBetween);
          draw({left + static_cast<double>(d) * kCell, top + down + static_cast<double>(t) * kRow}, place_of(h, t, d));
        }
      }
    }
  };
  title(fmt::format("transpose: [{}, {}, {}]", heads, tokens, width), "a matrix a head");
  draw_by_head([&](std::int64_t h, std::int64_t t, std::int64_t d) { return t * row + h * width + d; });
  left += std::max(static_cast<double>(width) * kCell, 90.0) + kApart;
  title(fmt::format("wrong: [{}, {}, {}]", heads, tokens, width), "reshaped straight");
  draw_by_head([&](std::int64_t h, std::int64_t t, std::int64_t d) { return (h * tokens + t) * width + d; });
  diagram.title = "The reshape into heads";
  diagram.text = fmt::format(
      "[{0}, {1}] seen as [{0}, {2}, {3}] and transposed to [{2}, {0}, {3}]: head h gets columns {3}h to {3}h + {4} of "
      "every token. Reshaped straight to [{2}, {0}, {3}], head 0 gets the first {5} tokens whole.",
      tokens, row, heads, width, width - 1, tokens / heads);
  diagram.width = left + std::max(static_cast<double>(width) * kCell, 90.0);
  diagram.height = top + static_cast<double>(heads) * (static_cast<double>(tokens) * kRow + kBetween);
  return diagram;
}

}  // namespace qkv::worked
