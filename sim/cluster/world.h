#pragma once
/// A cluster that is played: the API server of the tests, and all who write to it besides
/// controllers. What is asked here is done at once; whoever is far away asks through a `Line`.

#include <deque>
#include <map>

#include "sim/cluster/turns.h"
#include "tests/kubernetes/api_server.h"

namespace fettle::sim {

class Line;

/// How wild it is: percentages of requests, and how long things take.
struct Wildness {
  unsigned lost = 0;        ///< the request never arrives
  unsigned unanswered = 0;  ///< it is done, and the answer is lost
  unsigned refused = 0;     ///< 409, 429, 500 or 503, and not done
  unsigned doubtful = 0;    ///< 500 or 504, though it is done
  unsigned far = 0;         ///< it takes up to `longest_way`
  Duration longest_way = 5ms;
  Duration longest_watch_way = 5ms;  ///< how stale what is told may be
};

class World {
 public:
  explicit World(uint64_t seed) : turns(seed), prng(seed ^ 0x5EED) {}

  /// Something that is told to whoever looks at all pods (`Checks`) or nodes (`Nodes`).
  using Told = std::function<void(std::string_view type, const Value& object)>;
  void begin();
  void listen(Told told) { listeners_.push_back(std::move(told)); }

  /// `who`: the controller that asks; empty: somebody else.
  kubernetes::ApiAnswer handle(const kubernetes::ApiRequest& request, const std::string& who = {});
  kubernetes::ApiAnswer ask(std::string method, std::string target, const Value& body = {},
                            std::string_view patch_type = "merge");
  /// Null: there is none.
  Value get(const std::string& path);
  std::vector<Value> list(const std::string& path);

  /// The first problem of a checker.
  void complain(std::string what);
  const std::string& problem() const { return problem_; }
  void note(std::string line);
  std::string history() const;
  Duration time() { return turns.now().instant - began_; }

  Turns turns;
  kubernetes::ApiServer server{};
  Prng prng;  ///< of what happens; who is next is drawn by `turns`
  Wildness wildness{};
  std::map<uint64_t, Line*> lines;  ///< in the order in which they were made
  uint64_t last_line = 0;
  uint64_t faults = 0;
  uint64_t writes = 0;  ///< of controllers, without those of leases
  bool has_leases = false;
  bool is_away = false;  ///< the server, for controllers

 private:
  void tell();
  void check_lease(const kubernetes::ApiRequest& request, const std::string& who);

  std::vector<uint64_t> watches_;
  std::vector<Told> listeners_;
  bool is_telling_ = false;
  size_t since_compaction_ = 0;
  std::string problem_;
  std::deque<std::string> history_;
  Instant began_ = turns.now().instant;
};

}  // namespace fettle::sim
