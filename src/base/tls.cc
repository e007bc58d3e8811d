#include "base/tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "base/text.h"

namespace fettle {
namespace {

constexpr unsigned char handshake_record = 0x16;

struct StreamRelease {
  void operator()(SSL* stream) const { SSL_free(stream); }
};

bool is_ip_address(const std::string& host) {
  std::array<unsigned char, 16> bytes{};
  return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

std::string text_of(const X509_NAME* name) {
  std::array<char, 512> text{};
  X509_NAME_oneline(name, text.data(), static_cast<int>(text.size()));
  return printable(text.data());
}

std::string text_of(const ASN1_TIME* time) {
  tm parts{};
  std::array<char, 64> text{};
  if (ASN1_TIME_to_tm(time, &parts) != 1 ||
      std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
    return "?";
  return text.data();
}

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Memory = std::unique_ptr<BIO, decltype(&BIO_free)>;

/// None: it has none, or something else than whole ones.
std::vector<Certificate> read_certificates(const std::string& pem) {
  const Memory from(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  std::vector<Certificate> all;
  while (X509* const next = PEM_read_bio_X509_AUX(from.get(), nullptr, nullptr, nullptr))
    all.emplace_back(next, X509_free);
  const bool is_whole = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!is_whole)
    all.clear();
  return all;
}

}  // namespace

struct TlsStream::State {
  explicit State(TlsContext made) : context(std::move(made)) {}

  /// What a result of OpenSSL means.
  TlsStep step_of(int result) {
    const int reason = SSL_get_error(ssl.get(), result);
    switch (reason) {
      case SSL_ERROR_WANT_READ:
        return TlsStep::wants_to_read;
      case SSL_ERROR_WANT_WRITE:
        return TlsStep::wants_to_write;
      case SSL_ERROR_ZERO_RETURN:
        return TlsStep::ended;
      default:
        break;
    }
    const unsigned long error = ERR_peek_last_error();
    // What a client gets to hear first, OpenSSL reads with its own hello.
    if (!is_open && SSL_is_server(ssl.get()) == 0 &&
        ERR_GET_REASON(error) == SSL_R_WRONG_VERSION_NUMBER) {
      ERR_clear_error();
      return fail_by_clear_text();
    }
    const char* const text = ERR_reason_error_string(error);
    if (fault == TlsFault::none) {
      fault = TlsFault::other;
      failure = ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING || error == 0
                    ? "the connection was closed"
                : text == nullptr ? "the other side breaks the rules"
                                  : text;
    }
    has_failed = true;
    ERR_clear_error();
    return TlsStep::failed;
  }

  /// What a certificate of the other side lacks; `context` has it at hand.
  void note_refusal(X509_STORE_CTX* about) {
    X509* const shown = X509_STORE_CTX_get_current_cert(about);
    X509* const own = X509_STORE_CTX_get0_cert(about);
    const int code = X509_STORE_CTX_get_error(about);
    switch (code) {
      case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
      case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
      case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      case X509_V_ERR_INVALID_CA:
        fault = TlsFault::unknown_authority;
        failure = cat("its certificate is signed by `",
                      shown == nullptr ? "?" : text_of(X509_get_issuer_name(shown)),
                      "`, which is no authority that is known here");
        return;
      case X509_V_ERR_HOSTNAME_MISMATCH:
      case X509_V_ERR_IP_ADDRESS_MISMATCH:
        fault = TlsFault::other_name;
        failure = cat("its certificate is for `",
                      own == nullptr ? "?" : printable(join(names_of(*own), "`, `")),
                      "`, not for `", printable(host), "`");
        return;
      case X509_V_ERR_CERT_HAS_EXPIRED:
      case X509_V_ERR_CERT_NOT_YET_VALID:
        fault = TlsFault::out_of_date;
        failure = code == X509_V_ERR_CERT_HAS_EXPIRED
                      ? cat("its certificate has expired at ",
                            shown == nullptr ? "?" : text_of(X509_get0_notAfter(shown)))
                      : cat("its certificate counts from ",
                            shown == nullptr ? "?" : text_of(X509_get0_notBefore(shown)),
                            " on; is the clock of this machine right?");
        return;
      default:
        fault = TlsFault::other;
        failure = cat("its certificate is refused: ", X509_verify_cert_error_string(code));
    }
  }

  static int verify(int is_good, X509_STORE_CTX* about) {
    const auto* const stream = static_cast<const SSL*>(
        X509_STORE_CTX_get_ex_data(about, SSL_get_ex_data_X509_STORE_CTX_idx()));
    if (is_good != 1)
      static_cast<State*>(SSL_get_app_data(stream))->note_refusal(about);
    return is_good;
  }

  /// Of a server: looks at the first byte, before OpenSSL takes it. `done`: it begins a handshake.
  TlsStep look_at_first_byte() {
    unsigned char first = 0;
    const ssize_t count = ::recv(socket, &first, 1, MSG_PEEK | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
      return TlsStep::wants_to_read;
    if (count == 1 && first != handshake_record)
      return fail_by_clear_text();
    has_heard = true;
    return TlsStep::done;
  }

  TlsStep fail_by_clear_text() {
    fault = TlsFault::clear_text;
    failure = "it speaks no TLS";
    has_failed = true;
    return TlsStep::failed;
  }

  TlsContext context;  ///< of a client
  std::unique_ptr<SSL, StreamRelease> ssl;
  int socket = -1;
  std::string host;
  bool has_heard = false;  ///< the first byte of a client
  bool has_failed = false, is_open = false;
  TlsFault fault = TlsFault::none;
  std::string failure;
};

TlsStream::TlsStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsStream::TlsStream(TlsStream&&) noexcept = default;
TlsStream& TlsStream::operator=(TlsStream&& other) noexcept {
  state_.swap(other.state_);
  return *this;
}

TlsStream::~TlsStream() {
  if (state_ != nullptr && state_->is_open && !state_->has_failed)
    SSL_shutdown(state_->ssl.get());
  ERR_clear_error();
}

Result<TlsStream> TlsStream::serve(int socket, const TlsIdentity& identity) {
  auto state = std::make_unique<State>(nullptr);
  state->ssl.reset(SSL_new(identity.context()));
  if (state->ssl == nullptr || SSL_set_fd(state->ssl.get(), socket) != 1)
    return world_error("TLS cannot be used here");
  state->socket = socket;
  SSL_set_accept_state(state->ssl.get());
  return TlsStream(std::move(state));
}

Result<TlsStream> TlsStream::connect(int socket, const TlsPeer& peer) {
  auto state = std::make_unique<State>(TRY(new_tls_context()));
  SSL_CTX* const context = state->context.get();
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, State::verify);
  if (peer.authorities.empty())
    SSL_CTX_set_default_verify_paths(context);
  else
    for (const Certificate& one : read_certificates(peer.authorities))
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context), one.get());
  state->ssl.reset(SSL_new(context));
  SSL* const ssl = state->ssl.get();
  if (ssl == nullptr || SSL_set_fd(ssl, socket) != 1)
    return world_error("TLS cannot be used here");
  X509_VERIFY_PARAM* const wanted = SSL_get0_param(ssl);
  // Who names a certificate believes it, whoever signed that one.
  X509_VERIFY_PARAM_set_flags(wanted, X509_V_FLAG_PARTIAL_CHAIN);
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const bool is_set =
      !peer.host.empty() &&
      (is_ip_address(peer.host)
           ? X509_VERIFY_PARAM_set1_ip_asc(wanted, peer.host.c_str()) == 1
           : SSL_set1_host(ssl, peer.host.c_str()) == 1 &&
                 SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                          const_cast<char*>(peer.host.c_str())) == 1);
  if (!is_set)
    return user_error(cat("no certificate can be for `", printable(peer.host), "`"));
  state->socket = socket;
  state->host = peer.host;
  SSL_set_app_data(ssl, state.get());
  SSL_set_connect_state(ssl);
  return TlsStream(std::move(state));
}

