#include "base/tls_identity.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <ctime>

#include "base/text.h"

namespace fettle {
namespace {

constexpr uint64_t largest_pem = 1 << 20;
/// For clocks of files that are coarser than two changes of one.
constexpr time_t settled_after = 2;
constexpr std::string_view http_11 = "\x08http/1.1";

struct TlsRelease {
  void operator()(BIO* one) const { BIO_free(one); }
  void operator()(X509* one) const { X509_free(one); }
  void operator()(EVP_PKEY* one) const { EVP_PKEY_free(one); }
  void operator()(GENERAL_NAMES* all) const { GENERAL_NAMES_free(all); }
};
template <typename T>
using TlsOwned = std::unique_ptr<T, TlsRelease>;

TlsOwned<BIO> bio_of(const std::string& text) {
  return TlsOwned<BIO>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string last_reason() {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return reason == nullptr ? "it is damaged" : reason;
}

Result<std::string> read_pem(const Path& path) {
  struct stat about{};
  if (stat(path.c_str(), &about) != 0)
    return user_error(file_error("cannot read", path).message);
  if (!S_ISREG(about.st_mode) || static_cast<uint64_t>(about.st_size) > largest_pem)
    return user_error(cat("`", path.string(), "` is no file of PEM"));
  Result<std::string> text = read_file(path);
  if (!text)
    return user_error(text.error().message);
  return text;
}

/// As keys of other servers: root may lend one to a group.
Status check_mode_of_key(const Path& path) {
  struct stat about{};
  if (stat(path.c_str(), &about) != 0)
    return user_error(file_error("cannot read", path).message);
  const unsigned mode = about.st_mode & 0777U;
  const bool is_lent = about.st_uid == 0 && (mode & 037U) == 0;
  if ((mode & 077U) == 0 || is_lent)
    return {};
  return user_error(cat("others can read `", path.string(), "`, which has the key; `chmod 600 ",
                        path.string(), "` closes it"));
}

/// Nobody is asked for a passphrase; `told` learns that one is needed.
int no_passphrase(char*, int, int, void* told) {
  *static_cast<bool*>(told) = true;
  return -1;
}

Status use_certificate(SSL_CTX& context, const Path& path) {
  const std::string text = TRY(read_pem(path));
  const TlsOwned<BIO> from = bio_of(text);
  const TlsOwned<X509> own(PEM_read_bio_X509(from.get(), nullptr, nullptr, nullptr));
  if (own == nullptr) {
    const bool is_damaged = text.find("-----BEGIN CERTIFICATE-----") != text.npos;
    ERR_clear_error();
    return user_error(
        cat("`", path.string(), is_damaged ? "` has a damaged certificate" : "` has no certificate",
            ": expected PEM (`-----BEGIN CERTIFICATE-----`), the server's own first, then those of "
            "the authorities between it and one that clients know"));
  }
  if (X509_cmp_current_time(X509_get0_notAfter(own.get())) <= 0)
    return user_error(cat("the certificate in `", path.string(), "` has expired"));
  if (SSL_CTX_use_certificate(&context, own.get()) != 1)
    return user_error(
        cat("the certificate in `", path.string(), "` cannot be used: ", last_reason()));
  while (const TlsOwned<X509> next{PEM_read_bio_X509(from.get(), nullptr, nullptr, nullptr)})
    if (SSL_CTX_add1_chain_cert(&context, next.get()) != 1)
      return user_error(cat("a certificate behind the first one in `", path.string(),
                            "` cannot be used: ", last_reason()));
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  // Half a file is a damaged one.
  if (ERR_GET_REASON(error) != PEM_R_NO_START_LINE)
    return user_error(cat("`", path.string(), "` has a damaged certificate behind the first one"));
  return {};
}

Status use_key(SSL_CTX& context, const TlsFiles& files) {
  TRY(check_mode_of_key(files.key));
  std::string text = TRY(read_pem(files.key));
  const std::string path = files.key.string();
  bool is_locked = false;
  const TlsOwned<EVP_PKEY> key(
      PEM_read_bio_PrivateKey(bio_of(text).get(), nullptr, no_passphrase, &is_locked));
  OPENSSL_cleanse(text.data(), text.size());
  if (is_locked) {
    ERR_clear_error();
    return user_error(cat("the key in `", path,
                          "` is locked by a passphrase: expected one without; ",
                          "`openssl pkey -in ", path, "` writes it"));
  }
  if (key == nullptr) {
    ERR_clear_error();
    return user_error(cat("`", path,
                          "` has no private key, or a damaged one: expected PEM without a "
                          "passphrase (`-----BEGIN PRIVATE KEY-----`)"));
  }
  const X509* const own = SSL_CTX_get0_certificate(&context);
  if (X509_check_private_key(own, key.get()) != 1) {
    ERR_clear_error();
    return user_error(cat("the key in `", path, "` does not belong to the first certificate in `",
                          files.certificate.string(), "`"));
  }
  if (SSL_CTX_use_PrivateKey(&context, key.get()) != 1)
    return user_error(cat("the key in `", path, "` cannot be used: ", last_reason()));
  return {};
}

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned int offered_size, void*) {
  const auto* const ours = reinterpret_cast<const unsigned char*>(http_11.data());
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, size, ours, static_cast<unsigned>(http_11.size()), offered,
                            offered_size) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

/// Changes whenever somebody has written to the file, or put another one in its place.
std::string look_of(const Path& path) {
  struct stat about{};
  if (stat(path.c_str(), &about) != 0)
    return "-";
  return cat(about.st_dev, " ", about.st_ino, " ", about.st_size, " ", about.st_mode, " ",
             about.st_mtim.tv_sec, ".", about.st_mtim.tv_nsec, " ", about.st_ctim.tv_sec, ".",
             about.st_ctim.tv_nsec,
             // What has just been written may be written again within the same moment.
             std::time(nullptr) - about.st_ctim.tv_sec < settled_after ? " fresh" : "");
}

std::string look_of(const TlsFiles& files) {
  return cat(look_of(files.certificate), ", ", look_of(files.key));
}

}  // namespace

void TlsContextRelease::operator()(SSL_CTX* context) const { SSL_CTX_free(context); }

Result<TlsContext> new_tls_context() {
  TlsContext context(SSL_CTX_new(TLS_method()));
  if (context == nullptr)
    return world_error(cat("TLS cannot be used: ", last_reason()));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_max_proto_version(context.get(), 0);
  SSL_CTX_set_cipher_list(context.get(), "ECDHE+AESGCM:ECDHE+CHACHA20");
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                                         SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                         SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                       SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_protos(context.get(), reinterpret_cast<const unsigned char*>(http_11.data()),
                          static_cast<unsigned>(http_11.size()));
  SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol, nullptr);
  return context;
}

