/// Commands to an engine that are not about resources.

#include "base/archive.h"
#include "drivers/engine/archives.h"
#include "drivers/engine/build.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/driver.h"
#include "drivers/engine/exec.h"
#include "drivers/engine/images.h"
#include "drivers/engine/marks.h"
#include "drivers/engine/room.h"
#include "drivers/engine/talk.h"

namespace fettle {
namespace {

constexpr size_t enough_to_tell = 4'096;  ///< bytes of an archive that show what it begins with

}  // namespace

Status EngineDriver::reach(std::stop_token stop) {
  TRY(engine(std::move(stop)));
  return {};
}

Result<std::vector<OwnContainer>> EngineDriver::containers_of(const Key& key,
                                                              std::stop_token stop) {
  std::vector<OwnContainer> found;
  for (const ContainerState& state : TRY(own_containers(TRY(site(stop)), key_filters(key), stop)))
    found.push_back({state.id, label(state.labels, mark::container), state.runs()});
  return found;
}

Status EngineDriver::logs(const std::string& container, const LogOptions& options, bool tty,
                          const StreamSink& sink, std::stop_token stop) {
  return read_logs(*TRY(engine(stop)), container, options, tty, sink, stop);
}

Result<int64_t> EngineDriver::run(const std::string& container, const ExecOptions& options,
                                  const StreamSink& sink, std::stop_token stop) {
  return run_exec(*TRY(engine(stop)), container, options, sink, stop);
}

Result<int64_t> EngineDriver::talk(const std::string& container, const ExecOptions& options,
                                   const TalkEnds& ends, const StreamSink& sink,
                                   std::stop_token stop) {
  return talk_inside(*TRY(engine(stop)), container, options, ends, sink, stop);
}

Status EngineDriver::put_archive(const std::string& container, const std::string& folder,
                                 ByteSource tar, std::stop_token stop) {
  return fettle::put_archive(*TRY(engine(stop)), container, folder, std::move(tar), stop);
}

Result<bool> EngineDriver::get_archive(const std::string& container, const std::string& path,
                                       const ByteSink& sink, std::stop_token stop) {
  return fettle::get_archive(*TRY(engine(stop)), container, path, sink, stop);
}

Result<bool> EngineDriver::is_folder(const std::string& container, const std::string& path,
                                     std::stop_token stop) {
  std::string begin;
  // The sink refuses the rest, which nobody needs.
  const auto take = [&](std::string_view bytes) -> Status {
    begin += bytes;
    return begin.size() < enough_to_tell ? Status() : Status(world_error("that is enough"));
  };
  const Result<bool> found = get_archive(container, path, take, stop);
  if (stop.stop_requested())
    return cancelled_error();
  if (begin.empty())
    return found ? Result<bool>(false) : found;
  const auto entry = ArchiveReader(source_of(std::move(begin)), {.links_may_leave = true}).next();
  return entry && *entry && (*entry)->type == ArchiveEntry::Type::directory;
}

Result<Engine*> EngineDriver::running_engine(const std::stop_token& stop) {
  Engine* const found = TRY(engine(stop, /*may_start=*/false));
  // A short question finds out whether the engine hangs, before the long one is put.
  TRY(found->ping(stop));
  return found;
}

Result<std::vector<ListedImage>> EngineDriver::images(std::stop_token stop) {
  return list_images(*TRY(running_engine(stop)), stop);
}

Result<std::vector<ListedImage>> EngineDriver::built_images(std::stop_token stop) {
  TRY(running_engine(stop));
  return fettle::built_images(TRY(site(stop, false)), stop);
}

Result<bool> EngineDriver::remove_built_image(const ListedImage& image, std::stop_token stop) {
  return fettle::remove_built_image(TRY(site(stop, false)), image, stop);
}

Result<EngineRoom> EngineDriver::room(std::stop_token stop) {
  return room_of(*TRY(running_engine(stop)), stop);
}

}  // namespace fettle
