#include "value/jq.h"

#include <dlfcn.h>

#include <mutex>

extern "C" {
#include <jq.h>
#include <jv.h>
}

#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

/// The functions of libjq that are used.
struct Library {
  decltype(&::jq_init) init;
  decltype(&::jq_compile) compile;
  decltype(&::jq_start) start;
  decltype(&::jq_next) next;
  decltype(&::jq_teardown) teardown;
  decltype(&::jq_set_error_cb) set_error_cb;
  decltype(&::jv_parse) parse;
  decltype(&::jv_dump_string) dump_string;
  decltype(&::jv_string_value) string_value;
  decltype(&::jv_string_sized) string_sized;
  decltype(&::jv_free) free;
  decltype(&::jv_copy) copy;
  decltype(&::jv_get_kind) get_kind;
  decltype(&::jv_invalid_has_msg) invalid_has_msg;
  decltype(&::jv_invalid_get_msg) invalid_get_msg;
};

template <typename Function>
bool find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

Result<const Library*> library() {
  static const std::optional<Library> loaded = []() -> std::optional<Library> {
    void* handle = dlopen("libjq.so.1", RTLD_NOW | RTLD_LOCAL);
    Library found{};
    const bool whole =
        handle != nullptr && find(handle, "jq_init", found.init) &&
        find(handle, "jq_compile", found.compile) && find(handle, "jq_start", found.start) &&
        find(handle, "jq_next", found.next) && find(handle, "jq_teardown", found.teardown) &&
        find(handle, "jq_set_error_cb", found.set_error_cb) &&
        find(handle, "jv_parse", found.parse) &&
        find(handle, "jv_dump_string", found.dump_string) &&
        find(handle, "jv_string_value", found.string_value) &&
        find(handle, "jv_string_sized", found.string_sized) &&
        find(handle, "jv_free", found.free) && find(handle, "jv_copy", found.copy) &&
        find(handle, "jv_get_kind", found.get_kind) &&
        find(handle, "jv_invalid_has_msg", found.invalid_has_msg) &&
        find(handle, "jv_invalid_get_msg", found.invalid_get_msg);
    return whole ? std::optional(found) : std::nullopt;
  }();
  if (!loaded)
    return world_error("`extract` needs libjq: install the package libjq1");
  return &*loaded;
}

std::string text_of_jv(const Library& jq, jv value) {
  std::string text;
  if (jq.get_kind(value) == JV_KIND_STRING) {
    text = jq.string_value(value);
    jq.free(value);
  } else {
    const jv dumped = jq.dump_string(value, 0);
    text = jq.string_value(dumped);
    jq.free(dumped);
  }
  return text;
}

/// The expression without our variables, to which jq gives a name and a function, and without
/// modules, which can only be named at the beginning of a program.
std::string closed(const std::string& expression) {
  return cat("{} as $ENV | def env: {}; (", expression, "\n)");
}

/// Compiled programs; each may be used by one thread at a time.
class Programs {
 public:
  Result<Value> run(const Library& jq, const std::string& expression, std::string_view text) {
    const std::lock_guard lock(mutex_);
    jq_state*& program = compiled_[expression];
    if (program == nullptr) {
      program = jq.init();
      jq.set_error_cb(program, collect, this);
      complaint_.clear();
      if (jq.compile(program, closed(expression).c_str()) == 0) {
        jq.teardown(&program);
        compiled_.erase(expression);
        return user_error(
            cat("the jq expression `", expression, "` does not compile: ", trim(complaint_)));
      }
      // Messages of a run come as values.
      jq.set_error_cb(program, ignore, nullptr);
    }
    jv input = jq.parse(std::string(text).c_str());
    const bool is_json = jq.get_kind(input) != JV_KIND_INVALID;
    if (!is_json) {
      jq.free(input);
      input = jq.string_sized(text.data(), static_cast<int>(text.size()));
    }
    jq.start(program, input, 0);
    const jv result = jq.next(program);
    if (jq.get_kind(result) == JV_KIND_INVALID) {
      if (jq.invalid_has_msg(jq.copy(result)) == 0) {
        jq.free(result);
        return world_error(cat("the jq expression `", expression, "` gives no result"));
      }
      return world_error(cat(is_json ? "" : "what was answered is not JSON; ",
                             "the jq expression `", expression,
                             "` fails: ", text_of_jv(jq, jq.invalid_get_msg(result))));
    }
    const jv dumped = jq.dump_string(result, 0);
    const std::string json = jq.string_value(dumped);
    jq.free(dumped);
    return read_json(json, {}, Duplicates::last_wins);
  }

 private:
  static void collect(void* self, jv message) {
    const Result<const Library*> jq = library();
    static_cast<Programs*>(self)->complaint_ += text_of_jv(**jq, message) + " ";
  }
  static void ignore(void*, jv message) {
    const Result<const Library*> jq = library();
    (*jq)->free(message);
  }

  std::mutex mutex_;
  std::map<std::string, jq_state*> compiled_;
  std::string complaint_;
};

}  // namespace

Result<Value> run_jq(std::string_view expression, std::string_view text) {
  // Never destroyed: compiled programs live as long as the process.
  static Programs& programs = *new Programs;
  const Library* jq = TRY(library());
  return programs.run(*jq, std::string(expression), text);
}

}  // namespace fettle