std::vector<std::string> names_of(const X509& certificate) {
  std::vector<std::string> names;
  const TlsOwned<GENERAL_NAMES> all(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(all.get()); ++i) {
    int type = 0;
    const auto* const name = static_cast<const ASN1_STRING*>(
        GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(all.get(), i), &type));
    if (type != GEN_DNS && type != GEN_IPADD)
      continue;
    const unsigned char* const bytes = ASN1_STRING_get0_data(name);
    const int size = ASN1_STRING_length(name);
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (type == GEN_DNS)
      names.emplace_back(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
    else if ((size == 4 || size == 16) &&
             inet_ntop(size == 4 ? AF_INET : AF_INET6, bytes, text.data(), text.size()) != nullptr)
      names.emplace_back(text.data());
  }
  std::array<char, 256> name{};
  // Without any, the name of the subject counts.
  if (names.empty() &&
      X509_NAME_get_text_by_NID(X509_get_subject_name(&certificate), NID_commonName, name.data(),
                                static_cast<int>(name.size())) > 0)
    names.emplace_back(name.data());
  return names;
}

Result<TlsIdentity> TlsIdentity::read(const TlsFiles& files) {
  TlsContext context = TRY(new_tls_context());
  TRY(use_certificate(*context, files.certificate));
  TRY(use_key(*context, files));
  return TlsIdentity(std::move(context));
}

bool TlsIdentity::is_for(const std::string& host) const {
  X509* const own = SSL_CTX_get0_certificate(context_.get());
  return X509_check_ip_asc(own, host.c_str(), 0) == 1 ||
         X509_check_host(own, host.data(), host.size(), 0, nullptr) == 1;
}

std::vector<std::string> TlsIdentity::names() const {
  return names_of(*SSL_CTX_get0_certificate(context_.get()));
}

Result<RenewedIdentity> RenewedIdentity::open(TlsFiles files) {
  std::string seen = look_of(files);
  TlsIdentity identity = TRY(TlsIdentity::read(files));
  return RenewedIdentity(std::move(files), std::move(seen), std::move(identity));
}

const TlsIdentity& RenewedIdentity::now(const std::function<void(const std::string&)>& told) {
  std::string look = look_of(files_);
  if (look == seen_ && look.find("fresh") == look.npos)
    return identity_;
  seen_ = std::move(look);
  Result<TlsIdentity> next = TlsIdentity::read(files_);
  if (next) {
    identity_ = *std::move(next);
    complaint_.clear();
  } else if (complaint_ != next.error().message) {
    complaint_ = next.error().message;
    told(cat("the certificate that was read before stays: ", complaint_));
  }
  return identity_;
}

}  // namespace fettle
