#include "remote/run_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/rfc3339.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

constexpr size_t kept_runs = 100;
constexpr uint64_t most_kept_bytes = 256 << 20, most_read_at_once = 1 << 20;

std::vector<int64_t> numbers_of(const Path& runs) {
  std::vector<int64_t> numbers;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(runs, ignored)) {
    const std::string name = entry.path().filename().string();
    int64_t number = 0;
    const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (failure == std::errc() && end == name.data() + name.size())
      numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

bool is_running(const Path& folder) { return LockFile::is_taken(folder / "lock").value_or(false); }

RunView view_of(const Path& runs, int64_t number) {
  const Path folder = runs / std::to_string(number);
  RunView run;
  run.number = number;
  // First: a run that ends meanwhile has a code then.
  run.is_running = is_running(folder);
  if (const auto text = read_file(folder / "about"))
    if (const auto about = read_json(*text)) {
      run.command = about->text_at("command");
      run.began = about->text_at("began");
      run.token = about->text_at("token");
      run.token_id = about->text_at("token_id");
      run.watch = right_named(about->text_at("watch")).value_or(Right::admin);
      for (const Value& name : items_of(about->at("environments")))
        if (name.is_text())
          run.environments.push_back(name.text().str());
    }
  if (const auto text = read_file(folder / "code")) {
    int64_t code = 0;
    const std::string_view digits = trim(*text);
    if (std::from_chars(digits.data(), digits.data() + digits.size(), code).ec == std::errc()) {
      run.code = code;
      run.is_running = false;
    }
  }
  return run;
}

}  // namespace

RunLog::RunLog(Path folder, int64_t number, LockFile lock)
    : folder_(std::move(folder)), number_(number), lock_(std::move(lock)) {}

