/// Plugins about the surroundings of a compile: variables, the environment, the time, and values
/// that only a server could have.

#include <charconv>

#include "base/hash.h"
#include "base/text.h"
#include "base/time.h"
#include "base/user_variables.h"
#include "model/program/text_form.h"
#include "model/std/groups.h"
#include "value/python.h"

namespace fettle::model {
namespace {

const char* variable(PluginCall& call) { return user_variable(std::string(call.text(0))); }

bool get_env(PluginCall& call) {
  if (const char* value = variable(call))
    return call.give_text(value);
  return call.give(call[1].tag == Tag::null ? Datum::unknown() : call[1]);
}

bool get_env_int(PluginCall& call) {
  const char* value = variable(call);
  if (value == nullptr)
    return call.give(call[1].tag == Tag::null ? Datum::unknown() : call[1]);
  const std::string_view text = trim(value);
  int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size())
    return call.fail(
        cat("ValueError: invalid literal for int() with base 10: ", python::quoted(value)));
  return call.give(Datum::of(number));
}

bool environment(PluginCall& call) {
  const std::string& name = call.context.program().environment;
  return name.empty() ? call.fail(
                            "Exception: The environment of this model should be configured in "
                            "config>environment")
                      : call.give_text(name);
}

bool server_host(PluginCall& call) { return call.give_text("localhost"); }
bool server_ca(PluginCall& call) { return call.give_text(""); }
bool server_ssl(PluginCall& call) { return call.give(Datum::of(false)); }
bool server_port(PluginCall& call) { return call.give(Datum::of(int64_t{8888})); }
bool server_token(PluginCall& call) { return call.give_text(""); }

/// Nothing is known of any resource: the result is unknown, unless the model has a value to go on
/// with. Where facts are known, Python answers (`plugins/plugins.cc`).
bool get_fact(PluginCall& call) {
  Entity* const resource = call.context.program().space("std")->entities.at(
      call.context.program().symbols.intern("Resource"));
  if (call[0].tag != Tag::instance || !call[0].instance->entity->is_a(resource))
    return call.fail("Exception: Facts can only be retreived from resources.");
  return call.give(call[2].tag == Tag::null ? Datum::unknown() : call[2]);
}

bool timestamp(PluginCall& call) {
  const auto since = now_from_clock().time_since_epoch();
  return call.give(Datum::of(
      static_cast<int64_t>(std::chrono::duration_cast<std::chrono::seconds>(since).count())));
}

bool unique_file(PluginCall& call) {
  return call.give_text(cat(call.text(0), md5_hex(call.text(1)), call.text(2)));
}

constexpr std::array environment_rows{
    PluginRow{"get_env", "(name: string, default_value: string? = null) -> string", get_env},
    PluginRow{"get_env_int", "(name: string, default_value: int? = null) -> int", get_env_int},
    PluginRow{"environment", "() -> string", environment},
    PluginRow{"environment_name", "() -> string", environment},
    PluginRow{"environment_server", "() -> string", server_host},
    PluginRow{"server_ca", "() -> string", server_ca},
    PluginRow{"server_ssl", "() -> bool", server_ssl},
    PluginRow{"server_port", "() -> int", server_port},
    PluginRow{"server_token", "(client_types: string[] = []) -> string", server_token},
    PluginRow{"getfact", "(resource: any, fact_name: string, default_value: any = null) -> any",
              get_fact},
    PluginRow{"timestamp", "(dummy: any = null) -> int", timestamp},
    PluginRow{"unique_file",
              "(prefix: string, seed: string, suffix: string, length: int = 20) -> string",
              unique_file},
};

}  // namespace

std::span<const PluginRow> environment_plugins() { return environment_rows; }

}  // namespace fettle::model
