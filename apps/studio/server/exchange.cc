#include "exchange.h"

#include <httplib.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

namespace qkv::studio {
namespace {

// The library sees no header whose name begins so, "\nrange".
void hide(std::string& bytes, std::string_view name) {
  const auto is_same = [](char a, char b) { return a == b || (a >= 'A' && a <= 'Z' && a + ('a' - 'A') == b); };
  const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(bytes.find("\r\n\r\n"));
  auto at = bytes.begin();
  while ((at = std::search(at, end, name.begin(), name.end(), is_same)) != end) *++at = 'x';
}

// What the library reads and writes: the bytes that came first, then those of the connection. What the client does not
// take at once is kept.
class ArrivalStream final : public httplib::Stream {
 public:
  ArrivalStream(Arrival& arrival, const Service& service)
      : arrival_(arrival), service_(service), end_(Clock::now() + service.limits.body) {
    // Ranges are matched by recursion, and a long header overflows the stack. They are not served.
    hide(arrival_.bytes, "\nrange");
    // Who waited to be told to send its body has been told.
    if (!arrival_.question.empty()) hide(arrival_.bytes, "\nexpect");
  }

  bool is_readable() const override { return true; }
  bool is_writable() const override { return arrival_.connection.is_open(); }

  ssize_t read(char* bytes, std::size_t size) override {
    const std::size_t held = std::min(size, arrival_.bytes.size() - at_);
    if (held > 0) {
      std::copy_n(arrival_.bytes.data() + at_, held, bytes);
      at_ += held;
      return static_cast<ssize_t>(held);
    }
    const std::size_t count = arrival_.connection.read_until(end_, {bytes, size});
    return count > 0 ? static_cast<ssize_t>(count) : -1;
  }

  ssize_t write(const char* bytes, std::size_t size) override {
    return send_on() && send({bytes, size}) ? static_cast<ssize_t>(size) : -1;
  }

  // The library writes them into headers that nobody reads.
  void get_remote_ip_and_port(std::string& /*ip*/, int& port) const override { port = 0; }
  void get_local_ip_and_port(std::string& /*ip*/, int& port) const override { port = 0; }
  socket_t socket() const override { return arrival_.connection.socket(); }

 private:
  // What was kept goes first.
  bool send_on() {
    if (arrival_.unsent.empty()) return true;
    const auto taken = arrival_.connection.write_now(arrival_.unsent);
    if (!taken) return false;
    arrival_.unsent.erase(0, *taken);
    return true;
  }

  bool send(std::string_view bytes) {
    if (arrival_.unsent.empty()) {
      const auto taken = arrival_.connection.write_now(bytes);
      if (!taken) return false;
      bytes.remove_prefix(*taken);
    }
    if (bytes.empty()) return true;
    const bool has_room = arrival_.unsent.size() + bytes.size() <= service_.limits.unsent_of_one;
    if (has_room && service_.unsent != nullptr && service_.unsent->add(arrival_.unsent_share, bytes.size())) {
      arrival_.unsent += bytes;
      return true;
    }
    const bool is_taken = arrival_.connection.write(arrival_.unsent, service_.limits.writing);
    arrival_.unsent.clear();
    return is_taken && arrival_.connection.write(bytes, service_.limits.writing);
  }

  Arrival& arrival_;
  const Service& service_;
  Clock::time_point end_;
  std::size_t at_ = 0;
};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// "gzip;q=0.5" in front of its ";".
std::string_view before_parameters(std::string_view text) { return trimmed(text.substr(0, text.find(';'))); }

bool takes_gzip(const httplib::Request& request) {
  if (!request.has_header("Accept-Encoding")) return true;  // as the standard has it
  const std::string header = request.get_header_value("Accept-Encoding");
  std::string_view left = header;
  while (!left.empty()) {
    const std::string_view one = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), one.size() + 1));
    const std::string_view coding = before_parameters(one);
    if (coding == "gzip" || coding == "*") return !trimmed(one).ends_with(";q=0");
  }
  return false;
}

