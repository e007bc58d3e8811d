#pragma once
/// A container engine as commands see it: logs, shells, files, images and capacity.
///
/// A container driver looks after resources; people also ask an engine, of this machine or of a
/// node, about other things. Verbs use this interface, so that supporting another engine takes
/// another driver and nothing else. Containers are named by the engine's ids. Calls block, and
/// return soon after their stop token is triggered.

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/time.h"
#include "core/key.h"

namespace fettle {

enum class OutputStream { out, errors };
using StreamSink = std::function<Status(OutputStream, std::string_view)>;

struct LogOptions {
  int tail = -1;  ///< the number of last lines; all when negative
  bool follow = false;
  bool timestamps = false;
  std::string since{}, until{};  ///< seconds since 1970, with a fraction; empty: no limit
  bool out = true;
  bool errors = true;
};

struct ExecOptions {
  std::vector<std::string> command;
  std::vector<std::string> environment{};  ///< `NAME=value`
  std::string user{};
  std::string directory{};
  bool tty = false;
  bool input = false;      ///< whether its stdin is open; only of `talk`
  Duration time_limit{0};  ///< for `run`; 0: the engine's limits apply
};

struct WindowSize {
  int rows = 0, columns = 0;
  bool operator==(const WindowSize&) const = default;
};

/// This side of a conversation.
struct TalkEnds {
  int input = -1;    ///< is read and passed on until its end; -1: nothing
  int resized = -1;  ///< readable when the window may have been resized; -1: never
  std::function<std::optional<WindowSize>()> size;  ///< none: there is no window
};

/// A container that was made for a resource.
struct OwnContainer {
  std::string id;
  std::string name;  ///< in a pod, its name there; empty: a service, or the holder of a pod
  bool runs = false;
};

struct ListedImage {
  std::string id;                       ///< `sha256:…`
  std::vector<std::string> references;  ///< in full: by tag, and by digest
  int64_t bytes = 0;
};

/// The capacity of an engine's machine; 0: unknown.
struct EngineRoom {
  int64_t millicores = 0;
  int64_t bytes = 0;
};

class ContainerEngine {
 public:
  virtual ~ContainerEngine() = default;

  /// Whether the engine answers; starts one where that is possible.
  virtual Status reach(std::stop_token stop) = 0;
  /// The containers of a resource, without those of another home.
  virtual Result<std::vector<OwnContainer>> containers_of(const Key& key, std::stop_token stop) = 0;

  /// The output of a container, piece by piece as it arrives. Several threads may ask at once.
  /// `tty`: the container was created with a terminal.
  virtual Status logs(const std::string& container, const LogOptions& options, bool tty,
                      const StreamSink& sink, std::stop_token stop) = 0;
  /// Runs a command to its end, passes on the output as it arrives, and returns the exit code. For
  /// a program that does not exist, that is 126 or 127, and the output says so. When nothing waits
  /// for the end any more (a stop, a limit, a sink that refuses), the command is ended where that
  /// is possible.
  virtual Result<int64_t> run(const std::string& container, const ExecOptions& options,
                              const StreamSink& sink, std::stop_token stop) = 0;
  /// The same with the input of `ends`. A stop ends the conversation (`is_cancelled`), and the
  /// command where that is possible.
  virtual Result<int64_t> talk(const std::string& container, const ExecOptions& options,
                               const TalkEnds& ends, const StreamSink& sink,
                               std::stop_token stop) = 0;

  /// Unpacks a tar in a folder of the container, which must exist.
  virtual Status put_archive(const std::string& container, const std::string& folder,
                             ByteSource tar, std::stop_token stop) = 0;
  /// The tar of a file or folder, whose paths start with its last component. False if nothing
  /// exists at that path.
  virtual Result<bool> get_archive(const std::string& container, const std::string& path,
                                   const ByteSink& sink, std::stop_token stop) = 0;
  /// Whether a path in a container is a folder.
  virtual Result<bool> is_folder(const std::string& container, const std::string& path,
                                 std::stop_token stop) = 0;

  /// All images that have a name. Starts no engine, and first makes a short call to see whether one
  /// answers.
  virtual Result<std::vector<ListedImage>> images(std::stop_token stop) = 0;
  /// Those that this home has built, named or not; asks in the same way as `images`.
  virtual Result<std::vector<ListedImage>> built_images(std::stop_token /*stop*/) {
    return std::vector<ListedImage>();
  }
  /// Takes the names of its build from one of them, so that it goes unless somebody gave it another
  /// one. False: a container uses it.
  virtual Result<bool> remove_built_image(const ListedImage& /*image*/, std::stop_token /*stop*/) {
    return false;
  }
  /// The capacity of the machine; asks in the same way as `images`.
  virtual Result<EngineRoom> room(std::stop_token stop) = 0;
};

}  // namespace fettle
