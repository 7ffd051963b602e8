#include "listen.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>

#include "qkv/error.h"

namespace qkv::studio {
namespace {

constexpr const char* kWho = "studio server";

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses addresses_of(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    throw InvalidArgument(kWho, "host", "an address or name of this machine", "\"" + host + "\"");
  }
  return {found, ::freeaddrinfo};
}

[[noreturn]] void refuse(const std::string& host, int port) {
  const std::string got = std::to_string(port);
  if (errno == EADDRINUSE) throw InvalidArgument(kWho, "port", "a free port", got + ", which is in use");
  if (errno == EACCES) throw InvalidArgument(kWho, "port", "a port that this user may open", got);
  throw InvalidArgument(kWho, "host", "an address or name of this machine", "\"" + host + "\"");
}

}  // namespace

Connection listen_at(const std::string& host, int port) {
  const Addresses addresses = addresses_of(host, port);
  Connection listening(::socket(addresses->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (listening.socket() < 0) refuse(host, port);
  const int yes = 1;
  // No SO_REUSEPORT: two servers would share the port's clients.
  ::setsockopt(listening.socket(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  const bool listens = ::bind(listening.socket(), addresses->ai_addr, addresses->ai_addrlen) == 0 &&
                       ::listen(listening.socket(), SOMAXCONN) == 0;
  if (!listens) refuse(host, port);
  return listening;
}

int port_of(const Connection& listening) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  ::getsockname(listening.socket(), reinterpret_cast<sockaddr*>(&address), &size);
  const bool is_six = address.ss_family == AF_INET6;
  return ntohs(is_six ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                      : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

}  // namespace qkv::studio
