#include "app/extract.h"

#include <cstdio>
#include <iostream>
#include <iterator>

#include <sys/resource.h>

#include "base/process.h"
#include "base/text.h"
#include "value/jq.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr std::string_view word = "--evaluate-jq";
constexpr rlim_t most_memory = rlim_t{1} << 30;
constexpr int code_of_user = 2, code_of_world = 1;

int limit_memory() {
  const rlimit limit{most_memory, most_memory};
  return setrlimit(RLIMIT_AS, &limit) == 0 ? 0 : errno;
}

}  // namespace

Result<Value> run_jq_apart(std::string_view expression, std::string_view text,
                           const std::stop_token& stop, Duration limit) {
  Invocation call;
  call.arguments = {"/proc/self/exe", std::string(word), std::string(expression)};
  call.clean_environment = true;
  call.directory = "/";
  call.input = text;
  call.time_limit = limit;
  call.grace = 0s;
  call.prepare = limit_memory;
  const Result<Finished> done = run_process(call, stop);
  const auto failed = [&](std::string_view why) {
    return world_error(cat("the jq expression `", expression, "` ", why));
  };
  if (!done && done.error().message.ends_with(to_string(limit)))
    return failed(cat("did not end within ", to_string(limit)));
  if (!done)
    return done.error();
  if (done->code == code_of_user || done->code == code_of_world)
    return Error(done->code == code_of_user ? Blame::user : Blame::world,
                 std::string(trim(done->output)));
  if (done->code != 0)
    return failed("needs too much memory");
  return read_json(done->output, {}, Duplicates::last_wins);
}

std::optional<int> evaluate_if_asked(int argc, char** argv) {
  if (argc != 3 || argv[1] != word)
    return std::nullopt;
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const Result<Value> value = run_jq(argv[2], text);
  const std::string said = value ? write_json(*value) : value.error().message;
  std::fwrite(said.data(), 1, said.size(), stdout);
  if (!value)
    return value.error().blame == Blame::user ? code_of_user : code_of_world;
  return 0;
}

}  // namespace fettle
