#include "hub/transfer.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <mutex>

#include "qkv/info.h"

namespace qkv::hub {
namespace {

constexpr long kConnect = 30;  // seconds
constexpr long kStall = 60;    // seconds without a byte
constexpr long kRedirections = 10;
constexpr long kPartial = 206;
constexpr long kUnauthorised = 401;
constexpr long kForbidden = 403;
constexpr long kMissing = 404;
constexpr long kBusy = 429;
constexpr long kServerErrors = 500;

struct Call {
  CURL* handle;
  const Receiver& receive;
  const Waiter& wait;
  std::int64_t begin;
  bool has_begun = false;
  bool is_stopped = false;
};

long status_of(CURL* handle) {
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

// The body of a refusal is not part of the file.
std::size_t take(char* bytes, std::size_t one, std::size_t count, void* from) {
  auto& call = *static_cast<Call*>(from);
  const long status = status_of(call.handle);
  if (status >= 300) return one * count;
  const bool is_restarted = !call.has_begun && call.begin > 0 && status != kPartial;
  call.has_begun = true;
  if (call.receive(std::as_bytes(std::span(bytes, one * count)), is_restarted)) return one * count;
  call.is_stopped = true;
  return 0;
}

int go_on(void* from, curl_off_t /*all*/, curl_off_t /*done*/, curl_off_t /*to_send*/, curl_off_t /*sent*/) {
  auto& call = *static_cast<Call*>(from);
  if (call.wait()) return 0;
  call.is_stopped = true;
  return 1;
}

Outcome outcome_of(CURLcode code, long status) {
  if (status == kBusy || status >= kServerErrors) return Outcome::failed;
  if (status >= 300) return Outcome::refused;
  switch (code) {
    case CURLE_OK:
      return Outcome::done;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_PEER_FAILED_VERIFICATION:
      return Outcome::refused;
    default:
      return Outcome::failed;
  }
}

std::string said_of_status(long status) {
  switch (status) {
    case kUnauthorised:
    case kForbidden:
      return fmt::format("the hub answers {}: there is no such model, or it asks for a token (HF_TOKEN)", status);
    case kMissing:
      return "the hub has no such model, revision or file (404)";
    default:
      return fmt::format("the hub answers {}", status);
  }
}

void begin_once() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

}  // namespace

Answer get(const std::string& url, const std::string& token, std::int64_t begin, const Receiver& receive,
           const Waiter& wait) {
  begin_once();
  const std::unique_ptr<CURL, void (*)(CURL*)> handle(curl_easy_init(), curl_easy_cleanup);
  if (handle == nullptr) throw Error("curl cannot be set up");
  Call call{.handle = handle.get(), .receive = receive, .wait = wait, .begin = begin};
  std::array<char, CURL_ERROR_SIZE> error{};
  const std::string agent = fmt::format("qkv/{}", build_info().version);
  const auto set = [&](CURLoption option, auto value) { curl_easy_setopt(handle.get(), option, value); };
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_USERAGENT, agent.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 1L);
  set(CURLOPT_MAXREDIRS, kRedirections);
  set(CURLOPT_CONNECTTIMEOUT, kConnect);
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME, kStall);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_ERRORBUFFER, error.data());
  set(CURLOPT_WRITEFUNCTION, &take);
  set(CURLOPT_WRITEDATA, &call);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, &go_on);
  set(CURLOPT_XFERINFODATA, &call);
  // Not as CURLOPT_RESUME_FROM, which fails where the server sends the whole.
  const std::string range = std::to_string(begin) + "-";
  if (begin > 0) set(CURLOPT_RANGE, range.c_str());
  if (!token.empty()) {
    set(CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
    set(CURLOPT_XOAUTH2_BEARER, token.c_str());
  }
  const CURLcode code = curl_easy_perform(handle.get());
  Answer answer{.outcome = outcome_of(code, status_of(handle.get())), .status = status_of(handle.get()), .message = {}};
  if (call.is_stopped) {
    answer.outcome = Outcome::stopped;
  } else if (answer.status >= 300) {
    answer.message = said_of_status(answer.status);
  } else if (code != CURLE_OK) {
    answer.message = error[0] != 0 ? error.data() : curl_easy_strerror(code);
  }
  return answer;
}

}  // namespace qkv::hub
