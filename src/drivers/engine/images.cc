#include "drivers/engine/images.h"

#include <algorithm>
#include <array>

#include "base/base64.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr Duration pull_progress_interval = 100ms;

/// Encodes in the alphabet for URLs.
std::string base64(std::string_view bytes) {
  std::string text = base64_encode(bytes);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

std::string login_header(const std::optional<RegistryLogin>& login, std::string_view registry) {
  if (!login)
    return base64("{}");
  if (login->is_token)
    return base64(
        write_json(Value::dict({{"identitytoken", login->password}, {"serveraddress", registry}}),
                   {.show_secrets = true}));
  return base64(write_json(Value::dict({{"username", login->username},
                                        {"password", login->password},
                                        {"serveraddress", registry}}),
                           {.show_secrets = true}));
}

std::string megabytes(int64_t bytes) { return cat(bytes / 1'000'000, ".", bytes / 100'000 % 10); }

}  // namespace

std::string registry_of(std::string_view reference) {
  const std::string full = full_reference(reference);
  return full.substr(0, full.find('/'));
}

Result<ImageFacts> image_facts(Engine& engine, const std::string& reference, std::stop_token stop) {
  const std::string full = full_reference(reference);
  const EngineAnswer answer = TRY(engine.ask({.path = "/images/" + full + "/json"}, stop));
  if (answer.status == 404)
    return ImageFacts{};
  if (!answer.ok())
    return engine_error(answer);
  ImageFacts facts{.id = std::string(answer.body.text_at("Id")), .digest = {}};
  if (!facts.id.empty() && !facts.id.starts_with("sha256:"))
    facts.id = "sha256:" + facts.id;
  const Value& digests = answer.body.at("RepoDigests");
  const std::string name = split_reference(full).first;
  if (digests.is_list())
    for (const Value& each : digests.items())
      if (const std::string text = to_text(each);
          full_reference(text).starts_with(name + "@") && facts.digest.empty())
        facts.digest = text.substr(text.find('@') + 1);
  return facts;
}

Result<std::vector<ListedImage>> list_images(Engine& engine, std::stop_token stop) {
  const EngineAnswer answer = TRY(engine.ask({.path = "/images/json"}, std::move(stop)));
  if (!answer.ok())
    return engine_error(answer);
  std::vector<ListedImage> images;
  if (!answer.body.is_list())
    return images;
  for (const Value& row : answer.body.items()) {
    ListedImage image;
    image.id = row.text_at("Id");
    if (!image.id.empty() && !image.id.starts_with("sha256:"))
      image.id = "sha256:" + image.id;
    image.bytes = row.integer_at("Size");
    for (const char* names : {"RepoTags", "RepoDigests"})
      if (const Value& list = row.at(names); list.is_list())
        for (const Value& each : list.items())
          if (each.is_text() && each.text().view().find("<none>") == std::string_view::npos)
            image.references.push_back(full_reference(each.text()));
    if (!image.references.empty())
      images.push_back(std::move(image));
  }
  return images;
}

Result<std::string> image_id(Engine& engine, const std::string& reference, std::stop_token stop) {
  return TRY(image_facts(engine, reference, std::move(stop))).id;
}

Status tag_image(Engine& engine, const std::string& image, const std::string& reference,
                 std::stop_token stop) {
  const auto [name, tag] = split_reference(full_reference(reference));
  return name_image(engine, full_reference(image), name, tag, std::move(stop));
}

Status name_image(Engine& engine, const std::string& id, const std::string& name,
                  const std::string& tag, std::stop_token stop) {
  const EngineAnswer answer = TRY(engine.ask(
      {.method = "POST", .path = "/images/" + id + "/tag", .query = {{"repo", name}, {"tag", tag}}},
      stop));
  if (!answer.ok())
    return engine_error(answer);
  return {};
}

PullProgress::Layer& PullProgress::layer(std::string_view id) {
  const auto found = std::ranges::find(layers_, id, &Layer::id);
  if (found != layers_.end())
    return *found;
  layers_.push_back({.id = std::string(id)});
  return layers_.back();
}

Status PullProgress::take(const Value& line) {
  if (const std::string_view said = line.text_at("error"); !said.empty())
    return world_error(cat("cannot pull `", reference_, "`: ", trim(said)));
  const std::string_view id = line.text_at("id"), status = line.text_at("status");
  // The id in Docker's first line is the tag.
  if (id.empty() || status.starts_with("Pulling from"))
    return {};
  Layer& part = layer(id);
  if (status == "Downloading") {
    const Value& detail = line.at("progressDetail");
    part.done = detail.integer_at("current");
    part.total = std::max(part.total, detail.integer_at("total"));
  } else if (status == "Download complete" || status == "Already exists" ||
             status == "Pull complete") {
    part.done = part.total;
    part.complete = true;
  }
  return {};
}

Progress PullProgress::now() const {
  Progress progress{.text = "pulling " + reference_};
  const auto complete = std::ranges::count(layers_, true, &Layer::complete);
  for (const Layer& part : layers_) {
    progress.done += part.done;
    progress.total += part.total;
  }
  if (progress.total == 0) {  // Podman reports no bytes
    progress.done = complete;
    progress.total = static_cast<int64_t>(layers_.size());
  }
  progress.text += cat(", layer ", complete, " of ", layers_.size());
  // The layers under way, with their bytes.
  std::string parts;
  for (const Layer& part : layers_)
    if (!part.complete && part.total > 0)
      parts += cat(parts.empty() ? " (" : ", ", part.id.substr(0, 12), " ", megabytes(part.done),
                   " of ", megabytes(part.total), " MB");
  progress.text += parts.empty() ? parts : parts + ")";
  return progress;
}

namespace {

Status pull(Engine& engine, const std::string& reference, const std::optional<RegistryLogin>& login,
            const ProgressSink& progress, const std::stop_token& stop, Duration time_limit) {
  const std::string full = full_reference(reference);
  const auto [name, tag] = split_reference(full);
  PullProgress seen(reference);
  std::chrono::steady_clock::time_point told;
  EngineCall call{
      .method = "POST", .path = "/images/create", .query = {{"fromImage", name}, {"tag", tag}}};
  call.doing = cat("pulling `", reference, "`");
  call.still_at_it = engine.answers();  // Podman says nothing while it fetches a layer
  call.time_limit = time_limit;
  call.headers = {{"X-Registry-Auth", login_header(login, registry_of(reference))}};
  call.sink = line_sink([&](std::string_view line) -> Status {
    const auto value = read_json(line, {}, Duplicates::last_wins);
    if (!value)
      return {};
    TRY(seen.take(*value));
    const auto now = std::chrono::steady_clock::now();
    if (progress && now - told >= pull_progress_interval) {
      told = now;
      progress(seen.now());
    }
    return {};
  });
  const Instant begun = instant_from_clock();
  const Result<EngineAnswer> asked = engine.ask(std::move(call), stop);
  if (!asked && is_cancelled(asked.error()))
    return asked.error();
  if (!asked && time_limit > Duration(0) && has_taken(begun, time_limit))
    return world_error(
        cat("cannot pull `", reference, "`: it took longer than ", to_string(time_limit)));
  if (!asked) {
    // Whatever came of it, pulling once more does no harm.
    Error error = asked.error();
    error.unknown_outcome = false;
    return error;
  }
  const EngineAnswer& answer = *asked;
  if (!answer.ok())
    return world_error(cat("cannot pull `", reference, "`: ", answer.message()));
  if (progress)
    progress(seen.now());
  return {};
}

bool has_one_of(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return text.find(word) != text.npos; });
}

/// What to do about the failure of a pull. Both engines pass on what the registry has said, each
/// with words of its own around it.
std::string advice_on(std::string_view message, const std::optional<RegistryLogin>& login,
                      std::string_view registry) {
  constexpr std::array<std::string_view, 7> refusals{
      "unauthorized",   "denied",        "no basic auth credentials", "authentication required",
      "not authorized", "403 forbidden", "invalid username/password"};
  constexpr std::array<std::string_view, 4> unknown{"manifest unknown", "name unknown",
                                                    "manifest_unknown", "not found"};
  const std::string said = lower_case(message);
  if (has_one_of(said, refusals) && login)
    return cat("; `", registry, "` refuses the user `", login->username, "`, or has no such image");
  // "denied" is also the answer to a name that does not exist.
  if (has_one_of(said, refusals))
    return cat(
        "; `", registry, "` ",
        said.find("denied") == said.npos ? "wants a login" : "has no such image, or wants a login",
        ": give `ImageSpec` a user and a password, or use `docker login ", registry, "`");
  return has_one_of(said, unknown) ? cat("; `", registry, "` has no such image") : std::string();
}

}  // namespace