std::optional<std::size_t> length_of_body(const httplib::Request& request) {
  const std::string text = request.get_header_value("Content-Length");
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && request.get_header_value_count("Content-Length") == 1 ? std::optional(length) : std::nullopt;
}

constexpr int kFine = 200;

int status_of_question(const httplib::Request& request, const ExchangeLimits& limits) {
  if (request.method != "POST") return 405;
  if (request.has_header("Transfer-Encoding") || !request.has_header("Content-Length")) return 411;
  const auto length = length_of_body(request);
  if (!length) return 400;
  if (*length > limits.body_bytes) return 413;
  const bool is_json = before_parameters(request.get_header_value("Content-Type")) == "application/json";
  return is_json && !request.has_header("Content-Encoding") ? kFine : 415;
}

int status_of_page(const httplib::Request& request) {
  if (request.method != "GET" && request.method != "HEAD") return 405;
  return takes_gzip(request) ? kFine : 406;
}

int status_of_request(const httplib::Request& request, const Service& service) {
  const std::string host = request.get_header_value("Host");
  if (request.get_header_value_count("Host") != 1 || !service.access.knows_host(host)) return 403;
  const bool is_foreign = request.has_header("Origin") && (request.get_header_value_count("Origin") != 1 ||
                                                           request.get_header_value("Origin") != "http://" + host);
  if (is_foreign) return 403;
  switch (service.access.route(request.target).place) {
    case Place::nowhere:
      return 404;
    case Place::question:
      return status_of_question(request, service.limits);
    default:
      return status_of_page(request);
  }
}

// A head as the library would read it. Whatever it reads otherwise, it judges itself in the end.
httplib::Request request_of(std::string_view head) {
  const auto line = [&head] {
    const std::size_t end = std::min(head.find("\r\n"), head.size());
    const std::string_view one = head.substr(0, end);
    head.remove_prefix(std::min(head.size(), end + 2));
    return one;
  };
  httplib::Request request;
  const std::string_view first = line();
  const std::size_t method = std::min(first.find(' '), first.size());
  const std::size_t target = std::min(first.rfind(' '), first.size());
  request.method = first.substr(0, method);
  if (target > method) request.target = first.substr(method + 1, target - method - 1);
  for (std::string_view one = line(); !one.empty(); one = line()) {
    const std::size_t colon = one.find(':');
    if (colon == std::string_view::npos) continue;
    request.headers.emplace(std::string(one.substr(0, colon)), std::string(trimmed(one.substr(colon + 1))));
  }
  return request;
}

class Exchange final : public httplib::Server {
 public:
  Exchange(const Service& service, Arrival& arrival) : service_(service), arrival_(arrival) {
    svr_sock_ = arrival.connection.socket();  // otherwise the library takes itself for shut down
    httplib::Headers headers;
    for (const auto& [name, value] : headers_of_all()) headers.emplace(name, value);
    set_default_headers(std::move(headers));
    set_payload_max_length(service.limits.body_bytes);
    set_expect_100_continue_handler([this](const auto& request, auto& response) {
      const int status = status_of(request);
      response.status = status == kFine ? -1 : status;
      return status == kFine ? 100 : status;
    });
    set_pre_routing_handler([this](const auto& request, auto& response) { return begin(request, response); });
    set_exception_handler(
        [](const auto& /*request*/, auto& response, const auto& /*error*/) { response.status = 500; });
    Post(".*", [this](const auto& request, auto& response, const auto& read) { ask(request, response, read); });
  }

  bool run() {
    ArrivalStream stream(arrival_, service_);
    bool closed = false;
    process_request(stream, true, closed, {});
    return has_read_all_;
  }

 private:
  [[nodiscard]] int status_of(const httplib::Request& request) const { return status_of_request(request, service_); }

