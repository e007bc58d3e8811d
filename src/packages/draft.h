#pragma once
/// The intent as it is written while a package is interpreted: the instructions in their order, the
/// resources that each one means, and what holds in the environment at that place (which services,
/// ports and artifacts there are), so that a wrong name is found before anything happens.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/record.h"
#include "kinds/artifact.h"
#include "kinds/build.h"
#include "packages/build_context.h"
#include "packages/reference.h"
#include "packages/statement.h"
#include "starlark/starlark.h"

namespace fettle {

/// In which order the instructions of a script run.
enum class ScriptOrder : uint8_t { written, needs };

/// Which images are pulled.
enum class ImagePull : uint8_t { missing, always };

struct DraftOptions {
  Name environment;
  std::string owner;  ///< whose wishes these are: the package's name
  Leftover leftover = Leftover::keep;
  ScriptOrder order = ScriptOrder::written;
  Redo redo = Redo::as_needed;
  ImagePull pull = ImagePull::missing;
  bool is_production = false;  ///< services are restarted when they end
  bool allows_privileged = false;
  bool keeps_going = false;  ///< a failure stops only what needs it
  /// How often each service is added, as an interpretation before this one has found it; given
  /// when that one had to be repeated.
  std::map<std::string, int, std::less<>> additions;
  std::set<Key> gone;  ///< services of before that were removed; only their records are left
  /// The digest of a file or folder as an artifact; may be cached.
  std::function<Result<std::string>(const std::string& path)> digest_of;
  /// The digests of the context of a build; may be cached.
  std::function<Result<PackedContext>(const BuildContext& context)> packed;
};

/// A service as the script sees it at a place.
struct ServiceState {
  Key key;
  Value ports;             ///< {id: {"number", "transport", "application", …}}
  std::vector<Key> ready;  ///< what has to be done before it can be used, beside itself
  bool wanted = false;     ///< by this script; else it is known from before
  bool removed = false;
  bool gone = false;     ///< it was removed before this script
  std::string origin{};  ///< where this script adds it

  void leave() { removed = true, gone = false; }
};

/// The meaning of one more `add_service` of a name.
struct Addition {
  Key key;                 ///< each but the last one of a name has a key of its own: `web~1`
  bool anew = false;       ///< the script has just removed the one that was there before it
  std::vector<Key> after;  ///< the removal of another one of the name that this script added
};

/// A files artifact as the script sees it at a place.
struct ArtifactState {
  int author = 1;        ///< the last one who made something of it
  int foreign = 0;       ///< the last one that somebody else wants; 0: nobody does
  std::string origin{};  ///< where this script made it first
};

/// Kurtosis: a task updates an artifact of its name, everything else makes a new one.
enum class Author : uint8_t { maker, updater };

class Draft {
 public:
  Draft(DraftOptions options, const Known& known);

  // Begins an instruction; there is one at a time.
  void begin(Name name, std::string text, std::string origin, std::string place, Value arguments);
  void finish(std::string description);
  /// The arguments of the instruction, `name` being that of the artifact that it made.
  Value with_artifact_name(const Value& arguments) const;
  /// Forgets the instruction that was begun.
  void abandon();

  /// Adds a resource of this instruction. `ahead`: it waits only for its own needs, not for earlier
  /// instructions. A caller that may add the same key twice reports that; the first one stays.
  Resource& add(std::string_view kind, std::string name, Attributes attributes, bool ahead = false);
  /// For a known key, returns the existing resource.
  Resource& add_once(std::string_view kind, const std::string& name, Attributes attributes);
  /// This instruction is about a resource of another one, too.
  void also(const Key& key);
  /// A name for an action: what it acts on, then what makes it this one; n-th equal ones differ.
  std::string action_name(std::string_view subject);
  /// The name of an artifact that was given none.
  std::string unnamed_artifact();

