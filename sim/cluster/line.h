#pragma once
/// The way from one controller to the API server, on which everything takes time and some of it is
/// lost. It can be cut for good, as when the process dies, and for a while.

#include "kubernetes/transport.h"
#include "sim/cluster/world.h"

namespace fettle::sim {

class Line : public kubernetes::Transport {
 public:
  Line(World& world, std::string who);
  ~Line() override;
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  Result<HttpResponse> send(HttpRequest request, std::stop_token stop) override;
  void start(HttpRequest request, std::stop_token stop, HttpClient::Done done) override;

  /// The process is dead: nothing is sent any more, and what is under way may still arrive.
  void cut();
  bool is_cut() const { return is_cut_; }
  /// Cuts it when so many more writes have arrived: after the answer, or before it.
  void cut_after(uint64_t writes) { writes_left_ = writes; }
  /// Nothing comes through, in neither direction.
  void part(bool is_parted) { is_parted_ = is_parted; }
  /// The process is paused, so it takes nothing.
  void hold(bool is_held);
  /// Watches end; some in the middle of a line.
  void break_streams();
  /// The server has something to tell.
  void note_change();

 private:
  struct Exchange;
  struct Fate;
  struct Stream {
    HttpRequest request;
    uint64_t watch = 0;
    HttpClient::Done done{};
    std::unique_ptr<std::stop_callback<std::function<void()>>> on_stop{};
    Instant heard{};
    bool is_expected = false;  ///< it will be looked at soon
  };
  using Number = uint64_t;

  Fate draw(const HttpRequest& request);
  Duration way();
  void arrive(const std::shared_ptr<Exchange>& exchange, const Fate& fate);
  void count_write();
  void open_stream(Number number, HttpRequest request, std::stop_token stop, HttpClient::Done done);
  void look_later(Number number, Duration pause);
  void look(Number number);
  void look_at_all();
  void end_stream(Number number, Result<HttpResponse> how);
  /// On the agenda, unless the line is gone by then.
  void after(Duration pause, std::function<void()> act);

  World& world_;
  const std::string who_;
  const Number number_;  ///< of this line
  std::shared_ptr<Line*> self_ = std::make_shared<Line*>(this);
  std::map<Number, std::shared_ptr<Exchange>> exchanges_;
  std::map<Number, Stream> streams_;
  Number last_ = 0;
  std::optional<uint64_t> writes_left_;
  bool is_cut_ = false, is_parted_ = false, is_held_ = false;
};

}  // namespace fettle::sim
