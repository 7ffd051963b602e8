#include "qkv/api/saying.h"

#include <utility>

namespace qkv {
namespace {

thread_local const HearsCautions::Hear* hearer_of_thread = nullptr;

}  // namespace

void Saying::careful(const std::string& what) const {
  if (caution) return caution(what);
  if (hearer_of_thread != nullptr) (*hearer_of_thread)(what);
}

bool Saying::is_heard() const noexcept { return caution != nullptr || hearer_of_thread != nullptr; }

HearsCautions::HearsCautions(Hear hear) : hear_(std::move(hear)), outer_(hearer_of_thread) {
  hearer_of_thread = &hear_;
}

HearsCautions::~HearsCautions() { hearer_of_thread = outer_; }

}  // namespace qkv
