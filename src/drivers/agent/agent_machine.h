#pragma once
/// The machine of an agent, as a run at its server sees it: each act is a call to the other side, many
/// at once over one stream, which begins with the first of them.
///
/// If the stream ends, nobody knows what has become of the acts that were under way: they are errors
/// with `unknown_outcome`, and the next call begins another stream. The agent stops what it was doing.
///
/// A content travels when the agent asks for it, which it does for one that it lacks. It gets only
/// those whose digests it was told in a call, or in a content that it got.

#include <memory>
#include <mutex>
#include <optional>

#include "drivers/agent/act_line.h"
#include "workplace/machines.h"

namespace fettle {

class AgentMachine : public Machine {
 public:
  struct Place {
    std::function<Result<Descriptor>()> connect;          ///< to the agent, for one stream
    std::function<void(const std::string& text)> tell{};  ///< people, from any thread; may be empty
    /// Whoever asks may only look, by what fettle does itself, and why; empty: he may act, too.
    std::string why_only_looks{};
  };
  /// `blobs` must outlive it.
  AgentMachine(std::string name, Place place, Blobs& blobs);
  ~AgentMachine() override;

  const std::string& name() const override { return name_; }
  Driver& driver() override;
  Status begin_states(const Value& settings, std::stop_token stop) override;
  Result<Value> ask_states(const Value& asked, std::stop_token stop) override;
  std::vector<Value> take_additions() override;

 private:
  class Stream;
  class Acts;

  /// The stream that there is, or another one.
  Result<std::shared_ptr<Stream>> stream();
  Error gone(Stream& stream, ActWord of) const;
  /// The answer to a call.
  Result<std::string> ask(ActWord word, const std::string& body, const ProgressSink& progress,
                          const std::stop_token& stop);

  const std::string name_;
  const Place place_;
  Blobs& blobs_;
  std::mutex mutex_;  ///< guards what follows
  std::shared_ptr<Stream> stream_;
  std::optional<std::string> states_;  ///< what each stream begins with
  std::vector<Value> additions_;
  std::unique_ptr<Acts> acts_;
};

}  // namespace fettle
