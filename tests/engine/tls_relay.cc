#include "tests/engine/tls_relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>

#include "base/text.h"

namespace fettle {
namespace {

using KeyPair = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

constexpr int look_interval_ms = 100;
constexpr long lifetime_seconds = 24 * 3600;

struct Identity {
  KeyPair key{nullptr, EVP_PKEY_free};
  Certificate certificate{nullptr, X509_free};
};

void add_extension(X509* certificate, int id, const char* text) {
  if (X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, id, text)) {
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
}

/// A key with a certificate by `issuer`, or self-signed without one.
Identity make_identity(const char* name, long serial, const Identity* issuer,
                       const std::string& address = "127.0.0.1") {
  Identity made{{EVP_EC_gen("P-256"), EVP_PKEY_free}, {X509_new(), X509_free}};
  X509* const certificate = made.certificate.get();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -lifetime_seconds);
  X509_gmtime_adj(X509_getm_notAfter(certificate), lifetime_seconds);
  X509_set_pubkey(certificate, made.key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  X509_set_issuer_name(
      certificate,
      X509_get_subject_name(issuer == nullptr ? certificate : issuer->certificate.get()));
  add_extension(certificate, NID_basic_constraints,
                issuer == nullptr ? "critical,CA:TRUE" : "CA:FALSE");
  add_extension(certificate, NID_subject_alt_name, cat("IP:", address).c_str());
  X509_sign(certificate, issuer == nullptr ? made.key.get() : issuer->key.get(), EVP_sha256());
  return made;
}

Status write_pem(const Path& path, const std::function<int(BIO*)>& write) {
  BIO* const memory = BIO_new(BIO_s_mem());
  const bool written = write(memory) == 1;
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(memory, &bytes);
  const std::string text(bytes, written ? static_cast<size_t>(size) : 0);
  BIO_free(memory);
  return write_file(path, text);
}

/// Writes the certificate of an authority, and one that it signed, with its key.
Status write_identity(const Path& folder, const Identity& authority, const Identity& one) {
  TRY(write_pem(folder / "ca.pem",
                [&](BIO* out) { return PEM_write_bio_X509(out, authority.certificate.get()); }));
  TRY(write_pem(folder / "cert.pem",
                [&](BIO* out) { return PEM_write_bio_X509(out, one.certificate.get()); }));
  return write_pem(folder / "key.pem", [&](BIO* out) {
    return PEM_write_bio_PrivateKey(out, one.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

/// Sends all bytes to one end.
bool send_all(SSL* to, const char* bytes, int size) {
  for (int sent = 0; size > 0; bytes += sent, size -= sent)
    if ((sent = SSL_write(to, bytes, size)) <= 0)
      return false;
  return true;
}
bool send_all(int to, const char* bytes, int size) {
  for (ssize_t sent = 0; size > 0; bytes += sent, size -= static_cast<int>(sent))
    if ((sent = send(to, bytes, static_cast<size_t>(size), MSG_NOSIGNAL)) <= 0)
      return false;
  return true;
}

void shuttle(SSL* tls, int client, int engine, const std::stop_token& stop) {
  std::array<char, 16 << 10> buffer;
  while (!stop.stop_requested()) {
    std::array<pollfd, 2> waited{{{client, POLLIN, 0}, {engine, POLLIN, 0}}};
    if (SSL_pending(tls) == 0 && poll(waited.data(), waited.size(), look_interval_ms) < 0)
      return;
    if (SSL_pending(tls) > 0 || waited[0].revents != 0) {
      const int count = SSL_read(tls, buffer.data(), static_cast<int>(buffer.size()));
      if (count <= 0 || !send_all(engine, buffer.data(), count))
        return;
    }
    if (waited[1].revents != 0) {
      const ssize_t count = ::read(engine, buffer.data(), buffer.size());
      if (count <= 0 || !send_all(tls, buffer.data(), static_cast<int>(count)))
        return;
    }
  }
}

}  // namespace

Status write_server_identity(const Path& folder, const std::string& address) {
  const Identity authority = make_identity("a test's authority", 1, nullptr);
  return write_identity(folder, authority,
                        make_identity("a test's service", 2, &authority, address));
}

struct TlsRelay::Context {
  SSL_CTX* tls = SSL_CTX_new(TLS_server_method());
  ~Context() { SSL_CTX_free(tls); }
};

TlsRelay::TlsRelay(std::unique_ptr<Context> context, std::string socket, Descriptor listener,
                   int port)
    : context_(std::move(context)),
      socket_(std::move(socket)),
      listener_(std::move(listener)),
      port_(port),
      thread_([this](const std::stop_token& stop) { accept_all(stop); }) {}

TlsRelay::~TlsRelay() {
  thread_.request_stop();
  thread_.join();
}

Result<std::unique_ptr<TlsRelay>> TlsRelay::start(const Path& folder, const std::string& socket) {
  const Identity authority = make_identity("a test's authority", 1, nullptr);
  const Identity server = make_identity("a test's engine", 2, &authority);
  const Identity client = make_identity("a test's client", 3, &authority);
  TRY(write_identity(folder, authority, client));
  auto context = std::make_unique<Context>();
  SSL_CTX_use_certificate(context->tls, server.certificate.get());
  SSL_CTX_use_PrivateKey(context->tls, server.key.get());
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context->tls), authority.certificate.get());
  SSL_CTX_set_verify(context->tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);

  Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  if (bind(listener.get(), reinterpret_cast<sockaddr*>(&here), sizeof here) != 0 ||
      listen(listener.get(), 64) != 0 ||
      getsockname(listener.get(), reinterpret_cast<sockaddr*>(&here), &size) != 0)
    return world_error("the relay cannot listen");
  return std::unique_ptr<TlsRelay>(
      new TlsRelay(std::move(context), socket, std::move(listener), ntohs(here.sin_port)));
}

void TlsRelay::accept_all(const std::stop_token& stop) {
  std::vector<std::jthread> threads;
  while (!stop.stop_requested()) {
    pollfd waited{listener_.get(), POLLIN, 0};
    if (poll(&waited, 1, look_interval_ms) <= 0)
      continue;
    if (const int client = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC); client >= 0)
      threads.emplace_back([this, client](const std::stop_token& end) { relay(client, end); });
  }
}

void TlsRelay::relay(int client, const std::stop_token& stop) const {
  const Descriptor ours(client);
  const Descriptor engine(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un there{};
  there.sun_family = AF_UNIX;
  socket_.copy(there.sun_path, sizeof there.sun_path - 1);
  SSL* const tls = SSL_new(context_->tls);
  SSL_set_fd(tls, client);
  if (SSL_accept(tls) == 1 &&
      connect(engine.get(), reinterpret_cast<sockaddr*>(&there), sizeof there) == 0) {
    shuttle(tls, client, engine.get(), stop);
    SSL_shutdown(tls);
  }
  SSL_free(tls);
}

}  // namespace fettle
