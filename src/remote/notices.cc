#include "remote/notices.h"

#include <algorithm>
#include <charconv>

#include "base/hmac.h"
#include "base/http.h"
#include "base/printable.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "remote/frames.h"
#include "remote/run_log.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr Duration notice_limit = 30s;
/// Of what a run has printed, its end is told.
constexpr size_t told_output = 4'096;
constexpr std::string_view view_name = "view";
constexpr size_t number_digits = 12;

Value nullable(std::string_view text) { return text.empty() ? Value() : Value(text); }

/// The last bytes of what a run has printed, from the beginning of a line.
std::string end_of_output(const Path& runs, int64_t number) {
  const Result<ByteSource> source = source_of_file(runs / std::to_string(number) / "frames");
  if (!source)
    return {};
  FrameReader reader;
  std::string output;
  bool is_cut = false;
  static_cast<void>(pump(*source, [&](std::string_view bytes) -> Status {
    reader.add(bytes);
    for (auto frame = reader.next(); frame && *frame; frame = reader.next())
      if ((*frame)->type == FrameType::output || (*frame)->type == FrameType::errors)
        output += (*frame)->payload;
    if (output.size() > 2 * told_output) {
      output.erase(0, output.size() - told_output);
      is_cut = true;
    }
    return {};
  }));
  if (output.size() > told_output) {
    output.erase(0, output.size() - told_output);
    is_cut = true;
  }
  if (const size_t line = output.find('\n'); is_cut && line != output.npos)
    output.erase(0, line + 1);
  return printable_lines(output);
}

Value document_of_notice(const Schedule& schedule, const std::string& id, NoticeEvent event,
                         Time now) {
  const std::vector<Value> environments(schedule.environments.begin(), schedule.environments.end());
  return Value::dict({{"schema", 1},
                      {"id", id},
                      {"event", to_string(event)},
                      {"at", write_precise_moment(now)},
                      {"schedule", schedule.name},
                      {"environments", Value::list(environments)},
                      {"command", schedule.shown}});
}

Value with_fields(const Value& document, const std::vector<Entry>& more) {
  std::vector<Entry> fields(document.entries().begin(), document.entries().end());
  fields.insert(fields.end(), more.begin(), more.end());
  return Value::dict(std::move(fields));
}

std::optional<int64_t> drift_code_of(const Schedule& schedule) {
  return schedule.tells_drift ? std::optional<int64_t>(code_of_drift) : std::nullopt;
}

/// Sends one; why it did not get through. None: it did.
std::optional<std::string> failure_of(HttpClient& client, const KeptNotice& notice,
                                      const ScheduleSecrets& secrets, Time now) {
  const std::string timestamp =
      cat(std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count());
  HttpRequest request;
  request.method = "POST";
  request.url = secrets.notify_url;
  request.body = notice.body;
  request.headers = {{"Content-Type", "application/json"},
                     {"User-Agent", "fettle"},
                     {"X-Fettle-Event", notice.event},
                     {"X-Fettle-Delivery", notice.id},
                     {"X-Fettle-Timestamp", timestamp},
                     {"X-Fettle-Signature",
                      cat("sha256=", notice_signature(secrets.notify, timestamp, notice.body))}};
  request.sink = [](std::string_view) { return Status(); };
  request.time_limit = notice_limit;
  const Result<HttpResponse> answer = client.send(std::move(request), {});
  if (!answer)
    return replace_all(answer.error().message, secrets.notify_url, origin_of(secrets.notify_url));
  if (answer->status >= 200 && answer->status < 300)
    return std::nullopt;
  return cat("the receiver answered with status ", answer->status);
}

}  // namespace

Status check_notice_url(const std::string& url) {
  const size_t scheme = url.starts_with("https://") ? 8 : url.starts_with("http://") ? 7 : 0;
  const std::string_view host = std::string_view(url).substr(scheme);
  if (scheme == 0 || host.empty() || host[0] == '/' || host[0] == '?' || host[0] == ':' ||
      std::ranges::any_of(url, [](char c) { return c <= ' ' || c == 0x7f; }) ||
      url.find('#') != url.npos)
    return user_error(
        cat("`--notify` must be a URL that takes a POST, such as "
            "`https://example.com/fettle`, not `",
            printable(origin_of(url)), "`"));
  return {};
}

std::string origin_of(const std::string& url) {
  const std::string shown = shown_url(url);
  const size_t scheme = shown.find("://");
  return scheme == shown.npos ? shown : shown.substr(0, shown.find('/', scheme + 3));
}

