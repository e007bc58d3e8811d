#pragma once
/// What simulated processes remember together: records, contents, and who may act. One remembers in
/// a file on a disk, which a loss of power sets back; another one on a server, to which connections
/// are lost. Each process opens it by itself.

#include "base/prng.h"
#include "sim/disk.h"
#include "sim/lossy_database.h"
#include "store/blobs.h"
#include "store/edit.h"

namespace fettle::sim {

/// What a process is asked and told around each of its writes.
struct WriteHooks {
  std::function<Status()> before;  ///< an error: it is not written, or the process is dead
  std::function<Status(std::span<const Change>)> after;  ///< it is written
  std::function<Loss(Saying)> loss;                      ///< of a connection to a server
  std::function<void(std::string)> complain;
};

class Memory {
 public:
  /// A process that may act.
  class Process {
   public:
    virtual ~Process() = default;
    virtual Edit& edit() = 0;
    virtual FileBlobs& blobs() = 0;
    /// The contents as somebody else sees them who has no faults.
    virtual FileBlobs& blobs_as_seen() { return blobs(); }
    virtual Result<Known> known() = 0;
    /// The connections to a server are lost while nothing is said.
    virtual void lose_connections() {}
  };
  virtual ~Memory() = default;
  virtual Result<std::unique_ptr<Process>> begin(WriteHooks hooks) = 0;
  /// As they are, without faults.
  virtual const Known& known() = 0;
  /// Somebody else takes the right to act, whoever has it.
  virtual void take_right() = 0;
  /// Somebody else clears contents away that nobody refers to.
  virtual void clean() = 0;
  /// What happens to disks; false: it has none of its own.
  virtual bool has_disk() const { return false; }
  virtual void cut_power(Prng&) {}
  virtual void harm(Prng&, SimDisk::Harm) {}
  virtual void set_full(bool) {}
};

std::unique_ptr<Memory> make_file_memory();
std::unique_ptr<Memory> make_server_memory();

}  // namespace fettle::sim
