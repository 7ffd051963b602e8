// What the server takes and what it refuses, one request at a time.
#include <gmock/gmock.h>

#include <memory>

#include "file/live_engine.h"
#include "qkv/error.h"
#include "studio/running.h"

namespace qkv::studio::requests_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using tests::frames_of;
using tests::RawClient;
using tests::Reply;
using tests::request_to;
using tests::Running;

class Requests : public testing::Test {
 protected:
  // A whole request from its first line, its headers behind Host and its body.
  [[nodiscard]] Reply exchange(const std::string& line, const std::string& headers = "",
                               const std::string& body = "") const {
    return running_.exchange(line + " HTTP/1.1\r\nHost: " + host() + "\r\n" + headers + "\r\n" + body);
  }
  [[nodiscard]] std::string host() const { return "127.0.0.1:" + std::to_string(running_.port()); }
  [[nodiscard]] static std::string path(const std::string& rest) { return "/" + Running::token() + "/" + rest; }
  [[nodiscard]] static std::string post() { return "POST " + path("ask/about"); }

  Running running_{tests::echo};
};

TEST_F(Requests, GiveThePages) {
  const Reply page = running_.get(path(""));
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body, tests::kPages.page);
  EXPECT_TRUE(page.is_whole);
  EXPECT_EQ(page.headers.at("content-type"), "text/html; charset=utf-8");
  EXPECT_EQ(page.headers.at("content-encoding"), "gzip");
  const Reply script = running_.get(path("studio.js"));
  EXPECT_EQ(script.body, tests::kPages.script);
  EXPECT_EQ(script.headers.at("content-type"), "text/javascript; charset=utf-8");
  const Reply style = running_.get(path("studio.css"));
  EXPECT_EQ(style.body, tests::kPages.style);
  EXPECT_EQ(style.headers.at("content-type"), "text/css; charset=utf-8");
}

TEST_F(Requests, GiveHeadersAloneForHead) {
  const Reply head = exchange("HEAD " + path(""));
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
  EXPECT_EQ(head.headers.at("content-length"), std::to_string(tests::kPages.page.size()));
}

TEST_F(Requests, GiveTheEngineAndModelsThatAPageTakesAlong) {
  EXPECT_EQ(running_.get(path("worker.js")).body, tests::kPages.worker);
  EXPECT_EQ(running_.get(path("qkv.wasm")).status, 204);  // this build has none
  StudioServerOptions options;
  options.read_model = box_model;
  const Running box(tests::echo, options);
  const Reply model = box.get(path("models/previous"));
  EXPECT_EQ(model.status, 200);
  EXPECT_NE(model.body.find("\"__metadata__\""), std::string::npos);
  EXPECT_EQ(box.get(path("models/bottleneck/vector")).status, 200);
  for (const char* other :
       {"models/", "models/other", "models/../previous", "models/%2e%2e/previous", "models//etc/passwd"}) {
    EXPECT_EQ(box.get(path(other)).status, 404) << other;
  }
  EXPECT_EQ(running_.get(path("models/previous")).status, 404);
}

TEST_F(Requests, GivePagesOnlyToWhoReadsGzip) {
  for (const char* codings : {"gzip", "br, gzip", "gzip;q=0.5", "deflate,gzip , br", "*"}) {
    EXPECT_EQ(exchange("GET " + path(""), std::string("Accept-Encoding: ") + codings + "\r\n").status, 200) << codings;
  }
  for (const char* codings : {"br", "identity", "gzipx", "gzip;q=0"}) {
    EXPECT_EQ(exchange("GET " + path(""), std::string("Accept-Encoding: ") + codings + "\r\n").status, 406) << codings;
  }
}

TEST_F(Requests, GiveNoPartOfAPage) {
  const Reply part = exchange("GET " + path(""), "Range: bytes=0-1\r\n");
  EXPECT_EQ(part.status, 200);
  EXPECT_EQ(part.body, tests::kPages.page);
  std::string ranges = "rAnGe: bytes=0-0";
  while (ranges.size() < 8000) ranges += ",0-0";
  EXPECT_EQ(exchange("GET " + path(""), ranges + "\r\n").body, tests::kPages.page);
  EXPECT_EQ(exchange("GET /", ranges + "\r\n").status, 404);
}

TEST_F(Requests, ReadABodyThatLooksLikeAHead) {
  const std::string body = "{\"a\":\r\n\r\n\nRange: 1}";
  EXPECT_EQ(frames_of(running_.ask("about", body).body).front().payload, body);
}

