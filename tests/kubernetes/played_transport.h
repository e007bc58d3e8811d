#pragma once
/// Carries requests to an API server in the process, on the thread that asks, under a clock that is
/// played: nothing of a watch arrives before somebody says so. Many threads may ask at once; streams
/// are of one thread.

#include <list>
#include <mutex>

#include "kubernetes/transport.h"
#include "tests/kubernetes/api_server.h"
#include "value/json.h"

namespace fettle::kubernetes {

class PlayedTransport : public Transport {
 public:
  PlayedTransport(ApiServer& server, const Time& now) : server_(server), now_(now) {}

  Result<HttpResponse> send(HttpRequest request, std::stop_token) override {
    if (is_away)
      return world_error("nobody answers");
    return response_of(answer_to(request));
  }
  void start(HttpRequest request, std::stop_token, HttpClient::Done done) override {
    if (is_away)
      return done(world_error("nobody answers"));
    const ApiAnswer answer = answer_to(request);
    if (!answer.watch)
      return done(response_of(answer));
    streams_.push_back({std::move(request), *answer.watch, std::move(done)});
  }

  /// Brings what watches have told by now.
  void deliver() {
    for (auto stream = streams_.begin(); stream != streams_.end();) {
      std::string lines;
      const bool goes_on = take_lines(stream->watch, lines);
      const Status taken = lines.empty() ? Status() : stream->request.sink(lines);
      if (taken && goes_on)
        ++stream;
      else
        stream = end(stream, taken ? Result<HttpResponse>(HttpResponse{.status = 200})
                                   : Result<HttpResponse>(taken.error()));
    }
  }
  /// Connections break, with what was on its way.
  void cut() {
    while (!streams_.empty())
      end(streams_.begin(), world_error("the connection broke"));
  }

  bool is_away = false;

 private:
  struct Stream {
    HttpRequest request;
    uint64_t watch;
    HttpClient::Done done;
  };

  /// Threads may ask at once.
  ApiAnswer answer_to(const HttpRequest& request) {
    const std::lock_guard lock(asking_);
    return server_.handle(asked(request), now_);
  }
  static ApiRequest asked(const HttpRequest& request) {
    ApiRequest asked{.method = request.method, .target = request.url, .body = request.body};
    for (const HttpHeader& header : request.headers) {
      if (header.name == "Content-Type")
        asked.content_type = header.value;
      if (header.name == "Accept")
        asked.accept = header.value;
    }
    return asked;
  }
  static HttpResponse response_of(const ApiAnswer& answer) {
    HttpResponse response{.status = answer.status,
                          .body = write_json(answer.body, {.show_secrets = true})};
    for (const auto& [name, value] : answer.headers)
      response.headers.push_back({name, value});
    return response;
  }
  bool take_lines(uint64_t watch, std::string& lines) {
    const std::lock_guard lock(asking_);
    return server_.take_lines(watch, lines, now_);
  }
  void leave(uint64_t watch) {
    const std::lock_guard lock(asking_);
    server_.leave(watch);
  }
  std::list<Stream>::iterator end(std::list<Stream>::iterator stream, Result<HttpResponse> how) {
    leave(stream->watch);
    const HttpClient::Done done = std::move(stream->done);
    const auto next = streams_.erase(stream);
    done(std::move(how));
    return next;
  }

  ApiServer& server_;
  const Time& now_;
  std::list<Stream> streams_;
  std::mutex asking_;
};

}  // namespace fettle::kubernetes
