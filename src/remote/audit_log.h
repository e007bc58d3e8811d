#pragma once
/// Who had a server do what: a line of JSON for each command that needs more than `read` when it
/// begins, one when it has ended, and one for each refusal.
///
/// The first line is on the disk before anything happens, or nothing happens: a server that cannot
/// write it refuses the command. One line at the end, which would be simpler, would be missing for what
/// was killed together with its server. Refusals have a file of their own, so who is refused often
/// pushes nothing else out.
///
/// `acts.jsonl` and `refused.jsonl`, each at most `limit` bytes and that much again in each of
/// three older files (`acts.jsonl.1`, …).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/time.h"
#include "remote/rights.h"

namespace fettle {

struct AuditEntry {
  std::string at;       ///< the moment at which it began, or was refused
  std::string token;    ///< its name; empty: of nobody whom the server knows
  std::string from;     ///< the address of the client
  std::string command;  ///< its words without secrets; empty: none was said yet
  std::string right{};  ///< that it needs
  int64_t run = 0;      ///< 0: none
  std::string ended{};
  std::optional<int64_t> code{};  ///< none: nobody has said that it ended
  std::string refused{};          ///< why; empty: it was not
};

class AuditLog {
 public:
  static constexpr uint64_t usual_limit = 8 << 20;
  explicit AuditLog(Path folder, uint64_t limit = usual_limit)
      : folder_(std::move(folder)), limit_(limit) {}

  /// Gives what `end` has to say. Error: it could not be written, so it must not begin.
  Result<std::string> begin(const AuditEntry& entry) const;
  /// What cannot be written now is missing later; what happened has happened.
  void end(const std::string& id, int64_t code, Time now) const;
  void refuse(const AuditEntry& entry) const;

  /// The oldest first.
  Result<std::vector<AuditEntry>> all() const;

 private:
  /// `is_awaited`: until it is on the disk.
  Status add(std::string_view name, std::string line, bool is_awaited = false) const;

  Path folder_;
  uint64_t limit_;
};

/// That of a home.
AuditLog audit_log(const Path& home);

}  // namespace fettle