Result<RunLog> RunLog::begin(const Path& runs, const RunAbout& about, Time now) {
  TRY(make_directories(runs));
  std::vector<int64_t> numbers = numbers_of(runs);
  for (size_t i = 0; i + kept_runs <= numbers.size(); ++i)
    if (const Path old = runs / std::to_string(numbers[i]); !is_running(old))
      static_cast<void>(remove_tree(old));
  int64_t number = numbers.empty() ? 1 : numbers.back() + 1;
  while (mkdir((runs / std::to_string(number)).c_str(), 0700) != 0) {
    if (errno != EEXIST)
      return file_error("cannot make", runs / std::to_string(number));
    ++number;
  }
  const Path folder = runs / std::to_string(number);
  std::optional<LockFile> lock = TRY(LockFile::take(folder / "lock"));
  if (!lock)
    return world_error(cat("somebody else has the lock of run ", number));
  RunLog log(folder, number, *std::move(lock));
  std::vector<Value> environments(about.environments.begin(), about.environments.end());
  TRY(write_file(folder / "about",
                 write_json(Value::dict({{"command", about.command},
                                         {"began", write_moment(now)},
                                         {"token", about.token},
                                         {"token_id", about.token_id},
                                         {"watch", to_string(about.watch)},
                                         {"environments", Value::list(std::move(environments))}})),
                 0600));
  const Path frames = folder / "frames", control = folder / "control";
  log.frames_ = Descriptor(::open(frames.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log.frames_.is_open())
    return file_error("cannot write", frames);
  if (mkfifo(control.c_str(), 0600) != 0)
    return file_error("cannot make", control);
  // With both ends open it is never at its end.
  log.control_ = Descriptor(::open(control.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!log.control_.is_open())
    return file_error("cannot open", control);
  return log;
}

Status RunLog::add(FrameType type, std::string_view payload) {
  if (is_full_)
    return {};
  std::string bytes = packed(type, payload);
  is_full_ = size_ + bytes.size() > most_kept_bytes;
  if (is_full_)
    bytes = packed(FrameType::errors,
                   "\nfettle: the run has printed more than 256 MB; no more of it is kept\n");
  for (std::string_view left = bytes; !left.empty();) {
    const ssize_t count = ::write(frames_.get(), left.data(), left.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0) {
      const Error error = file_error("cannot write", folder_ / "frames");
      // Part of a frame would take the sense of all that follow.
      static_cast<void>(!ftruncate(frames_.get(), static_cast<off_t>(size_)));
      return error;
    }
    left.remove_prefix(static_cast<size_t>(count));
  }
  size_ += bytes.size();
  return {};
}

Status RunLog::end(int code) { return write_file(folder_ / "code", cat(code, "\n"), 0600); }

void RunLog::take_request() const {
  std::array<char, 16> ignored{};
  static_cast<void>(!::read(control_.get(), ignored.data(), ignored.size()));
}

Result<std::string> RunLog::read(uint64_t from) const {
  std::string bytes(2 * piece_bytes, '\0');  // at least one frame
  const ssize_t count = pread(frames_.get(), bytes.data(), bytes.size(), static_cast<off_t>(from));
  if (count < 0)
    return file_error("cannot read", folder_ / "frames");
  bytes.resize(static_cast<size_t>(count));
  return bytes;
}

std::vector<RunView> list_runs(const Path& runs) {
  std::vector<RunView> views;
  for (const int64_t number : numbers_of(runs))
    views.push_back(view_of(runs, number));
  return views;
}

Result<RunView> find_run(const std::vector<RunView>& runs, int64_t number) {
  if (number == 0) {
    if (runs.empty())
      return user_error("the server has no run yet");
    const auto running =
        std::find_if(runs.rbegin(), runs.rend(), std::mem_fn(&RunView::is_running));
    return running == runs.rend() ? runs.back() : *running;
  }
  const auto found = std::ranges::find(runs, number, &RunView::number);
  if (found == runs.end())
    return user_error(cat("there is no run ", number, "; `fettle runs` lists them"));
  return *found;
}

Result<RunView> find_run(const Path& runs, int64_t number) {
  if (number != 0 && std::ranges::binary_search(numbers_of(runs), number))
    return view_of(runs, number);
  return find_run(list_runs(runs), number);
}

Result<RunPieces> read_pieces(const Path& runs, int64_t number, uint64_t after) {
  const auto no_place = [&] {
    return user_error(cat("no piece of what run ", number, " has printed begins at ", after,
                          ": ask from 0 on, or from `next` of the part before"));
  };
  const Descriptor file = TRY(open_to_read(runs / std::to_string(number) / "frames"));
  if (after > static_cast<uint64_t>(std::max<off_t>(lseek(file.get(), 0, SEEK_END), 0)))
    return no_place();
  RunPieces read{{}, after};
  FrameReader reader;
  std::string bytes(piece_bytes, '\0');
  for (uint64_t at = after; at - after < most_read_at_once;) {
    const ssize_t count = pread(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (count <= 0)
      break;
    at += static_cast<uint64_t>(count);
    reader.add({bytes.data(), static_cast<size_t>(count)});
    while (true) {
      Result<std::optional<Frame>> frame = reader.next();
      if (!frame ||
          (*frame && (*frame)->type != FrameType::output && (*frame)->type != FrameType::errors))
        return no_place();
      if (!*frame)
        break;
      read.next += packed((*frame)->type, (*frame)->payload).size();
      if (!read.pieces.empty() && read.pieces.back().type == (*frame)->type)
        read.pieces.back().payload += (*frame)->payload;
      else
        read.pieces.push_back(*std::move(*frame));
    }
  }
  return read;
}

Status ask_to_stop(const Path& runs, int64_t number) {
  const RunView run = TRY(find_run(runs, number));
  if (!run.is_running)
    return user_error(cat("run ", run.number, " has ended"));
  const Path control = runs / std::to_string(run.number) / "control";
  const Descriptor pipe(::open(control.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (!pipe.is_open() || ::write(pipe.get(), "s", 1) != 1)
    return world_error(cat("run ", run.number, " does not hear"));
  return {};
}

std::string_view status_of(const RunView& run) {
  return run.is_running ? "running" : run.code ? "ended" : "killed";
}

Value sent_form(const RunView& run) {
  return Value::dict({{"run", run.number},
                      {"command", run.command},
                      {"began", run.began},
                      {"token", run.token},
                      {"is_running", run.is_running},
                      {"code", run.code ? Value(*run.code) : Value()}});
}

RunView run_view_of(const Value& sent) {
  RunView run;
  run.number = sent.integer_at("run");
  run.command = sent.text_at("command");
  run.began = sent.text_at("began");
  run.token = sent.text_at("token");
  run.is_running = sent.bool_at("is_running");
  if (sent.at("code").is_integer())
    run.code = sent.integer_at("code");
  return run;
}

}  // namespace fettle
