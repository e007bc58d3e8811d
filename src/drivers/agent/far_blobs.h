#pragma once
/// The contents of a server, at its agent: what is not here is asked for, once, and kept as contents
/// of this machine are.

#include <map>
#include <mutex>

#include "base/condition.h"
#include "core/blobs.h"
#include "drivers/agent/act_line.h"

namespace fettle {

class FarBlobs : public Blobs {
 public:
  /// Both must outlive it.
  FarBlobs(Blobs& near, ActLine& line) : near_(near), line_(line) {}

  Result<std::unique_ptr<Draft>> begin() override { return near_.begin(); }
  /// Waits until it is here. Error: the server has lost it, or gives another one.
  Result<bool> has(std::string_view digest) override;
  Result<Blob> open(std::string_view digest) override;

  /// What the server says. False: it is against the rules.
  bool hear(const ActMessage& message);
  /// The server says nothing more.
  void end();

 private:
  struct Arrival {
    std::unique_ptr<Draft> draft;
    Status failed;
    bool is_over = false;
  };

  Status fetch(const std::string& digest);

  Blobs& near_;
  ActLine& line_;
  std::mutex mutex_;  ///< guards what follows
  Condition news_;
  std::map<std::string, uint64_t, std::less<>> numbers_;  ///< of those that are coming
  std::map<uint64_t, Arrival> arrivals_;
  uint64_t last_ = 0;
  bool is_ended_ = false;
};

}  // namespace fettle
