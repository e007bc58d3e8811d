#include "drivers/handler/lent.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "base/tail.h"
#include "base/text.h"
#include "base/words.h"

namespace fettle {
namespace {

using starlark::Call;
using starlark::NamedValue;
using starlark::Signature;
using starlark::Want;

constexpr size_t most_bytes = 16 << 20;

Error with_place(const Call& call, Error error) {
  Error placed = call.thread.error(cat(call.function, ": ", to_string(error)));
  placed.blame = error.blame;
  return placed;
}

/// The value, or a return of its error with the place of the call.
#define TRY_IN(call, ...)                               \
  __extension__({                                       \
    auto result_in_call = (__VA_ARGS__);                \
    if (!result_in_call)                                \
      return with_place(call, result_in_call.error());  \
    ::fettle::unwrap_of_try(std::move(result_in_call)); \
  })

std::string text_or(starlark::Value value, std::string_view otherwise) {
  return value.is_unset() ? std::string(otherwise) : starlark::text_of(value);
}

Result<std::vector<std::pair<std::string, std::string>>> texts_in(const Call& call,
                                                                  starlark::Value dict) {
  std::vector<std::pair<std::string, std::string>> pairs;
  if (dict.is_unset())
    return pairs;
  for (const auto& [key, value] : starlark::entries_of(dict)) {
    if (starlark::type_of(key) != starlark::Type::text ||
        starlark::type_of(value) != starlark::Type::text)
      return call.thread.error(cat(call.function, ": names and values must be strings"));
    pairs.emplace_back(starlark::text_of(key), starlark::text_of(value));
  }
  return pairs;
}

Result<std::vector<std::string>> words_in(const Call& call, starlark::Value given) {
  if (starlark::type_of(given) == starlark::Type::text)
    return TRY_IN(call, split_command(starlark::text_of(given)));
  std::vector<std::string> words;
  for (size_t i = 0; i < starlark::length_of(given); ++i) {
    const starlark::Value word = starlark::item_of(given, i);
    if (starlark::type_of(word) != starlark::Type::text)
      return call.thread.error(cat(call.function, ": for parameter words: got a list with ",
                                   starlark::type_name(word), ", want strings"));
    words.push_back(starlark::text_of(word));
  }
  return words;
}

Result<starlark::Value> run_command(Call& call, const Loan& loan) {
  static const Signature signature("run", {{"words", Want::list | Want::tuple | Want::text},
                                           {"cwd?", Want::text},
                                           {"env?", Want::dict},
                                           {"input?", Want::text},
                                           {"check?", Want::boolean}});
  const std::vector<starlark::Value> given = TRY(signature.bind(call));
  Invocation invocation;
  invocation.arguments = TRY(words_in(call, given[0]));
  invocation.directory = text_or(given[1], "");
  invocation.environment = TRY(texts_in(call, given[2]));
  invocation.input = text_or(given[3], "");
  invocation.time_limit = loan.left();
  invocation.output_limit = most_bytes;
  const ProcessResult done = TRY_IN(call, run_process(invocation, loan.stop));
  const bool check = given[4].is_unset() || starlark::truth_of(given[4]);
  if (check && done.code != 0) {
    Tail tail;
    tail.add(done.output);
    tail.add(done.errors);
    return call.thread.error(cat("`", invocation.arguments[0], "` exited with code ", done.code,
                                 tail.lines().empty() ? "" : cat(":\n", tail.lines())));
  }
  return call.heap().structure(std::vector<NamedValue>{{"code", call.heap().integer(done.code)},
                                                       {"output", call.heap().text(done.output)},
                                                       {"errors", call.heap().text(done.errors)}});
}

Result<std::string> path_in(const Call& call, starlark::Value value) {
  std::string path = starlark::text_of(value);
  if (!path.starts_with('/') || path.find('\0') != path.npos)
    return call.thread.error(cat(call.function, ": the path must be absolute, not `", path, "`"));
  return path;
}

Result<starlark::Value> read_text(Call& call) {
  static const Signature signature("read", {{"path", Want::text}});
  const std::string path = TRY(path_in(call, TRY(signature.bind(call))[0]));
  struct stat about{};
  if (stat(path.c_str(), &about) != 0)
    return starlark::Value::none();
  if (!S_ISREG(about.st_mode))  // a pipe would block us for ever
    return call.thread.error(cat("read: `", path, "` is not a file"));
  const ByteSource source = TRY_IN(call, source_of_file(path));
  return call.heap().text(TRY_IN(call, read_all(source, most_bytes)));
}

Result<starlark::Value> write_text(Call& call) {
  static const Signature signature(
      "write", {{"path", Want::text}, {"content", Want::text}, {"mode?", Want::integer}});
  const std::vector<starlark::Value> given = TRY(signature.bind(call));
  const std::string path = TRY(path_in(call, given[0]));
  const int64_t mode = given[2].is_unset() ? 0644 : starlark::integer_of(given[2]).value_or(-1);
  if (mode < 0 || mode > 07777)
    return call.thread.error("write: for parameter mode: want a mode such as 0o644");
  TRY_IN(call, write_file(path, starlark::text_of(given[1]), static_cast<unsigned>(mode)));
  return starlark::Value::none();
}

Result<starlark::Value> exists(Call& call) {
  static const Signature signature("exists", {{"path", Want::text}});
  return starlark::Value::boolean(file_exists(TRY(path_in(call, TRY(signature.bind(call))[0]))));
}

Result<starlark::Value> remove_text(Call& call) {
  static const Signature signature("remove", {{"path", Want::text}});
  const std::string path = TRY(path_in(call, TRY(signature.bind(call))[0]));
  if (unlink(path.c_str()) != 0 && errno != ENOENT)
    return with_place(call, file_error("cannot remove", path));
  return starlark::Value::none();
}

Result<starlark::Value> request(Call& call, const Loan& loan) {
  static const Signature signature("request", {{"url", Want::text},
                                               {"method?", Want::text},
                                               {"headers?", Want::dict},
                                               {"body?", Want::text}});
  const std::vector<starlark::Value> given = TRY(signature.bind(call));
  HttpRequest asked;
  asked.url = starlark::text_of(given[0]);
  asked.method = text_or(given[1], "GET");
  for (auto& [name, value] : TRY(texts_in(call, given[2])))
    asked.headers.push_back({name, value});
  asked.body = text_or(given[3], "");
  asked.time_limit = loan.left();
  asked.body_limit = most_bytes;
  const HttpResponse answer = TRY_IN(call, loan.http->send(std::move(asked), loan.stop));
  starlark::HeapAccess heap = call.heap();
  const starlark::Value headers = heap.dict();
  for (const HttpHeader& header : answer.headers)
    heap.insert(headers, heap.text(lower_case(header.name)), heap.text(header.value));
  return heap.structure(std::vector<NamedValue>{{"status", heap.integer(answer.status)},
                                                {"headers", headers},
                                                {"body", heap.text(answer.body)}});
}

Result<starlark::Value> skip(Call& call, Loan& loan) {
  static const Signature signature("skip", {{"reason", Want::text}});
  loan.skipped = starlark::text_of(TRY(signature.bind(call))[0]);
  if (loan.skipped.empty())
    loan.skipped = "the handler skips it";
  return call.thread.error(cat("skipped: ", loan.skipped));
}

#undef TRY_IN

}  // namespace

Duration Loan::left() const {
  return std::max<Duration>(1ms, ends - std::chrono::steady_clock::now());
}

void lend(starlark::Session& session, Loan& loan) {
  starlark::HeapAccess heap = session.heap();
  session.predeclare("command",
                     heap.module("command", std::vector<NamedValue>{
                                                {"run", session.native("run", [&loan](Call& call) {
                                                   return run_command(call, loan);
                                                 })}}));
  session.predeclare("files",
                     heap.module("files", std::vector<NamedValue>{
                                              {"read", session.native("read", read_text)},
                                              {"write", session.native("write", write_text)},
                                              {"exists", session.native("exists", exists)},
                                              {"remove", session.native("remove", remove_text)}}));
  session.predeclare(
      "http", heap.module("http", std::vector<NamedValue>{
                                      {"request", session.native("request", [&loan](Call& call) {
                                         return request(call, loan);
                                       })}}));
  session.predeclare("skip",
                     session.native("skip", [&loan](Call& call) { return skip(call, loan); }));
}

}  // namespace fettle