TEST_F(Requests, CarryTheSameHeadersWhateverTheReply) {
  const Reply refused = exchange("GET /");
  const Reply broken = running_.exchange("nonsense\r\n\r\n");
  const Reply long_head = running_.exchange("GET / HTTP/1.1\r\n" + std::string(40 << 10, 'a'));
  EXPECT_EQ(broken.status, 400);
  EXPECT_EQ(long_head.status, 431);
  for (const Reply& reply : {running_.get(path("")), running_.ask("about", "{}"), refused, broken, long_head}) {
    for (const auto& [name, value] : std::map<std::string, std::string>{{"x-content-type-options", "nosniff"},
                                                                        {"referrer-policy", "no-referrer"},
                                                                        {"cross-origin-opener-policy", "same-origin"},
                                                                        {"cross-origin-resource-policy", "same-origin"},
                                                                        {"cache-control", "no-store"},
                                                                        {"connection", "close"}}) {
      EXPECT_EQ(reply.headers.at(name), value) << reply.status;
    }
    const std::string policy = reply.headers.at("content-security-policy");
    EXPECT_THAT(policy, HasSubstr("default-src 'none'; script-src 'self'; style-src 'self'"));
    EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
    EXPECT_FALSE(reply.headers.contains("access-control-allow-origin"));
  }
}

TEST_F(Requests, AreNotReadWithoutTheToken) {
  const std::string other = "/" + std::string(32, 'f') + "/";
  for (const std::string& target : {std::string("/"), other, other + "ask/about", std::string("/ask/about"),
                                    std::string("/favicon.ico"), "/" + Running::token()}) {
    const Reply reply = running_.get(target);
    EXPECT_EQ(reply.status, 404) << target;
    EXPECT_EQ(reply.body, "") << target;
  }
  EXPECT_EQ(exchange("POST " + other + "ask/about", "Content-Length: 99\r\n").status, 404);
}

TEST_F(Requests, FindNoFilesByPaths) {
  for (const char* rest : {"../", "..", "../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "..%2f..%2fetc%2fpasswd",
                           "....//etc/passwd", "./studio.js", "studio.js%00.html", "\\..\\etc\\passwd", "etc/passwd",
                           "ask/../studio.js", "ask/%2e%2e/studio.js", "index.html", "studio.js.gz", "%73tudio.js"}) {
    const Reply reply = running_.get(path(rest));
    EXPECT_EQ(reply.status, 404) << rest;
    EXPECT_EQ(reply.body, "") << rest;
  }
}

TEST_F(Requests, SayNothingBackOfStrangeNames) {
  for (const char* name : {"<script>alert(1)</script>", "%3Cscript%3E", "about'\"", "about%0d%0aSet-Cookie:%20a=b"}) {
    const Reply reply = running_.ask(name, "{}");
    EXPECT_EQ(reply.status, 404) << name;
    EXPECT_EQ(reply.body, "") << name;
    for (const auto& [header, value] : reply.headers) EXPECT_THAT(header + value, Not(HasSubstr("cookie"))) << name;
  }
}

TEST_F(Requests, AreRefusedUnderAnotherHost) {
  const auto status = [&](const std::string& headers) {
    return running_.exchange("GET " + path("") + " HTTP/1.1\r\n" + headers + "\r\n").status;
  };
  const std::string port = std::to_string(running_.port());
  EXPECT_EQ(status("Host: localhost:" + port + "\r\n"), 200);
  EXPECT_EQ(status("Host: [::1]:" + port + "\r\n"), 200);
  EXPECT_EQ(status("Host: evil.example:" + port + "\r\n"), 403);
  EXPECT_EQ(status("Host: 127.0.0.1.evil.example:" + port + "\r\n"), 403);
  EXPECT_EQ(status("Host: 127.0.0.1\r\n"), 403);
  EXPECT_EQ(status("Host: 127.0.0.1:1\r\n"), 403);
  EXPECT_EQ(status(""), 403);
  EXPECT_EQ(status("Host: " + host() + "\r\nHost: evil.example\r\n"), 403);
}

TEST_F(Requests, AreRefusedFromAnotherOrigin) {
  const auto status = [&](const std::string& origin) {
    return exchange(post(), "Origin: " + origin + "\r\nContent-Type: application/json\r\nContent-Length: 2\r\n", "{}")
        .status;
  };
  EXPECT_EQ(status("http://" + host()), 200);
  for (const std::string& origin :
       {std::string("http://evil.example"), std::string("null"), "https://" + host(), std::string("http://127.0.0.1:1"),
        "http://localhost:" + std::to_string(running_.port()), "http://" + host() + "/"}) {
    EXPECT_EQ(status(origin), 403) << origin;
  }
  EXPECT_EQ(exchange("GET " + path(""), "Origin: http://evil.example\r\n").status, 403);
}

