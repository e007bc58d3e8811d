#include "sim/memory.h"
#include "sim/store.h"

namespace fettle::sim {
namespace {

class FileProcess : public Memory::Process {
 public:
  FileProcess(SimStore& file, SimDisk& disk, WriteHooks hooks)
      : file_(file),
        index_(file),
        blobs_(disk, index_, "blobs"),
        edit_(file, "e", std::move(hooks.before), std::move(hooks.after)) {}
  Edit& edit() override { return edit_; }
  FileBlobs& blobs() override { return blobs_; }
  Result<Known> known() override { return file_.known(); }

 private:
  SimStore& file_;
  SimIndex index_;
  FileBlobs blobs_;
  SimEdit edit_;
};

class FileMemory : public Memory {
 public:
  Result<std::unique_ptr<Process>> begin(WriteHooks hooks) override {
    return std::unique_ptr<Process>(std::make_unique<FileProcess>(file_, disk_, std::move(hooks)));
  }
  const Known& known() override { return file_.known(); }
  void take_right() override { file_.take_right(); }
  void clean() override {
    SimIndex index(file_);
    FileBlobs other(disk_, index, "blobs");
    static_cast<void>(other.clear());
  }
  bool has_disk() const override { return true; }
  void cut_power(Prng& prng) override {
    file_.lose_last(prng, 3);
    disk_.cut_power(prng);
  }
  void harm(Prng& prng, SimDisk::Harm harm) override { disk_.harm(prng, harm); }
  void set_full(bool full) override { disk_.set_full(full); }

 private:
  SimStore file_;
  SimDisk disk_;
};

}  // namespace

std::unique_ptr<Memory> make_file_memory() { return std::make_unique<FileMemory>(); }

}  // namespace fettle::sim
