#include "store/key_command.h"

#include <map>
#include <mutex>

#include "base/base64.h"
#include "base/process.h"
#include "base/text.h"

namespace fettle {
namespace {

constexpr Duration key_limit = 30s;
constexpr size_t most_key_output = 4'096, most_told = 300;

/// The key itself, or its base64, as what keeps texts keeps it.
std::optional<Seal> key_in(const std::string& output) {
  if (std::optional<Seal> key = Seal::from_bytes(output))
    return key;
  const Result<std::string> bytes = base64_decode_strictly(trim(output));
  return bytes ? Seal::from_bytes(*bytes) : std::nullopt;
}

Result<Seal> ask(std::string_view store, const std::string& id) {
  Invocation call;
  call.arguments = {"sh", "-c", key_command()};
  call.environment = {{"FETTLE_KEY_ID", id}};
  call.session = true;
  call.time_limit = key_limit;
  call.output_limit = most_key_output;
  call.is_own = true;
  const std::string what =
      cat("the command of $FETTLE_KEY_COMMAND, which gives the key of `", store, "`,");
  const Result<ProcessResult> ended = run_process(call, {});
  if (!ended)
    return world_error(cat(what, " does not give it: ", ended.error().message));
  if (ended->code != 0) {
    const std::string said(trim(ended->errors));
    return world_error(cat(what, " ended with ", ended->code, said.empty() ? "" : ": ",
                           clipped(printable(said), most_told)));
  }
  const std::optional<Seal> key = key_in(ended->output);
  if (!key)
    return user_error(cat(what, " printed ", ended->output.size(),
                          " bytes, which are no key: ", Seal::key_size, " bytes, or their base64"));
  return *key;
}

}  // namespace

std::string& key_command() {
  static std::string words;
  return words;
}

Result<Seal> key_by_command(std::string_view store, const std::optional<std::string>& id) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>, Seal> given;  // by command and id
  const std::lock_guard lock(mutex);
  const std::pair asked(key_command(), id.value_or(""));
  const auto found = given.find(asked);
  const Seal key = found != given.end() ? found->second : TRY(ask(store, asked.second));
  if (id && key.id() != *id)
    return user_error(cat("the secrets of the store `", store, "` are sealed with the key ", *id,
                          ", and the command of $FETTLE_KEY_COMMAND gives ", key.id(),
                          "; it has the id that is wanted in $FETTLE_KEY_ID"));
  given.emplace(asked, key);
  return key;
}

Status check_command_gives(std::string_view store, const Seal& key) {
  if (const Result<Seal> given = key_by_command(store, key.id()); !given)
    return user_error(
        cat("$FETTLE_KEY_COMMAND must give the new key before the store gets it: put "
            "it there first, for the id ",
            key.id(), " in $FETTLE_KEY_ID (", given.error().message, ")"));
  return {};
}

}  // namespace fettle
