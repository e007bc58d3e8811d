#include "server/child_calls.h"

#include <sys/resource.h>

#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr size_t most_waiting = 8;
constexpr Duration pause = 1h;
constexpr size_t most_of_message = 2'000;

Invocation invocation_of(const std::string& program, const std::string& home, const ChildCall& call,
                         const ChildLimits& limits) {
  Invocation child;
  child.arguments = {program};
  child.arguments.insert(child.arguments.end(), call.words.begin(), call.words.end());
  // The page shows what is here, whichever server commands are sent to.
  child.arguments.insert(child.arguments.end(), {"--server", "local", "-o", "json", "--quiet"});
  child.environment = {{"FETTLE_HOME", home}};
  child.session = true;
  child.directory = call.folder.empty() ? home : call.folder;
  child.time_limit = limits.time;
  child.output_limit = limits.output_bytes;
  child.prepare = [memory = limits.memory_bytes,
                   seconds = static_cast<rlim_t>(limits.time / 1s + 1)] {
    for (const auto& [what, most] :
         {std::pair(RLIMIT_AS, static_cast<rlim_t>(memory)), std::pair(RLIMIT_CPU, seconds),
          std::pair(RLIMIT_CORE, rlim_t{0})}) {
      const rlimit limit{most, most};
      if (setrlimit(what, &limit) != 0)
        return errno;
    }
    return 0;
  };
  return child;
}

}  // namespace

ChildCalls::ChildCalls(std::string program, std::string home, const ChildLimits& limits)
    : program_(std::move(program)),
      home_(std::move(home)),
      limits_(limits),
      thread_([this](const std::stop_token& stop) {
        while (!stop.stop_requested())
          if (const WorkQueue::Job job = queue_.next(stop, instant_from_clock() + pause))
            job();
      }) {}

void ChildCalls::add(ChildCall call, std::shared_ptr<WebPeer> peer) {
  if (waiting_ >= most_waiting) {
    peer->reply(error_reply(
        503, "too many plans and nodes are being asked for: ask again when one is done"));
    return;
  }
  ++waiting_;
  queue_.add([this, call = std::move(call), peer = std::move(peer)] {
    --waiting_;
    if (!peer->is_gone())
      peer->reply(reply_of(call));
  });
}

void ChildCalls::stop() {
  stop_.request_stop();
  thread_ = {};
  queue_.clear();
}

WebReply ChildCalls::reply_of(const ChildCall& call) const {
  const auto told = [](const Result<Value>& answer) {
    return answer ? document_reply(*answer) : error_reply(answer.error());
  };
  if (call.words.empty())
    return told(call.answer({}));
  const Result<ProcessResult> ended =
      run_process(invocation_of(program_, home_, call, limits_), stop_.get_token());
  if (!ended)
    return error_reply(ended.error());
  const Result<Value> document = read_json(ended->output);
  if (ended->code == 0 && document)
    return told(call.answer(*document));
  // The error is a document, too, unless the child could not even say that.
  if (document && document->is_dict() && document->at("error").is_dict()) {
    WebReply reply = document_reply(*document);
    reply.status = document->at("error").text_at("blame") == "user" ? 400 : 502;
    return reply;
  }
  return error_reply(world_error(
      cat("`fettle ", join(call.words, " "), "` ended with ",
          ended->signal != 0 ? cat("signal ", ended->signal) : cat("code ", ended->code), ": ",
          printable(clipped(std::string(trim(ended->errors)), most_of_message)))));
}

}  // namespace fettle
