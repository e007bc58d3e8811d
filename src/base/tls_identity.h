#pragma once
/// Who a server is: its certificate and the key to that, from two files of PEM.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

struct ssl_ctx_st;
struct x509_st;

namespace fettle {

struct TlsContextRelease {
  void operator()(ssl_ctx_st* context) const;
};
using TlsContext = std::unique_ptr<ssl_ctx_st, TlsContextRelease>;

/// For both sides: TLS 1.2 and later, ciphers with a key for each connection alone, no second
/// handshake within one, no connection that is taken up again.
Result<TlsContext> new_tls_context();

/// Names that a certificate is for: `fettle.example`, `*.example`, `10.0.0.1`.
std::vector<std::string> names_of(const x509_st& certificate);

struct TlsFiles {
  Path certificate;  ///< its own first, then those of the authorities between it and the client's
  Path key;
};

class TlsIdentity {
 public:
  /// Errors (`Blame::user`): a file cannot be read or is none of that kind, others can read the key,
  /// it belongs to another certificate, or the certificate has expired.
  static Result<TlsIdentity> read(const TlsFiles& files);

  /// Whether a client that looks for this name or address believes it.
  bool is_for(const std::string& host) const;
  std::vector<std::string> names() const;
  ssl_ctx_st* context() const { return context_.get(); }

 private:
  explicit TlsIdentity(TlsContext context) : context_(std::move(context)) {}
  TlsContext context_;
};

/// The identity that is in the files now, so that a certificate is renewed without a restart.
class RenewedIdentity {
 public:
  static Result<RenewedIdentity> open(TlsFiles files);
  /// Reads the files if they have changed. Those that are wrong leave the last good pair, and
  /// `told` hears why, once.
  const TlsIdentity& now(const std::function<void(const std::string&)>& told);
  /// The one that was read last.
  const TlsIdentity& last() const { return identity_; }

 private:
  RenewedIdentity(TlsFiles files, std::string seen, TlsIdentity identity)
      : files_(std::move(files)), seen_(std::move(seen)), identity_(std::move(identity)) {}
  TlsFiles files_;
  std::string seen_;  ///< what the files looked like when they were read
  TlsIdentity identity_;
  std::string complaint_;
};

}  // namespace fettle
