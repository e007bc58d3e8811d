#pragma once
/// The nodes of a cluster that is played: the scheduler, a kubelet for all pods, and the daemons that
/// pull. Everything takes a while, on some nodes a long one. An image whose tag starts with
/// `missing` cannot be pulled, until it is there after all.

#include "sim/cluster/world.h"

namespace fettle::sim {

class Nodes {
 public:
  Nodes(World& world, size_t count);

  /// How long things take at most: binding, starting, stopping, pulling.
  Duration longest_step = 300ms, longest_pull = 1s;
  /// From now on missing images are there.
  void bring_missing_images();
  const std::vector<std::string>& names() const { return names_; }
  /// A container of a pod ends by itself, and is started again.
  void break_pod(const std::string& path);

 private:
  struct Container {
    std::string image{};  ///< that runs, or shall
    bool runs = false;
    bool is_pulled = false;  ///< the pull has been begun
    int64_t restarts = 0;
  };
  using Containers = std::map<std::string, Container>;  ///< by name

  void take(std::string_view type, const Value& object);
  void take_pod(std::string_view type, const Value& pod);
  void look_later(const std::string& path, Duration longest);
  void look(const std::string& path);
  void bind(const std::string& path, const Value& pod);
  void finish(const std::string& path, const Value& pod);
  void run(const std::string& path, const Value& pod);
  void start(const std::string& path, const std::string& uid, const std::string& container);
  Value status_of(const Value& pod, const Containers& containers);
  void answer_orders(const std::string& name);
  Value rows_of(const Entry& image, const Value& told);
  bool is_missing(std::string_view tag) const;
  Duration below(Duration longest);

  World& world_;
  std::vector<std::string> names_;
  std::map<std::string, Containers> by_uid_;
  std::set<std::string> expected_;  ///< paths that will be looked at
  bool has_missing_ = true;
};

/// `Ready` of a pod, or another condition.
std::string_view condition_of(const Value& object, std::string_view type);
std::string path_of_pod(const Value& pod);

}  // namespace fettle::sim