TEST_F(Requests, AskByPostAlone) {
  for (const char* method : {"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
    EXPECT_EQ(exchange(std::string(method) + " " + path("ask/about")).status, 405) << method;
  }
  EXPECT_EQ(exchange("POST " + path(""), "Content-Length: 0\r\n").status, 405);
  EXPECT_EQ(exchange("OPTIONS " + path("ask/about")).headers.at("allow"), "GET, HEAD, POST");
}

TEST_F(Requests, AskInJsonAlone) {
  const auto status = [&](const std::string& headers) {
    return exchange(post(), headers + "Content-Length: 2\r\n", "{}").status;
  };
  EXPECT_EQ(status("Content-Type: application/json\r\n"), 200);
  EXPECT_EQ(status("Content-Type: application/json; charset=utf-8\r\n"), 200);
  for (const char* type : {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a",
                           "application/jsonx", "text/plain; application/json"}) {
    EXPECT_EQ(status(std::string("Content-Type: ") + type + "\r\n"), 415) << type;
  }
  EXPECT_EQ(status(""), 415);
  EXPECT_EQ(status("Content-Type: application/json\r\nContent-Encoding: gzip\r\n"), 415);
}

TEST_F(Requests, SayHowLongTheyAre) {
  const auto status = [&](const std::string& headers, const std::string& body) {
    return exchange(post(), "Content-Type: application/json\r\n" + headers, body).status;
  };
  EXPECT_EQ(status("", ""), 411);
  EXPECT_EQ(status("Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"), 411);
  EXPECT_EQ(status("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "{}"), 411);
  EXPECT_EQ(status("Content-Length: -1\r\n", ""), 400);
  EXPECT_EQ(status("Content-Length: 2x\r\n", "{}"), 400);
  EXPECT_EQ(status("Content-Length: 2\r\nContent-Length: 3\r\n", "{}"), 400);
  EXPECT_EQ(status("Content-Length: 99999999999999999999999\r\n", ""), 400);
  EXPECT_EQ(status("Content-Length: 16777217\r\n", ""), 413);
}

TEST_F(Requests, AreToldBeforehandWhetherToSend) {
  RawClient client(running_.port());
  const std::string headers = " HTTP/1.1\r\nHost: " + host() +
                              "\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
  client.send(post() + headers);
  EXPECT_THAT(client.read_some(), testing::StartsWith("HTTP/1.1 100 "));
  client.send("{}");
  EXPECT_EQ(client.read_reply().status, 200);
  EXPECT_EQ(running_.exchange("POST /x" + headers).status, 404);
}

TEST_F(Requests, GoUpToSixteenMegabytes) {
  const std::string largest(16 << 20, ' ');
  EXPECT_EQ(frames_of(running_.ask("about", largest).body).front().payload.size(), largest.size());
}

TEST_F(Requests, OfAHundredMegabytesAreNotRead) {
  RawClient client(running_.port());
  client.send(post() + " HTTP/1.1\r\nHost: " + host() +
              "\r\nContent-Type: application/json\r\nContent-Length: 100000000\r\n\r\n");
  const std::string megabyte(1000000, ' ');
  for (int n = 0; n < 100; ++n) client.send(megabyte);
  EXPECT_EQ(client.read_reply().status, 413);
}

TEST_F(Requests, AreOnePerConnection) {
  const std::string twice = request_to(running_.port(), "GET", path("")) + request_to(running_.port(), "GET", path(""));
  EXPECT_EQ(running_.exchange(twice).body, tests::kPages.page);
}

TEST(Server, GivesNoPagesWhereItHasNone) {
  StudioServer server(tests::echo, {}, {.token = Running::token()});
  server.start();
  const int port = tests::port_in(server.url());
  RawClient client(port);
  client.send(request_to(port, "GET", "/" + Running::token() + "/"));
  EXPECT_EQ(client.read_reply().status, 404);
}

TEST(Server, NamesThePortThatIsInUse) {
  const Running running(tests::echo);
  try {
    const StudioServer second(tests::echo, tests::kPages, {.port = running.port()});
    FAIL() << "two servers share a port";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.argument(), "port");
    EXPECT_THAT(error.fault(), HasSubstr("which is in use"));
  }
}

TEST(Server, NamesTheHostThatIsNotHere) {
  for (const char* host : {"no such host", "192.0.2.1"}) {
    try {
      const StudioServer server(tests::echo, tests::kPages, {.host = host});
      FAIL() << host;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.argument(), "host");
    }
  }
}

TEST(Server, ListensAtAnAddressOfSix) {
  std::unique_ptr<StudioServer> server;
  try {
    server = std::make_unique<StudioServer>(tests::echo, tests::kPages,
                                            StudioServerOptions{.host = "::1", .token = Running::token()});
  } catch (const InvalidArgument&) {
    GTEST_SKIP() << "this machine has no ::1";
  }
  server->start();
  const int port = tests::port_in(server->url());
  EXPECT_THAT(server->url(), testing::StartsWith("http://[::1]:"));
  RawClient client(port, "::1");
  client.send("GET /" + Running::token() + "/ HTTP/1.1\r\nHost: [::1]:" + std::to_string(port) + "\r\n\r\n");
  EXPECT_EQ(client.read_reply().body, tests::kPages.page);
}

}  // namespace
}  // namespace qkv::studio::requests_test