  // The key of a thing of this package.
  Key key(std::string_view kind, std::string_view name) const;
  ServiceState* find_service(std::string_view name);
  /// The service of a name. If there is none, adds a finding and returns null.
  ServiceState* need_service(std::string_view name);
  /// The same for a removal: a service that is gone already may be removed once more.
  ServiceState* need_removable(std::string_view name);
  /// Whether an existing service is removed only to be added again: then one step does both.
  bool is_made_anew(std::string_view name, const ServiceState& service) const;
  Addition addition(const std::string& name);
  const std::map<std::string, int, std::less<>>& additions() const { return additions_; }
  /// Whether something that was removed was added again, or services were listed of which this
  /// script may add some later: only the next interpretation, with the `additions` of this one,
  /// can say it right.
  bool has_to_repeat() const { return has_to_repeat_; }
  void put_service(const std::string& name, ServiceState state);
  std::vector<std::string> service_names() const;
  /// The services that are there at this place of the script in its first run, without those that
  /// an earlier run has left and a later instruction adds.
  std::vector<std::string> services_so_far();
  /// A resource of this instruction: an artifact as it makes it. A finding when this script has
  /// made it already and it is not one that may update it.
  Resource& make_artifact(const std::string& name, const Artifact& wanted, Author author,
                          bool ahead = false);
  /// The name in the key of the artifact's content at this place. If there is none, adds a finding.
  std::string need_artifact(std::string_view name);
  Resource* find_resource(const Key& key);
  const Record* find_record(const Key& key) const;

  /// `resource` happens inside a service.
  void inside(Resource& resource, const ServiceState& service);
  /// After `resource`, nobody uses the service before it is done.
  void holds_up(const ServiceState& service, const Resource& resource);
  /// The image as a resource, pulled ahead, or that of a build before this place; the answer is the
  /// hole on its id. `login`: `{registry: {"username", "password"}}`; null: none is given.
  Value image(const std::string& reference, const Value& login = {});
  /// The same for an image that is built. A finding when this script builds it in another way, too.
  Value built_image(const ImageBuild& build);
  void network(Resource& resource);

  void finding(std::string message);
  void warning(std::string message);
  void detail(std::string_view key, Value value);
  /// Nobody is told this text.
  void hide(std::string text) { told_.hidden.push_back(std::move(text)); }
  const std::vector<std::string>& hidden() const { return told_.hidden; }

  References references;

  Intent& intent() { return intent_; }
  std::vector<Statement>& statements() { return statements_; }
  const DraftOptions& options() const { return options_; }
  const std::vector<Error>& findings() const { return told_.findings; }
  const std::vector<std::string>& warnings() const { return told_.warnings; }
  /// Artifact digest -> path of what is uploaded.
  std::map<std::string, std::string> uploads;

 private:
  /// The instruction that was begun.
  struct Current {
    Statement statement{};
    std::string place{};
    std::map<Name, Value> detail{};
    std::vector<size_t> resources{};  ///< its own, but for those that go ahead
  };
  struct Messages {
    std::vector<Error> findings;
    std::vector<std::string> warnings;
    std::vector<std::string> hidden;
  };

  bool is_by_needs() const { return options_.order == ScriptOrder::needs; }
  void add_order(Resource& resource);
  void add_order_of_references(Resource& resource);
  void warn_of_references(const Resource& resource);
  void note_artifact(const Key& key, const Record& record);
  void note_users_of(const Resource& user, std::string_view kind);
  void note_user(const Key& used, const Key& user);
  void leave_in_past(Resource& used);

  DraftOptions options_;
  const Known& known_;
  Intent intent_;
  std::vector<Resource>* resources_;
  std::map<Key, size_t> index_;
  std::map<std::string, ServiceState, std::less<>> services_;
  std::map<std::string, ArtifactState, std::less<>> artifacts_;
  std::map<std::string, int> counts_;
  std::map<std::string, int, std::less<>> additions_;
  bool has_to_repeat_ = false;
  std::map<Key, std::vector<Key>> users_of_before_;  ///< of what is not wanted so far
  std::vector<Key> tail_;                            ///< what the next instruction comes after
  std::optional<Key> barrier_;                       ///< everything later comes after it
  Current current_;
  std::vector<Statement> statements_;
  Messages told_;
};

}  // namespace fettle