TlsStep TlsStream::shake_hands() {
  if (!state_->has_heard && SSL_is_server(state_->ssl.get()) == 1)
    if (const TlsStep step = state_->look_at_first_byte(); step != TlsStep::done)
      return step;
  ERR_clear_error();
  const int result = SSL_do_handshake(state_->ssl.get());
  if (result != 1)
    return state_->step_of(result);
  state_->is_open = true;
  return TlsStep::done;
}

TlsStep TlsStream::read(std::span<char> into, size_t& count) {
  count = 0;
  ERR_clear_error();
  const int result = SSL_read_ex(state_->ssl.get(), into.data(), into.size(), &count);
  return result == 1 ? TlsStep::done : state_->step_of(result);
}

TlsStep TlsStream::write(std::string_view bytes, size_t& count) {
  count = 0;
  ERR_clear_error();
  const int result = SSL_write_ex(state_->ssl.get(), bytes.data(), bytes.size(), &count);
  return result == 1 ? TlsStep::done : state_->step_of(result);
}

TlsStep TlsStream::finish_writing() {
  ERR_clear_error();
  const int result = SSL_shutdown(state_->ssl.get());
  // 0: the other side has not said so itself.
  return result >= 0 ? TlsStep::done : state_->step_of(result);
}

TlsFault TlsStream::fault() const { return state_->fault; }
const std::string& TlsStream::failure() const { return state_->failure; }

short events_of(TlsStep step) {
  return step == TlsStep::wants_to_read    ? POLLIN
         : step == TlsStep::wants_to_write ? POLLOUT
                                           : short{0};
}

Result<std::string> certificates_in(const std::string& pem, std::string_view what) {
  const std::vector<Certificate> all = read_certificates(pem);
  if (all.empty())
    return user_error(cat(what,
                          " has no certificate, or a damaged one: expected those of authorities as "
                          "PEM (`-----BEGIN CERTIFICATE-----`)"));
  const Memory to(BIO_new(BIO_s_mem()), BIO_free);
  for (const Certificate& one : all)
    PEM_write_bio_X509(to.get(), one.get());
  char* bytes = nullptr;
  const auto size = static_cast<size_t>(BIO_get_mem_data(to.get(), &bytes));
  return std::string(bytes, size);
}

}  // namespace fettle
