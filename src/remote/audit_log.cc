#include "remote/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/durable.h"
#include "base/lock_file.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "base/token.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr std::string_view acts_name = "acts.jsonl", refusals_name = "refused.jsonl";
constexpr int older_files = 3;
constexpr Duration turn_limit = 5s;

Path older(const Path& file, int age) {
  return age == 0 ? file : Path(cat(file.string(), ".", age));
}

Value sent_form(const AuditEntry& entry) {
  std::vector<Entry> fields{{"at", entry.at}};
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty())
      fields.push_back({name, text});
  };
  add("token", entry.token);
  add("from", entry.from);
  add("command", entry.command);
  add("right", entry.right);
  if (entry.run != 0)
    fields.push_back({"run", entry.run});
  add("refused", entry.refused);
  return Value::dict(std::move(fields));
}

/// The lines of a log, the oldest first; what is none was cut off when the disk was full.
Result<std::vector<Value>> lines_of(const Path& file) {
  std::vector<Value> lines;
  for (int age = older_files; age >= 0; --age) {
    const Path path = older(file, age);
    if (!file_exists(path))
      continue;
    const std::string text = TRY(read_file(path));
    for (const std::string_view line : split(text, '\n'))
      if (const Result<Value> value = read_json(line); value && value->is_dict())
        lines.push_back(*value);
  }
  return lines;
}

AuditEntry entry_of(const Value& line) {
  const auto text = [&](std::string_view key) { return std::string(line.text_at(key)); };
  AuditEntry entry{text("at"), text("token"), text("from"), text("command")};
  entry.right = text("right");
  entry.run = line.integer_at("run");
  entry.refused = text("refused");
  return entry;
}

/// Whether something stands before the end that is no whole line.
bool ends_in_a_line(const Descriptor& file, off_t size) {
  char last = '\n';
  return size == 0 || (pread(file.get(), &last, 1, size - 1) == 1 && last == '\n');
}

}  // namespace

AuditLog audit_log(const Path& home) { return AuditLog(home / "serve" / "audit"); }

Status AuditLog::add(std::string_view name, std::string line, bool is_awaited) const {
  TRY(make_directories(folder_));
  const Path file = folder_ / name;
  // In turns, so a line that was cut off can be taken back.
  const LockFile turn = TRY(LockFile::await(folder_ / "lock", turn_limit, {}));
  if (const Result<uint64_t> size = size_of_file(file); size && *size >= limit_)
    for (int age = older_files; age > 0; --age)
      static_cast<void>(std::rename(older(file, age - 1).c_str(), older(file, age).c_str()));
  const Descriptor log(
      ::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  struct stat about{};
  if (!log.is_open() || fstat(log.get(), &about) != 0)
    return file_error("cannot write", file);
  line += '\n';
  if (!ends_in_a_line(log, about.st_size))
    line.insert(0, 1, '\n');
  for (std::string_view left = line; !left.empty();) {
    const ssize_t count = ::write(log.get(), left.data(), left.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      const Error error = file_error("cannot write", file);
      static_cast<void>(!ftruncate(log.get(), about.st_size));
      return error;
    }
    left.remove_prefix(static_cast<size_t>(count));
  }
  if (!is_awaited)
    return {};
  if (fdatasync(log.get()) != 0)
    return file_error("cannot write", file);
  return about.st_size == 0 ? sync_to_disk(folder_) : Status();
}

Result<std::string> AuditLog::begin(const AuditEntry& entry) const {
  constexpr size_t digits = 16;
  const std::string id = TRY(new_token("a line of the audit")).substr(0, digits);
  const Value said = sent_form(entry);
  std::vector<Entry> fields{{"id", id}};
  fields.insert(fields.end(), said.entries().begin(), said.entries().end());
  TRY(add(acts_name, write_json(Value::dict(std::move(fields))), true)
          .context("noting the command, without which it is not run"));
  return id;
}

void AuditLog::end(const std::string& id, int64_t code, Time now) const {
  static_cast<void>(
      add(acts_name,
          write_json(Value::dict({{"id", id}, {"ended", write_moment(now)}, {"code", code}}))));
}

void AuditLog::refuse(const AuditEntry& entry) const {
  static_cast<void>(add(refusals_name, write_json(sent_form(entry))));
}

Result<std::vector<AuditEntry>> AuditLog::all() const {
  std::vector<AuditEntry> entries;
  std::map<std::string, size_t> begun;
  const std::vector<Value> lines = TRY(lines_of(folder_ / acts_name));
  for (const Value& line : lines) {
    const std::string id(line.text_at("id"));
    if (line.find("ended") == nullptr) {
      begun[id] = entries.size();
      entries.push_back(entry_of(line));
    } else if (const auto found = begun.find(id); found != begun.end()) {
      entries[found->second].ended = line.text_at("ended");
      entries[found->second].code = line.integer_at("code");
    }
  }
  for (const Value& line : TRY(lines_of(folder_ / refusals_name)))
    entries.push_back(entry_of(line));
  std::ranges::stable_sort(entries, {}, &AuditEntry::at);
  return entries;
}

}  // namespace fettle