Result<std::vector<NoticeEvent>> notice_events_in(std::string_view text) {
  std::vector<NoticeEvent> events;
  std::vector<std::string> names(notice_event_names.begin(), notice_event_names.end());
  for (const std::string_view word : split(text, ',')) {
    const auto found = std::ranges::find(names, trim(word));
    if (found == names.end())
      return user_error(cat("`--notify-on` knows no `", printable(trim(word)), "`",
                            suggestion(std::string(trim(word)), names), "; known are ",
                            join(names, ", ")));
    events.push_back(static_cast<NoticeEvent>(found - names.begin()));
  }
  return events;
}

NoticeEvent event_of_run(const std::string& before, std::optional<int64_t> drift_code,
                         std::optional<int64_t> code) {
  if (code == 0)
    return before.empty() || before == to_string(NoticeEvent::succeeded) ? NoticeEvent::succeeded
                                                                         : NoticeEvent::recovered;
  return code && code == drift_code ? NoticeEvent::drifted : NoticeEvent::failed;
}

bool is_wanted(const ScheduleNotify& notify, NoticeEvent event) {
  const auto has = [&](NoticeEvent one) {
    return std::ranges::find(notify.events, one) != notify.events.end();
  };
  return has(event) || (event == NoticeEvent::recovered && has(NoticeEvent::succeeded));
}

Duration pause_of_notices(int64_t failures) {
  Duration pause = first_pause_of_notices;
  for (int64_t i = 1; i < failures && pause < longest_pause_of_notices; ++i)
    pause *= 2;
  return std::min<Duration>(pause, longest_pause_of_notices);
}

std::string notice_signature(std::string_view secret, std::string_view timestamp,
                             std::string_view body) {
  return hmac_sha256_hex(secret, cat(timestamp, ".", body));
}

std::vector<Path> NoticeQueue::files() const {
  std::vector<Path> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() == number_digits && name.find_first_not_of("0123456789") == name.npos)
      files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

/// Not that of a schedule: one that was removed stays so.
Status NoticeQueue::make_folder() const {
  std::error_code failure;
  std::filesystem::create_directory(folder_, failure);
  return failure ? Status(file_error("cannot make", folder_)) : Status();
}

Status NoticeQueue::add(const std::string& id, NoticeEvent event, const Value& document) const {
  TRY(make_folder());
  std::vector<Path> waiting = files();
  for (const Path& file : waiting)
    if (const auto text = read_file(file))
      if (const auto kept = read_json(*text); kept && kept->text_at("id") == id)
        return {};
  int64_t number = 1;
  if (!waiting.empty()) {
    const std::string last = waiting.back().filename().string();
    std::from_chars(last.data(), last.data() + last.size(), number);
    ++number;
  }
  const std::string digits = std::to_string(number);
  const std::string name = std::string(number_digits - digits.size(), '0') + digits;
  TRY(write_file(folder_ / name,
                 write_json(Value::dict(
                     {{"id", id}, {"event", to_string(event)}, {"body", write_json(document)}})),
                 0600));
  if (waiting.size() < most_notices)
    return {};
  WaitingNotices changed = view();
  for (size_t i = 0; i + most_notices <= waiting.size(); ++i, ++changed.dropped)
    std::filesystem::remove(waiting[i]);
  return write_view(changed);
}

std::optional<KeptNotice> NoticeQueue::first() const {
  for (const Path& file : files()) {
    const Result<std::string> text = read_file(file);
    const Result<Value> kept = text ? read_json(*text) : Result<Value>(text.error());
    if (kept)
      return KeptNotice{file, std::string(kept->text_at("id")), std::string(kept->text_at("event")),
                        std::string(kept->text_at("body"))};
  }
  return std::nullopt;
}

Status NoticeQueue::remove(const KeptNotice& notice, const WaitingNotices& view) const {
  std::error_code failure;
  std::filesystem::remove(notice.file, failure);
  if (failure)
    return world_error(cat("a notice cannot be removed: ", lower_case(failure.message())));
  WaitingNotices changed;
  changed.dropped = view.dropped;
  return view.failures > 0 ? write_view(changed) : Status();
}

Status NoticeQueue::note_failure(const std::string& why, Time now) const {
  WaitingNotices changed = view();
  ++changed.failures;
  changed.next = now + pause_of_notices(changed.failures);
  changed.why = why;
  return write_view(changed);
}

Status NoticeQueue::write_view(const WaitingNotices& view) const {
  return write_file(folder_ / view_name,
                    write_json(Value::dict({{"failures", view.failures},
                                            {"next", write_precise_moment(view.next)},
                                            {"why", view.why},
                                            {"dropped", view.dropped}})),
                    0600);
}

