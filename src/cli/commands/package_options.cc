#include "cli/commands/package_options.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/http.h"
#include "base/largest_file.h"
#include "base/text.h"
#include "base/user_variables.h"
#include "cli/commands/commands.h"
#include "cli/print.h"
#include "kinds/service.h"
#include "packages/elsewhere.h"
#include "packages/git_cache.h"
#include "verbs/packages/last_run.h"
#include "verbs/packages/package_arguments.h"

namespace fettle {
namespace {

bool is_url(std::string_view text) {
  return text.starts_with("http://") || text.starts_with("https://");
}

Result<std::string> download(const Workplace& place, const std::string& url) {
  HttpClient client;
  HttpResponse answer = TRY(client.send({.url = url,
                                         .connect_limit = place.limits.connect,
                                         .time_limit = place.limits.whole,
                                         .silence_limit = place.limits.silence,
                                         .body_limit = largest_file,
                                         .follow_redirects = true},
                                        place.interrupt->acts_token()));
  if (answer.status != 200)
    return Error(answer.status >= 500 ? Blame::world : Blame::user,
                 cat("`", url, "` returned status ", answer.status));
  return std::move(answer.body);
}

Result<std::string> read_arguments(const std::string& file) {
  return read_given(file).context(cat("reading `", shown_file(file), "`"));
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// What is said of a compose file: its other files, and where variables come from.
Status read_compose(const Face& face, PackageRequest& request) {
  request.compose.profiles = face.parsed.all("profile");
  request.compose.files = face.parsed.all("file");
  if (request.package.empty()) {
    if (request.compose.files.empty())
      return user_error(
          "name a package: a folder, a `.star` file, a compose file or "
          "`github.com/AUTHOR/REPOSITORY`");
    request.package = request.compose.files.front();
    request.compose.files.erase(request.compose.files.begin());
  }
  for (const std::string& file : face.parsed.all("env-file"))
    request.compose.env_files.emplace_back(
        shown_file(file), TRY(read_arguments(file).context("reading the variables")));
  for (auto& [name, value] : all_user_variables())
    request.compose.variables.emplace(name, value);
  return {};
}

/// Reads arguments from files, from the command line, and single ones. If there is only one place,
/// its text is not changed.
Status read_all_arguments(Face& face, PackageRequest& request) {
  std::vector<ArgumentsPart> parts;
  std::string file_of_last;
  if (face.parsed.flag("reuse-args")) {
    const std::string name = TRY(environment_of_package(request));
    const auto last = TRY(read_last_run(*TRY(face.workplace()), name));
    if (!last)
      return user_error(cat("`", name, "` was never run, so there are no arguments to reuse"));
    file_of_last = last->arguments_file.empty() ? "the last run" : last->arguments_file;
    if (!last->arguments.empty())
      parts.push_back({file_of_last, last->arguments});
  }
  for (const std::string& file : face.parsed.all("args-file")) {
    Workplace* place = TRY(face.workplace());
    Result<std::string> text = is_url(file) ? download(*place, file) : read_arguments(file);
    // A file that cannot be read was named wrongly; a server may be down.
    if (!text)
      return Error(is_url(file) ? text.error().blame : Blame::user, text.error().message)
          .context("reading the arguments");
    parts.push_back({shown_file(file), std::move(*text)});
  }
  if (const std::string given = face.parsed.argument(1); given == "-") {
    const std::vector<std::string>& files = face.parsed.all("args-file");
    if (face.parsed.argument(0) == "-" || std::ranges::find(files, "-") != files.end())
      return user_error("only one of the package, its arguments and `--args-file` can be `-`");
    parts.push_back({shown_file(given), TRY(read_arguments(given))});
  } else if (!given.empty()) {
    parts.push_back({"", given});
  }
  const std::vector<std::string>& sets = face.parsed.all("set");
  if (parts.size() == 1 && sets.empty()) {
    request.arguments = std::move(parts[0].text);
    request.arguments_file = std::move(parts[0].from);
  } else if (!parts.empty() || !sets.empty()) {
    const std::string doing = "reading the arguments";
    request.arguments = TRY(merged_arguments(parts, sets, [&](const std::string& notice) {
                              if (!face.quiet)
                                print_error(notice);
                            }).context(doing));
  }
  return {};
}

}  // namespace

std::vector<CommandOption> package_options() {
  return {
      environment_option(),
      {{"--args-file"},
       "FILE",
       "arguments of the package, JSON or YAML; a file or a URL; of several, the last wins",
       true},
      {{"--set"}, "NAME=VALUE", "one argument, also as `a.b=VALUE`; overrides the others", true},
      {{"--reuse-args"}, "", "start from the arguments of the environment's last run"},
      {{"--package-mirror"},
       "DIR",
       "look for packages in DIR/github.com/AUTHOR/REPOSITORY before fetching them; or "
       "$FETTLE_PACKAGE_MIRROR"},
      {{"--profile"}, "NAME", "run what has this profile in a compose file, too", true},
      {{"--env-file"},
       "FILE",
       "variables of a compose file, in place of the `.env` beside it; of several, the last wins",
       true},
      {{"--main-file"}, "FILE", "the main file (default: main.star)"},
      {{"--main-function-name"}, "NAME", "the main function (default: run)"},
      {{"--resolver"},
       "KIND",
       "default, or overlap: compare lists of instructions, as Kurtosis does",
       false,
       false,
       {"default", "overlap"}},
      {{"--experimental"},
       "FEATURE",
       "NO_INSTRUCTIONS_CACHING: run everything again",
       true,
       false,
       {"NO_INSTRUCTIONS_CACHING"}},
      {{"--prune"}, "", "remove what the package no longer wants"},
      {{"--parallel"}, "", "run in the order of needs, not of the script"},
      {{"--parallelism"}, "N", "how many acts run at the same time (4)"},
      {{"--image-download"},
       "POLICY",
       "missing (pull only what is missing) or always",
       false,
       false,
       {"missing", "always"}},
      {{"-p", "--production"}, "", "restart services when they exit"},
      {{"--privileged"}, "", "allow privileged services and mounts of paths of this machine"},
      {{"--keep-going"}, "", "a failure stops only what needs it"},
      {{"--edit-in-place"},
       "",
       "run a changed command in the existing service instead of replacing the service"},
      {{"--replay"},
       "",
       "repeat the commands that ran in a service before it was started again from outside"},
      {{"--resource-check"},
       "",
       "check that the engine's machine has what services request (on; `=false` turns it off)"},
  };
}

bool names_compose_file(const std::string& word) { return looks_like_compose(word); }

Result<PackageRequest> package_request(Face& face) {
  const CommandLine& parsed = face.parsed;
  PackageRequest request;
  request.package = parsed.argument(0);
  if (request.package == "-") {
    for (const std::string& file : parsed.all("args-file"))
      if (file == "-")
        return user_error("only one of the package and `--args-file` can be standard input");
    request.script = TRY(read_arguments("-"));
  }
  TRY(read_compose(face, request));
  request.environment = parsed.text("enclave");
  request.mirror = parsed.text("package-mirror", variable("FETTLE_PACKAGE_MIRROR"));
  request.main_file = parsed.text("main-file");
  request.main_function = parsed.text("main-function-name");
  const std::string resolver = parsed.text("resolver", "default");
  if (resolver != "default" && resolver != "overlap")
    return user_error(cat("unknown resolver `", resolver, "`, expected `default` or `overlap`"));
  if (resolver == "overlap")
    request.resolver = PackageRequest::Resolver::overlap;
  for (const std::string& feature : parsed.all("experimental")) {
    if (feature != "NO_INSTRUCTIONS_CACHING")
      return user_error(
          cat("unknown experimental feature `", feature, "`, expected `NO_INSTRUCTIONS_CACHING`"));
    request.redo = Redo::always;
  }
  request.leftover = parsed.flag("prune") ? Leftover::remove : Leftover::keep;
  request.order = parsed.flag("parallel") ? ScriptOrder::needs : ScriptOrder::written;
  const int64_t parallelism = TRY(parsed.number("parallelism", 4));
  if (parallelism < 1)
    return user_error(cat("`--parallelism` must be 1 or more, not ", parallelism));
  request.parallelism = static_cast<int>(std::min<int64_t>(parallelism, 256));
  const std::string policy = parsed.text("image-download", "missing");
  if (policy != "missing" && policy != "always")
    return user_error(
        cat("unknown image download policy `", policy, "`, expected `missing` or `always`"));
  request.pull = policy == "always" ? ImagePull::always : ImagePull::missing;
  request.is_production = parsed.flag("production");
  request.allows_privileged = parsed.flag("privileged");
  request.keeps_going = parsed.flag("keep-going");
  request.edits_in_place = parsed.flag("edit-in-place");
  request.replays = parsed.flag("replay");
  request.checks_room = parsed.flag("resource-check", true);
  request.waits = !parsed.flag("no-lease-wait");
  Workplace* place = TRY(face.workplace());
  // With a mirror, nothing is fetched: a package that is not in it is an error.
  if (request.mirror.empty())
    request.fetch = GitCache{place->home + "/packages", place->limits,
                             place->interrupt->acts_token(), place->notice, place->doing}
                        .fetch();
  TRY(read_all_arguments(face, request));
  return request;
}

std::string ports_text(const ServiceView& service) {
  std::string text;
  const Dict asked = read_one<&Service::ports>(service.attributes),
             ports = read_one<&ServiceOutputs::ports>(service.outputs);
  for (const Entry& entry : ports.entries()) {
    const PortOutputs port = read<PortOutputs>(entry.value);
    const Hole<Name> application = read_one<&Port::application>(asked.at(entry.key));
    text += cat(text.empty() ? "" : ", ", entry.key, ": ", port.number, "/",
                lower_case(port.transport.view()));
    if (const int64_t open = port.public_port.value_or(0); open > 0)
      text += cat(" -> ", application.empty() ? "" : cat(application.view(), "://"),
                  "127.0.0.1:", open);
  }
  return text;
}

}  // namespace fettle