Status pull_image(Engine& engine, const std::string& reference,
                  const std::optional<RegistryLogin>& login, const ProgressSink& progress,
                  std::stop_token stop, Duration time_limit) {
  Status pulled = pull(engine, reference, login, progress, stop, time_limit);
  if (!pulled && !is_cancelled(pulled.error()))
    pulled.error().message += advice_on(pulled.error().message, login, registry_of(reference));
  return pulled;
}

Status pull_with_logins(Engine& engine, const std::string& reference,
                        const std::vector<RegistryLogin>& given, const LoginSource& usual,
                        const ProgressSink& progress, std::stop_token stop, Duration time_limit) {
  Status pulled;
  for (const RegistryLogin& login : given) {
    pulled = pull_image(engine, reference, login, progress, stop, time_limit);
    if (pulled || is_cancelled(pulled.error()))
      return pulled;
  }
  const StoredLogin ours = usual ? usual(registry_of(reference)) : StoredLogin();
  Status last = pull_image(engine, reference, ours.login, progress, stop, time_limit);
  if (last || is_cancelled(last.error()))
    return last;
  // That nobody may come without a login says less than that one was refused.
  Status told = ours.login || pulled ? last : pulled;
  if (!ours.failure.empty())
    told.error().message += cat("; ", ours.failure);
  return told;
}

