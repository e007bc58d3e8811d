#include "server/own_server.h"

#include "base/http.h"
#include "base/text.h"

namespace fettle {
namespace {

constexpr Duration answer_limit = 3s;

Path lock_of(const Path& home) { return home / "web.lock"; }
Path note_of(const Path& home) { return home / "web.note"; }

}  // namespace

Result<std::optional<OwnServerNote>> OwnServerNote::leave(const Path& home,
                                                          const std::string& where) {
  std::optional<LockFile> lock = TRY(LockFile::take(lock_of(home)));
  if (!lock)
    return std::optional<OwnServerNote>();
  TRY(write_file(note_of(home), where, 0600));
  return std::optional(OwnServerNote(home, *std::move(lock)));
}

OwnServerNote::~OwnServerNote() {
  if (!lock_ || home_.empty())
    return;
  std::error_code ignored;
  std::filesystem::remove(note_of(home_), ignored);
  std::move(*lock_).remove();
}

std::optional<std::string> address_of_own_server(const Path& home, const OwnServerWish& wish,
                                                 const std::stop_token& stop) {
  if (const Result<bool> lives = LockFile::is_taken(lock_of(home)); !lives || !*lives)
    return std::nullopt;
  const Result<std::string> where = read_file(note_of(home));
  if (!where || (wish.port != 0 && !where->starts_with(cat("http://127.0.0.1:", wish.port, "/"))))
    return std::nullopt;
  HttpClient client;
  const Result<HttpResponse> answer =
      client.send({.url = cat(*where, wish.landing.empty() ? "" : "&at=", wish.landing),
                   .time_limit = answer_limit},
                  stop);
  if (!answer || answer->status != 200 || !answer->body.starts_with("http://127.0.0.1:"))
    return std::nullopt;
  return answer->body;
}

}  // namespace fettle
