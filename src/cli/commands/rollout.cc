/// Edits of what is stored, and rollouts: `scale`, `set image`, `label`, `annotate`, `rollout …`,
/// `images`.

#include "base/text.h"
#include "base/wait.h"
#include "cli/commands/commands.h"
#include "cli/commands/workload_common.h"
#include "cli/print.h"
#include "documents/workloads.h"
#include "verbs/fleet/workload_edits.h"
#include "verbs/fleet/workload_views.h"
#include "verbs/fleet/workload_why.h"

namespace fettle {
namespace {

constexpr int is_pending = 3;
constexpr Duration store_pause = 500ms, cluster_pause = 2s;

/// The one object that a command is about, and nothing behind it.
Result<Name> only_owner(const Face& face) {
  size_t used = 0;
  Name owner = TRY(owner_asked(face, 0, used));
  if (face.parsed.arguments.size() > used)
    return user_error(cat("`", printable(face.parsed.argument(used)), "` is not expected here"));
  return owner;
}

Result<int> scale(Face& face) {
  if (!face.parsed.has("replicas"))
    return user_error("give the number of pods with `--replicas`");
  const int64_t replicas = TRY(face.parsed.number("replicas", 0));
  // kubectl: -1 is any number.
  const int64_t current = TRY(face.parsed.number("current-replicas", -1));
  std::vector<Name> owners;
  for (size_t at = 0, used = 0; at < face.parsed.arguments.size(); at += used)
    owners.push_back(TRY(owner_asked(face, at, used)));
  Workplace* place = TRY(face.workplace());
  return finish_edit(face, *place,
                     TRY(scale_workloads(*place, fleet_of(face), owners, replicas,
                                         current < 0 ? std::nullopt : std::optional(current))));
}

Result<int> set_image(Face& face) {
  size_t used = 0;
  const Name owner = TRY(owner_asked(face, 0, used));
  std::vector<Entry> images;
  for (size_t i = used; i < face.parsed.arguments.size(); ++i) {
    const std::string& word = face.parsed.arguments[i];
    const size_t equals = word.find('=');
    if (equals == word.npos || equals == 0 || equals + 1 == word.size())
      return user_error(cat("`", printable(word), "` must be written `CONTAINER=IMAGE`"));
    images.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  if (images.empty())
    return user_error(
        "name the container and its image: `fettle set image cloneset/web main=nginx:1.27`");
  Workplace* place = TRY(face.workplace());
  return finish_edit(face, *place, TRY(set_images(*place, fleet_of(face), owner, images)));
}

Result<int> put(Face& face, std::string_view field) {
  // Objects come first, then what is said about them.
  std::vector<std::string>& words = face.parsed.arguments;
  std::vector<Entry> entries;
  size_t objects = 0;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    const bool takes_away = equals == word.npos && word.size() > 1 && word.ends_with('-');
    if (equals == word.npos && !takes_away) {
      if (!entries.empty())
        return user_error(cat("`", printable(word), "` must be written `KEY=VALUE` or `KEY-`"));
      ++objects;
    } else if (takes_away) {
      entries.push_back({word.substr(0, word.size() - 1), Value()});
    } else {
      entries.push_back({word.substr(0, equals), word.substr(equals + 1)});
    }
  }
  if (entries.empty())
    return user_error(cat("name what to change: `KEY=VALUE`, or `KEY-` to remove it"));
  words.resize(objects);
  std::vector<Name> owners;
  for (size_t at = 0, used = 0; at < objects; at += used)
    owners.push_back(TRY(owner_asked(face, at, used)));
  if (owners.empty())
    return user_error("name the object: `KIND/NAME`");
  Workplace* place = TRY(face.workplace());
  return finish_edit(face, *place,
                     TRY(put_metadata(*place, fleet_of(face), owners, field, entries,
                                      face.parsed.flag("overwrite"))));
}

Result<int> label(Face& face) { return put(face, "labels"); }
Result<int> annotate(Face& face) { return put(face, "annotations"); }

using RolloutEdit = std::function<Edits(FleetAccess& fleet, const Name& owner)>;

/// Whoever keeps a cluster carries an edit out, and nobody waits for that here.
Result<int> edit(Face& face, const RolloutEdit& change) {
  const bool is_in_cluster = is_about_cluster(face.parsed);
  if (is_in_cluster && (face.parsed.flag("wait") || face.parsed.has("timeout")))
    return user_error("in a cluster, `fettle rollout status KIND/NAME -w` waits for a rollout");
  if (is_in_cluster)
    face.parsed.options["wait"] = {"false"};
  const std::unique_ptr<FleetAccess> fleet = TRY(fleet_asked(face));
  const Name owner = TRY(only_owner(face));
  return finish_edit(face, *TRY(face.workplace()), TRY(change(*fleet, owner)));
}

Result<int> pause(Face& face) {
  return edit(face, [](FleetAccess& fleet, const Name& owner) {
    return pause_rollout(fleet, owner, true);
  });
}
Result<int> resume(Face& face) {
  return edit(face, [](FleetAccess& fleet, const Name& owner) {
    return pause_rollout(fleet, owner, false);
  });
}
Result<int> rollout_restart(Face& face) { return edit(face, restart_rollout); }

Result<int> undo(Face& face) {
  const int64_t revision = TRY(face.parsed.number("to-revision", 0));
  if (revision < 0)
    return user_error(cat("`--to-revision` must be the number of a revision, not ", revision));
  return edit(face, [&](FleetAccess& fleet, const Name& owner) {
    return undo_rollout(fleet, owner, revision);
  });
}

/// The state of a rollout: its phase, and the reason.
struct Stand {
  std::string phase, text;
  Value status;
};

Result<Stand> stand_of(FleetAccess& fleet, const Name& owner) {
  const Value status = TRY(fleet.rollout_status(owner));
  const std::string_view kind = owner.view().substr(0, owner.view().find('/'));
  return Stand{std::string(status.text_at("phase")), rollout_text(kind, status), status};
}

Result<int> rollout_status(Face& face) {
  const std::unique_ptr<FleetAccess> fleet = TRY(fleet_asked(face));
  const Name owner = TRY(only_owner(face));
  const Duration watch_pause = is_about_cluster(face.parsed) ? cluster_pause : store_pause;
  Duration limit = 10min;
  if (const std::string text = face.parsed.text("timeout"); !text.empty())
    limit = TRY(parse_duration(text));
  Stand stand = TRY(stand_of(*fleet, owner));
  const Instant began = instant_from_clock();
  std::string told;
  while (face.parsed.flag("watch") && stand.phase == "progressing" &&
         instant_from_clock() - began < limit) {
    if (stand.text != told && !face.json && !face.quiet)
      print_error(told = stand.text);
    if (!pause_for(watch_pause, fleet->place().interrupt->acts_token()))
      return interrupted_code;
    stand = TRY(stand_of(*fleet, owner));
  }
  if (face.json)
    print_json(rollout_document(owner, stand.status, stand.text));
  else
    print(cat(owner_text(owner), " ", stand.phase, ": ", stand.text));
  return stand.phase == "failed" ? failed_code : stand.phase == "progressing" ? is_pending : 0;
}

std::string images_text(const Value& pod_template) {
  std::vector<std::string> images;
  if (const Value& containers = pod_template.at("spec").at("containers"); containers.is_list())
    for (const Value& container : containers.items())
      images.emplace_back(container.text_at("image"));
  return join(images, ", ");
}

Result<int> history(Face& face) {
  const std::unique_ptr<FleetAccess> fleet = TRY(fleet_asked(face));
  const Name owner = TRY(only_owner(face));
  const int64_t asked = TRY(face.parsed.number("revision", 0));
  std::vector<Value> values;
  std::vector<std::vector<std::string>> rows{{"REVISION", "NAME", "PODS", "IMAGES"}};
  for (const RevisionView& revision : TRY(revisions_of(*fleet, owner))) {
    if (asked != 0 && revision.number != asked)
      continue;
    values.push_back(value_of(fleet->place(), revision));
    rows.push_back({std::to_string(revision.number), revision.name, std::to_string(revision.pods),
                    images_text(revision.pod_template)});
  }
  if (asked != 0 && values.empty())
    return user_error(cat("`", owner, "` has no revision ", asked));
  if (face.json)
    print_json(Value::list(std::move(values)));
  else
    print(table(rows));
  return 0;
}

std::string size_text(int64_t bytes) {
  return bytes == 0 ? "-" : cat((bytes + 500'000) / 1'000'000, " MB");
}

Result<int> images(Face& face) {
  const std::unique_ptr<FleetAccess> fleet = TRY(fleet_asked(face));
  const std::vector<ImageView> found = TRY(fleet->images(face.parsed.flag("all")));
  std::vector<std::vector<std::string>> rows{{"NODE", "IMAGE", "STATUS", "SIZE", "FOR"}};
  for (const ImageView& image : found) {
    rows.push_back({node_text(image.node), image.image, image.status, size_text(image.bytes),
                    image.owner.empty() ? "-" : image.owner});
    if (!image.why.empty() && !face.json)
      print_error(
          cat(image.image, image.node.empty() ? "" : cat(" on ", image.node), ": ", image.why));
  }
  if (face.json)
    print_json(document_of(found));
  else
    print(table(rows));
  return 0;
}

}  // namespace

std::vector<Command> rollout_commands() {
  const CommandGroup group{"workloads", workload_options()};
  const CommandOption wait = wait_options()[0], limit = wait_options()[1];
  const CommandOption overwrite{{"--overwrite"}, "", "replace values that exist"};
  const std::string one = "KIND/NAME";
  const CommandGroup looking{"workloads", look_options()};
  std::vector<Command> all{
      group.make(
          "scale", "KIND/NAME…", 1, 99, "Sets the number of pods of CloneSets or StatefulSets.",
          {"fettle scale cloneset/web --replicas 5", "fettle scale sts db --replicas 3"}, scale,
          {{{"--replicas"}, "COUNT", "the number of pods"},
           {{"--current-replicas"}, "COUNT", "only when there are so many now"},
           wait,
           limit}),
      group.make("set image", "KIND/NAME CONTAINER=IMAGE…", 2, 99,
                 "Changes the image of containers; `*` is every other container.",
                 {"fettle set image cloneset/web main=nginx:1.27",
                  "fettle set image clone/web '*=nginx:1.27' --wait=false"},
                 set_image, {wait, limit}),
      group.make("label", "KIND/NAME… KEY=VALUE…", 2, 99,
                 "Labels objects or pods; `KEY-` removes a label.",
                 {"fettle label pod/web-x2x7k apps.kruise.io/specified-delete=true",
                  "fettle label cloneset/web tier=front --overwrite"},
                 label, {overwrite, wait, limit}),
      group.make("annotate", "KIND/NAME… KEY=VALUE…", 2, 99,
                 "Annotates objects or pods; `KEY-` removes an annotation.",
                 {"fettle annotate cloneset/web fettle/image-predownload-mode=wait",
                  "fettle annotate cloneset/web fettle/image-predownload-mode-"},
                 annotate, {overwrite, wait, limit}),
      looking.reader(
          "rollout status", one, 1, 2,
          "Shows how far a rollout is, also by the exit code.\n"
          "0: complete, paused, or as far as its partition allows; 1: failed; 3: under way.",
          {"fettle rollout status cloneset/web", "fettle rollout status cloneset/web -w"},
          rollout_status,
          {{{"-w", "--watch"}, "", "watch until it is no longer under way"},
           {{"--timeout"}, "TIME", "how long to watch (10m)"}}),
      looking.make("rollout pause", one, 1, 2, "Pauses a rollout: no further pods change.",
                   {"fettle rollout pause cloneset/web", "fettle rollout pause clone web"}, pause,
                   {wait, limit}),
      looking.make("rollout resume", one, 1, 2, "Resumes a paused rollout.",
                   {"fettle rollout resume cloneset/web", "fettle rollout resume clone web"},
                   resume, {wait, limit}),
      looking.make(
          "rollout undo", one, 1, 2, "Returns to an earlier revision (default: the previous one).",
          {"fettle rollout undo cloneset/web", "fettle rollout undo cloneset/web --to-revision 2"},
          undo, {{{"--to-revision"}, "NUMBER", "a number from `rollout history`"}, wait, limit}),
      looking.reader("rollout history", one, 1, 2, "Lists the revisions of a workload.",
                     {"fettle rollout history cloneset/web",
                      "fettle rollout history cloneset/web --revision 2 -o json"},
                     history, {{{"--revision"}, "NUMBER", "only this one"}}),
      looking.make("rollout restart", one, 1, 2,
                   "Restarts the containers of all pods, in the order of a rollout.",
                   {"fettle rollout restart cloneset/web", "fettle rollout restart ds agent"},
                   rollout_restart, {wait, limit}),
      looking.reader("images", "", 0, 0, "Shows which nodes have or pull the images of workloads.",
                     {"fettle images", "fettle images --all -o json"}, images,
                     {{{"-a", "--all"}, "", "all images that nodes have"}}),
  };
  for (Command& command : all)
    if (find_option(command.options, "--kubeconfig") != nullptr)
      command.needs_no_state = is_about_cluster;
  return all;
}

}  // namespace fettle