WaitingNotices NoticeQueue::view() const {
  WaitingNotices view;
  view.waiting = files().size();
  const Result<std::string> text = read_file(folder_ / view_name);
  const Result<Value> kept = text ? read_json(*text) : Result<Value>(text.error());
  if (!kept)
    return view;
  view.failures = kept->integer_at("failures");
  view.why = kept->text_at("why");
  view.dropped = kept->integer_at("dropped");
  if (const Result<Time> next = read_moment(kept->text_at("next")))
    view.next = *next;
  return view;
}

Result<std::optional<LockFile>> NoticeQueue::take() const {
  TRY(make_folder());
  return LockFile::take(folder_ / "lock");
}

NoticeQueue notice_queue(const ScheduleBook& book, const std::string& name) {
  return NoticeQueue(book.notices(name));
}

bool is_due(const WaitingNotices& view, Time now) {
  return view.waiting > 0 && (view.failures == 0 || view.next <= now ||
                              view.next - now > pause_of_notices(view.failures));
}

Status queue_end_of_run(const ScheduleBook& book, const std::string& name,
                        const ServeSettings& settings) {
  const Schedule schedule = TRY(book.find(name));
  const ScheduleState state = TRY(book.state(name));
  if (state.run == 0 || state.run == state.told)
    return {};
  const Path runs = settings.folder() / "runs";
  const Result<RunView> run = find_run(runs, state.run);
  if (run && run->is_running)
    return {};
  const std::optional<int64_t> code = run && run->code ? run->code : state.code;
  const bool waits = state.plan == state.run;
  const NoticeEvent event =
      waits ? NoticeEvent::waiting : event_of_run(state.outcome, drift_code_of(schedule), code);
  if (is_wanted(schedule.notify, event)) {
    const std::string id = cat(name, "-", state.run, "-", to_string(event));
    const Time now = settings.clock();
    const Value document =
        with_fields(document_of_notice(schedule, id, event, now),
                    {{"run", state.run},
                     {"status", code ? "ended" : "killed"},
                     {"code", code ? Value(*code) : Value()},
                     {"began", state.began ? Value(write_precise_moment(*state.began)) : Value()},
                     {"commit", nullable(state.commit)},
                     {"commit_before", nullable(state.commit_before)},
                     {"why", Value()},
                     {"output", end_of_output(runs, state.run)}});
    TRY(notice_queue(book, name).add(id, event, document));
  }
  return book.change(name, [&](ScheduleState& changed) {
    changed.told = state.run;
    if (!waits)
      changed.outcome = to_string(event == NoticeEvent::recovered ? NoticeEvent::succeeded : event);
  });
}

Status queue_refusal(const ScheduleBook& book, const Schedule& schedule, const std::string& why,
                     Time now) {
  if (!is_wanted(schedule.notify, NoticeEvent::refused))
    return {};
  const std::string id = cat(schedule.name, "-refused-", write_precise_moment(now));
  return notice_queue(book, schedule.name)
      .add(id, NoticeEvent::refused,
           with_fields(document_of_notice(schedule, id, NoticeEvent::refused, now),
                       {{"run", Value()},
                        {"status", "refused"},
                        {"code", Value()},
                        {"began", Value()},
                        {"commit", Value()},
                        {"commit_before", Value()},
                        {"why", why},
                        {"output", ""}}));
}

int send_notices(const std::string& name, const ServeSettings& settings) {
  const ScheduleBook book(settings.folder() / "schedules");
  if (const Result<std::optional<LockFile>> lock = book.take(name); lock && *lock)
    static_cast<void>(queue_end_of_run(book, name, settings));
  const NoticeQueue queue = notice_queue(book, name);
  const Result<std::optional<LockFile>> lock = queue.take();
  if (!lock || !*lock)
    return 1;
  const Result<ScheduleSecrets> secrets = book.secrets(name);
  HttpClient client;
  while (const std::optional<KeptNotice> notice = queue.first()) {
    const Time now = settings.clock();
    const WaitingNotices view = queue.view();
    if (!is_due(view, now))
      return 0;
    const std::optional<std::string> failure =
        secrets ? failure_of(client, *notice, *secrets, now) : secrets.error().message;
    const Status noted =
        failure ? queue.note_failure(*failure, settings.clock()) : queue.remove(*notice, view);
    if (failure || !noted)
      return 1;
  }
  return 0;
}

}  // namespace fettle
