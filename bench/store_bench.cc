/// What the store costs: contents beside a bare loop that does the same to files, the wait for the
/// right to act, what a push of a million resources costs others who write, and fifty processes at
/// once, in a file or in a shared store.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "store/blobs.h"
#include "store/edit.h"
#include "store/sqlite_store.h"
#include "store/store_opening.h"

namespace fettle {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

/// Ends the program with what went wrong; a benchmark has nobody to tell it to.
template <typename T>
T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", to_string(result.error()).c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>)
    return std::move(*result);
}

std::string content(int i) { return cat(i, std::string(10'000, 'x')); }

/// Writes, syncs, renames and syncs the folder, as whoever wants to keep a file does.
double bare_files(const Path& folder, int count) {
  const auto began = Clock::now();
  for (int i = 0; i < count; ++i) {
    const std::string bytes = content(i), digest = sha256_hex(bytes);
    const Path place = folder / digest.substr(0, 2) / digest.substr(2), beside = folder / "new";
    must(make_directories(place.parent_path()));
    const Descriptor file(open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
        fdatasync(file.get()) != 0 || rename(beside.c_str(), place.c_str()) != 0)
      std::exit(1);
    const Descriptor above(open(place.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fsync(above.get()) != 0)
      std::exit(1);
  }
  return milliseconds(Clock::now() - began);
}

double put_contents(const Path& home, int count) {
  const auto disk = make_posix_disk();
  const auto index = make_sqlite_blob_index((home / "fettle.db").string());
  FileBlobs blobs(*disk, *index, home / "blobs");
  const auto began = Clock::now();
  for (int i = 0; i < count; ++i)
    must(blobs.put(content(i)));
  return milliseconds(Clock::now() - began);
}

void measure_contents(const Path& folder) {
  constexpr int count = 1'000, rounds = 3;
  double bare = 1e9, ours = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const Path one = folder / cat("contents-", round);
    must(make_directories(one / "bare"));
    bare = std::min(bare, bare_files(one / "bare", count));
    must(open_sqlite_store((one / "fettle.db").string()));
    ours = std::min(ours, put_contents(one, count));
  }
  std::printf("put and sync of %d contents of 10 kB: %.0f ms, bare %.0f ms: %.2f (1.2)\n", count,
              ours, bare, ours / bare);
}

void measure_lease(const Path& folder) {
  const std::string path = (folder / "lease.db").string();
  must(open_sqlite_store(path));
  std::vector<double> waits;
  for (int round = 0; round < 50; ++round) {
    const auto mine = must(open_sqlite_store(path)), others = must(open_sqlite_store(path));
    auto begun = must(mine->begin_edit("e", this_process("holder", Time())));
    Clock::time_point freed, taken;
    std::atomic<bool> waits_now{false};
    std::jthread waiter([&] {
      while (true) {  // as `begin_edit` of the verbs
        auto again = must(others->begin_edit("e", this_process("waiter", Time())));
        taken = Clock::now();
        if (again.index() == 0)
          return;
        waits_now = true;
        std::this_thread::sleep_for(5ms);
      }
    });
    while (!waits_now)
      std::this_thread::yield();
    begun = Holder{};
    freed = Clock::now();
    waiter.join();
    waits.push_back(milliseconds(taken - freed));
  }
  std::sort(waits.begin(), waits.end());
  std::printf("a lease that waits for another: median %.1f ms, longest %.1f ms (20)\n",
              waits[waits.size() / 2], waits.back());
}

Delta large_delta(int sets, int items) {
  Delta delta;
  delta.number = 1;
  for (int i = 0; i < sets; ++i) {
    Content made;
    for (int j = 0; j < items; ++j) {
      Item item;
      item.id = cat("test::Host[agent,name=", i, "-", j, "]");
      item.attributes = Value::dict({{"name", cat(i, "-", j)}, {"size", j}});
      made.items.push_back(std::move(item));
    }
    delta.pieces.emplace_back(Piece{cat("set-", i), {}}, seal(std::move(made)));
  }
  std::sort(delta.pieces.begin(), delta.pieces.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  delta.detail = Value::dict({});
  return delta;
}

/// How long each write of a run takes, while `until` is not over.
std::vector<double> run_beside(const std::string& path, const std::atomic<bool>& over) {
  const auto store = must(open_sqlite_store(path));
  auto begun = must(store->begin_edit("other", this_process("run", Time())));
  Edit& edit = *std::get<std::unique_ptr<Edit>>(begun);
  auto record = std::make_shared<Record>();
  record->applied.emplace();
  std::vector<double> waits;
  while (!over) {
    const auto began = Clock::now();
    const Key key{"other", "act", cat(waits.size() % 100)};
    must(edit.write(std::vector{Change{Change::record, key, record, {}}}));
    waits.push_back(milliseconds(Clock::now() - began));
    std::this_thread::sleep_for(1ms);
  }
  return waits;
}

void measure_push(const Path& folder, int resources) {
  const std::string path = (folder / "push.db").string();
  const auto store = must(open_sqlite_store(path));
  std::atomic<bool> over{false};
  std::vector<double> waits;
  std::jthread run([&] { waits = run_beside(path, over); });
  const auto began = Clock::now();
  const auto turn = must(store->versions().begin_push("e"));
  const auto staged = must(turn->stage(large_delta(resources / 5, 5)));
  must(store->wish("e", [&](Wish& wish) { return wish.commit(*staged, Time()); }));
  const double took = milliseconds(Clock::now() - began);
  over = true;
  run.join();
  std::sort(waits.begin(), waits.end());
  std::printf(
      "push of %d resources: %.0f ms; a write beside it: median %.1f ms, p99 %.1f ms, "
      "longest %.1f ms (100)\n",
      resources, took, waits[waits.size() / 2], waits[waits.size() * 99 / 100], waits.back());
}

/// The waits of one of many processes, each of which acts on an environment of its own.
std::vector<double> write_alone(const std::string& address, const std::string& home, int number) {
  constexpr int writes = 100;
  const OpenedStore opened = must(open_store(address, home));
  const Name environment(cat("bench-", number));
  auto begun = must(opened.store->begin_edit(environment, this_process("bench", Time())));
  Edit& edit = *std::get<std::unique_ptr<Edit>>(begun);
  auto record = std::make_shared<Record>();
  record->applied.emplace();
  std::vector<double> waits;
  for (int i = 0; i < writes; ++i) {
    const auto began = Clock::now();
    must(edit.write(std::vector{Change{Change::record, {environment, "act", cat(i)}, record, {}}}));
    waits.push_back(milliseconds(Clock::now() - began));
    std::this_thread::sleep_for(10ms);
  }
  return waits;
}

/// `address`: of a shared store; empty: a file.
void measure_writers(const Path& folder, const std::string& address) {
  constexpr int count = 50;
  const std::string home = folder.string();
  must(open_store(address, home));
  std::vector<int> outputs;
  for (int i = 0; i < count; ++i) {
    int ends[2];
    if (pipe(ends) != 0)
      std::exit(1);
    if (fork() == 0) {
      const std::vector<double> waits = write_alone(address, home, i);
      _exit(write(ends[1], waits.data(), waits.size() * sizeof(double)) > 0 ? 0 : 1);
    }
    close(ends[1]);
    outputs.push_back(ends[0]);
  }
  std::vector<double> waits;
  for (const int output : outputs) {
    double wait = 0;
    while (read(output, &wait, sizeof wait) == sizeof wait)
      waits.push_back(wait);
    close(output);
  }
  std::sort(waits.begin(), waits.end());
  if (waits.empty())
    return;
  std::printf("%d processes on %d environments, %zu writes: median %.1f ms, p99 %.1f ms (50)\n",
              count, count, waits.size(), waits[waits.size() / 2], waits[waits.size() * 99 / 100]);
}

}  // namespace
}  // namespace fettle

int main(int argc, char** argv) {
  const auto folder = fettle::must(fettle::TemporaryDirectory::make("fettle-bench-"));
  const std::string what = argc > 1 ? argv[1] : "";
  if (what.empty() || what == "contents")
    fettle::measure_contents(folder.path());
  if (what.empty() || what == "lease")
    fettle::measure_lease(folder.path());
  if (what.empty() || what == "push")
    fettle::measure_push(folder.path(), argc > 2 ? std::atoi(argv[2]) : 1'000'000);
  // `writers postgres://…`: in a shared store, of which this folder becomes a home.
  if (what.empty() || what == "writers")
    fettle::measure_writers(folder.path(), argc > 2 ? argv[2] : "");
}
