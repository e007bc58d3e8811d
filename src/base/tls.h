#pragma once
/// TLS over a socket that never blocks, for either side: bytes go in and out, and each step says
/// what it waits for.
///
///   TlsStream stream = TRY(TlsStream::connect(socket, {.host = "fettle.example"}));
///   for (TlsStep step = stream.shake_hands(); step != TlsStep::done; step = stream.shake_hands())
///     if (is_over(step) || !await(socket, step))
///       return stream.failure();
///
/// Whoever reads takes a whole record (`largest_record`) at once, or reads until a step waits: what is
/// left of a record is kept here, and the socket says nothing of it. OpenSSL writes without
/// `MSG_NOSIGNAL`, so a process that has a stream ignores SIGPIPE, as the program does.

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/tls_identity.h"

struct ssl_st;

namespace fettle {

constexpr size_t largest_record = 16 << 10;

enum class TlsStep {
  done,
  wants_to_read,
  wants_to_write,
  ended,  ///< the other side said that nothing more comes
  failed
};

enum class TlsFault {
  none,
  clear_text,         ///< the other side speaks, but no TLS
  unknown_authority,  ///< nobody whom we believe has signed its certificate
  other_name,         ///< its certificate is somebody else's
  out_of_date,        ///< its certificate does not count any more, or not yet
  other
};

/// Whom a client looks for, and whom it believes.
struct TlsPeer {
  std::string host;           ///< a name or an address, which the certificate must be for
  std::string authorities{};  ///< PEM; empty: those of the system
};

/// The certificates of a text, and nothing else that is in it. Error (`Blame::user`): it has none.
/// `what`, for the error: `` `ca.pem` ``.
Result<std::string> certificates_in(const std::string& pem, std::string_view what);

class TlsStream {
 public:
  /// The socket stays the caller's, and is closed after the stream has gone.
  static Result<TlsStream> serve(int socket, const TlsIdentity& identity);
  static Result<TlsStream> connect(int socket, const TlsPeer& peer);
  /// Tells the other side that nothing more comes, if the socket takes that at once.
  ~TlsStream();
  TlsStream(TlsStream&&) noexcept;
  TlsStream& operator=(TlsStream&&) noexcept;

  TlsStep shake_hands();
  /// `count`: the bytes that have come, or went.
  TlsStep read(std::span<char> into, size_t& count);
  /// Where it waits, a part may have gone: the next call has the same bytes again, and may have more
  /// behind them.
  TlsStep write(std::string_view bytes, size_t& count);
  /// Tells the other side that nothing more comes; reading goes on.
  TlsStep finish_writing();

  /// Why a step failed: `its certificate has expired`.
  TlsFault fault() const;
  const std::string& failure() const;

 private:
  struct State;
  explicit TlsStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The events of `poll` for which a step waits.
short events_of(TlsStep step);

}  // namespace fettle
