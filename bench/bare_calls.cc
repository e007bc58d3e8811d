/// bare_calls SOCKET fill IMAGES-FOLDER USED ALL
/// bare_calls SOCKET time ENVIRONMENT USED [ROUNDS]
///
/// What an unchanged run needs of an engine, by nothing but the calls. `fill` makes images: USED of
/// them run as `localhost/fettle/many:0` …, the others are empty and there to be in the way. `time`
/// prints, in ms and each the best of several rounds on new connections: a list of the containers
/// of an environment, the inspections of the images that run, all at once, a list of all images,
/// and the engine's information about itself.

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/archive.h"
#include "base/at_once.h"
#include "base/file.h"
#include "base/text.h"
#include "drivers/engine/images.h"
#include "drivers/engine/marks.h"

namespace fettle {
namespace {

using Clock = std::chrono::steady_clock;

std::string reference_of(int number) { return cat("localhost/fettle/many:", number); }

Result<std::string> empty_image(int number) {
  std::string tar;
  ArchiveWriter writer([&](std::string_view bytes) -> Status {
    tar += bytes;
    return {};
  });
  const std::string text = std::to_string(number);
  TRY(writer.add({.path = "number", .size = text.size()}, source_of(text)));
  TRY(writer.finish());
  return tar;
}

Status fill(Engine& engine, const Path& folder, int used, int all) {
  std::vector<std::string> changes;
  const std::string text = TRY(read_file(folder / "busybox.changes"));
  for (const std::string_view line : split(trim(text), '\n'))
    changes.emplace_back(line);
  for (int i = 0; i < all; ++i) {
    const std::string reference = reference_of(i);
    if (!TRY(image_id(engine, reference, {})).empty())
      continue;
    std::vector<std::string> own = i < used ? changes : std::vector<std::string>();
    own.push_back(cat("LABEL number=", i));
    const std::string tar = i < used ? std::string() : TRY(empty_image(i));
    TRY(import_image(engine, reference, own,
                     i < used ? TRY(source_of_file(folder / "busybox.tar")) : source_of(tar), {}));
  }
  return {};
}

/// A client of its own each time, as a process has.
Status ask(const std::string& socket, const std::vector<std::string>& paths) {
  HttpClient http;
  std::vector<Task> calls;
  for (const std::string& path : paths)
    calls.emplace_back([&](const std::stop_token& stop) -> Status {
      const HttpResponse answer =
          TRY(http.send({.url = cat("http://engine/v1.41", path), .unix_socket = socket}, stop));
      return answer.status == 200 ? Status() : world_error(answer.body);
    });
  return do_at_once(calls, calls.size(), {});
}

Status tell_time(const std::string& socket, const char* what, int rounds,
                 const std::vector<std::string>& paths) {
  double best = 1e9;
  for (int i = 0; i < rounds; ++i) {
    const auto begin = Clock::now();
    TRY(ask(socket, paths));
    const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
    best = std::min(best, took.count());
  }
  std::printf("%s %.0f\n", what, best);
  return {};
}

Status run(const std::vector<std::string>& arguments) {
  const auto number = [&](size_t at, int otherwise) {
    return arguments.size() > at ? std::atoi(arguments[at].c_str()) : otherwise;
  };
  if (arguments.size() == 5 && arguments[1] == "fill") {
    HttpClient http;
    Engine engine(
        http,
        {.text = arguments[0], .unix_socket = arguments[0], .base = "http://engine", .ssh = {}});
    return fill(engine, arguments[2], number(3, 0), number(4, 0));
  }
  if (arguments.size() < 4 || arguments[1] != "time")
    return user_error("usage: bare_calls SOCKET fill|time …");
  const int rounds = number(4, 7);
  std::vector<std::string> images;
  for (int i = 0; i < number(3, 0); ++i)
    images.push_back(cat("/images/", reference_of(i), "/json"));
  const std::string filter = filters({{"label", environment_filter(Name(arguments[2]))}});
  TRY(tell_time(arguments[0], "containers", rounds,
                {cat("/containers/json?all=1&filters=", percent_encode(filter))}));
  TRY(tell_time(arguments[0], "inspections", rounds, images));
  TRY(tell_time(arguments[0], "images", rounds, {"/images/json"}));
  return tell_time(arguments[0], "info", rounds, {"/info"});
}

}  // namespace
}  // namespace fettle

int main(int count, char** values) {
  const fettle::Status done = fettle::run(std::vector<std::string>(values + 1, values + count));
  if (!done)
    std::fprintf(stderr, "bare_calls: %s\n", fettle::to_string(done.error()).c_str());
  return done ? 0 : 1;
}