  HandlerResponse begin(const httplib::Request& request, httplib::Response& response) {
    response.status = status_of(request);
    if (response.status == 405) response.set_header("Allow", "GET, HEAD, POST");
    if (response.status != kFine) return HandlerResponse::Handled;
    const Route route = service_.access.route(request.target);
    if (route.place == Place::question) return HandlerResponse::Unhandled;
    has_read_all_ = !request.has_header("Content-Length") && !request.has_header("Transfer-Encoding");
    if (route.place == Place::page) send(response, service_.pages.page, "text/html; charset=utf-8");
    if (route.place == Place::script) send(response, service_.pages.script, "text/javascript; charset=utf-8");
    if (route.place == Place::style) send(response, service_.pages.style, "text/css; charset=utf-8");
    if (route.place == Place::worker) send(response, service_.pages.worker, "text/javascript; charset=utf-8");
    if (route.place == Place::engine) send_engine(response);
    if (route.place == Place::model) send_model(response, route.name);
    return HandlerResponse::Handled;
  }

  // Given as a whole, the bytes would be compressed again.
  static void send(httplib::Response& response, std::string_view bytes, const char* type) {
    if (bytes.empty()) {
      response.status = 404;
      return;
    }
    response.set_header("Content-Encoding", "gzip");
    response.set_content_provider(bytes.size(), type, [bytes](std::size_t at, std::size_t length, auto& sink) {
      return sink.write(bytes.data() + at, length);
    });
  }

  // A page asks whether there is one: a browser would complain of a page that is not found.
  void send_engine(httplib::Response& response) const {
    if (service_.pages.engine.empty()) {
      response.status = 204;
    } else {
      send(response, service_.pages.engine, "application/wasm");
    }
  }

  void send_model(httplib::Response& response, const std::string& name) const {
    auto bytes = service_.read_model ? service_.read_model(name) : std::vector<std::byte>();
    if (bytes.empty()) {
      response.status = 404;
      return;
    }
    const std::size_t size = bytes.size();
    response.set_content_provider(size, "application/octet-stream",
                                  [bytes = std::move(bytes)](std::size_t at, std::size_t length, auto& sink) {
                                    return sink.write(reinterpret_cast<const char*>(bytes.data()) + at, length);
                                  });
  }

  void ask(const httplib::Request& request, httplib::Response& response, const httplib::ContentReader& read) {
    std::string body;
    has_read_all_ = read([&body](const char* bytes, std::size_t size) {
      body.append(bytes, size);
      return true;
    });
    if (!has_read_all_) {
      response.status = 408;
      return;
    }
    response.set_chunked_content_provider(
        "application/octet-stream", [this, name = service_.access.route(request.target).name, body = std::move(body)](
                                        std::size_t /*at*/, httplib::DataSink& sink) {
          if (!answer(name, body, sink)) return false;
          sink.done();
          return true;
        });
  }

  bool answer(const std::string& name, const std::string& body, httplib::DataSink& sink) const {
    return answer_in_frames(service_.ask, name, body,
                            {.is_there = [&] { return !service_.closes() && sink.is_writable(); },
                             .hear = [&](std::string_view frame) { return write_in_pieces(sink, frame); }});
  }

  // The library copies each chunk.
  static bool write_in_pieces(httplib::DataSink& sink, std::string_view bytes) {
    constexpr std::size_t kPiece = 1 << 20;
    while (!bytes.empty()) {
      const std::string_view piece = bytes.substr(0, kPiece);
      if (!sink.write(piece.data(), piece.size())) return false;
      bytes.remove_prefix(piece.size());
    }
    return true;
  }

  const Service& service_;
  Arrival& arrival_;
  bool has_read_all_ = false;
};

}  // namespace

Announced announced_by(const Service& service, std::string_view head) {
  const httplib::Request request = request_of(head);
  Route route = service.access.route(request.target);
  if (route.place != Place::question || status_of_request(request, service) != kFine) return {};
  return {.body_bytes = length_of_body(request).value_or(0),
          .question = std::move(route.name),
          .waits = request.has_header("Expect")};
}

bool exchange(const Service& service, Arrival& arrival) { return Exchange(service, arrival).run(); }

}  // namespace qkv::studio