Status import_image(Engine& engine, const std::string& reference,
                    const std::vector<std::string>& changes, ByteSource tar, std::stop_token stop) {
  const std::string full = full_reference(reference);
  const auto [name, tag] = split_reference(full);
  EngineCall call{.method = "POST", .path = "/images/create", .query = {{"fromSrc", "-"}}};
  for (const std::string& change : changes)
    call.query.emplace_back("changes", change);
  if (TRY(engine.flavour(stop)) == Engine::Flavour::podman) {
    call.query.emplace_back("repo", full);  // Podman ignores the tag beside it
  } else {
    call.query.emplace_back("repo", name);
    call.query.emplace_back("tag", tag);
  }
  call.source = std::move(tar);
  call.still_at_it = engine.answers();
  const EngineAnswer answer = TRY(engine.ask(std::move(call), stop));
  if (!answer.ok())
    return engine_error(answer);
  for (const std::string_view line : split(answer.text, '\n'))
    if (const auto value = read_json(line, {}, Duplicates::last_wins))
      TRY(PullProgress(reference).take(*value));
  return {};
}

Status push_image(Engine& engine, const std::string& reference, std::stop_token stop,
                  const std::optional<RegistryLogin>& login) {
  const auto [name, tag] = split_reference(full_reference(reference));
  std::optional<Error> failure;
  EngineCall call{.method = "POST",
                  .path = "/images/" + name + "/push",
                  .query = {{"tag", tag}, {"tlsVerify", "false"}}};
  call.headers = {{"X-Registry-Auth", login_header(login, registry_of(name))}};
  call.still_at_it = engine.answers();
  call.sink = line_sink([&](std::string_view line) -> Status {
    const auto value = read_json(line, {}, Duplicates::last_wins);
    if (value && !value->text_at("error").empty())
      return world_error(cat("cannot push `", reference, "`: ", value->text_at("error")));
    return {};
  });
  const EngineAnswer answer = TRY(engine.ask(std::move(call), stop));
  if (!answer.ok())
    return engine_error(answer);
  return {};
}

Status remove_image(Engine& engine, const std::string& reference, std::stop_token stop) {
  const EngineAnswer answer =
      TRY(engine.ask({.method = "DELETE", .path = "/images/" + full_reference(reference)}, stop));
  if (answer.ok() || answer.status == 404)
    return {};
  return engine_error(answer);
}

}  // namespace fettle
