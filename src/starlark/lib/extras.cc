/// `re` (RE2), `hashes`, `base64` and `yaml`: for plugins of the host, not for packages.

#include <re2/re2.h>

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "starlark/eval/bind.h"
#include "starlark/lib/library.h"
#include "starlark/lib/strings.h"
#include "value/value.h"
#include "value/yaml.h"

namespace fettle::starlark {
namespace {

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view(const re2::StringPiece& text) { return {text.data(), text.size()}; }

constexpr int64_t most_program_bytes = 1 << 20;

constexpr size_t kept_program_bytes = 65536;

/// The programs that were used last: patterns mostly stand in the loop that uses them.
std::shared_ptr<re2::RE2> known_program(std::string_view pattern) {
  struct Known {
    std::string pattern;
    std::shared_ptr<re2::RE2> program;
  };
  constexpr size_t most_known = 16;
  thread_local std::vector<Known> known;
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i].pattern == pattern) {
      std::rotate(known.begin(), known.begin() + i64(i), known.begin() + i64(i) + 1);
      return known.front().program;
    }
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(most_program_bytes);
  auto program = std::make_shared<re2::RE2>(piece(pattern), options);
  if (known.size() == most_known)
    known.pop_back();
  known.insert(known.begin(), {std::string(pattern), program});
  return program;
}

/// The program of a text; null after an error.
std::shared_ptr<re2::RE2> program_of(Vm& vm, const Arguments& a, Value pattern) {
  if (!is_text(pattern)) {
    wrong_type(vm, a, "pattern", pattern, "string");
    return nullptr;
  }
  if (view_of(pattern).size() > 10'000) {
    vm.fail_with(a.name, ": pattern is too long");
    return nullptr;
  }
  // Charged whether the program is known or not, so that every run is the same.
  if (!vm.charge(u64(1000) + view_of(pattern).size() * 20))
    return nullptr;
  auto program = known_program(view_of(pattern));
  if (program->ok())
    return vm.charge(u64(program->ProgramSize()) * 8) ? program : nullptr;
  vm.fail_with(a.name, ": ", program->error());
  return nullptr;
}

Value compile_pattern(Vm& vm, const Arguments& a, Value pattern) {
  if (is_kind(pattern, Kind::regex))
    return pattern;
  auto program = program_of(vm, a, pattern);
  if (program == nullptr)
    return Value::error();
  auto* regex = vm.heap().make<RegexObject>(Kind::regex);
  regex->flags |= Object::frozen;
  regex->program = program.get();
  regex->pattern = pattern;
  if (!vm.heap().keep(std::move(program), kept_program_bytes))
    return vm.fail_memory();
  return Value::object(regex);
}

/// The groups of a match as texts, with None for those that took no part. None: there is no match.
Value groups(Vm& vm, const re2::RE2& program, const std::vector<re2::StringPiece>& found) {
  List* list = make_list(vm.heap(), found.size());
  static_cast<void>(program);
  for (const re2::StringPiece& group : found) {
    const Value text = group.data() == nullptr ? Value::none() : finish(vm, view(group));
    if (text.is_error() || !list_push(vm.heap(), list, text))
      return Value::error();
  }
  return Value::object(list);
}

struct Pattern {
  const re2::RE2* program = nullptr;
  std::shared_ptr<re2::RE2> own;  ///< of a text, for this call
  Value text;
  Value third;
};

/// Arguments of the functions (pattern, text, …) and of the methods of a compiled one (text, …).
bool arguments_of(Vm& vm, const Arguments& a, uint32_t more, Pattern& pattern) {
  const bool method = is_kind(a.self, Kind::regex);
  if (!want_positional(vm, a, (method ? 1 : 2) + more, (method ? 1 : 2) + more))
    return false;
  const Value given = method ? a.self : a.positional[0];
  if (is_kind(given, Kind::regex)) {
    pattern.program = static_cast<const re2::RE2*>(as<RegexObject>(given)->program);
  } else {
    pattern.own = program_of(vm, a, given);
    pattern.program = pattern.own.get();
    if (pattern.program == nullptr)
      return false;
  }
  for (uint32_t i = method ? 0 : 1; i < a.count; ++i) {
    if (!is_text(a.positional[i])) {
      wrong_type(vm, a, i, "string");
      return false;
    }
  }
  pattern.text = a.positional[a.count - 1];
  if (more > 0)
    pattern.third = a.positional[a.count - 2];
  return vm.charge(view_of(pattern.text).size() * 2);
}

Value match_once(Vm& vm, const Arguments& a, re2::RE2::Anchor anchor) {
  Pattern pattern;
  if (!arguments_of(vm, a, 0, pattern))
    return Value::error();
  std::vector<re2::StringPiece> found(size_t(pattern.program->NumberOfCapturingGroups()) + 1);
  const std::string_view text = view_of(pattern.text);
  if (!pattern.program->Match(piece(text), 0, text.size(), anchor, found.data(), int(found.size())))
    return Value::none();
  return groups(vm, *pattern.program, found);
}
Value re_search(Vm& vm, const Arguments& a) { return match_once(vm, a, re2::RE2::UNANCHORED); }
Value re_match(Vm& vm, const Arguments& a) { return match_once(vm, a, re2::RE2::ANCHOR_START); }
Value re_fullmatch(Vm& vm, const Arguments& a) { return match_once(vm, a, re2::RE2::ANCHOR_BOTH); }

/// Calls `f(match)` for matches that do not overlap.
template <typename F>
bool each_match(Vm& vm, const re2::RE2& program, std::string_view text, F&& f) {
  std::vector<re2::StringPiece> found(size_t(program.NumberOfCapturingGroups()) + 1);
  size_t at = 0;
  while (at <= text.size() && program.Match(piece(text), at, text.size(), re2::RE2::UNANCHORED,
                                            found.data(), int(found.size()))) {
    if (!vm.charge(4 + found.size() * 2) || !f(found))
      return false;
    const size_t end = size_t(found[0].data() - text.data()) + found[0].size();
    at = end;
    if (found[0].empty()) {
      // Never stops in the middle of a code point.
      do {
        ++at;
      } while (at < text.size() && at < end + 4 && (u8(text[at]) & 0xC0) == 0x80);
    }
  }
  return true;
}

Value re_findall(Vm& vm, const Arguments& a) {
  Pattern pattern;
  if (!arguments_of(vm, a, 0, pattern))
    return Value::error();
  List* list = make_list(vm.heap());
  const bool ok = each_match(vm, *pattern.program, view_of(pattern.text), [&](const auto& found) {
    Value item;
    if (found.size() <= 2) {
      item = finish(vm, view(found.back()));
    } else {
      item = groups(vm, *pattern.program, {found.begin() + 1, found.end()});
    }
    return !item.is_error() && list_push(vm.heap(), list, item);
  });
  return ok ? Value::object(list) : vm.failed ? Value::error() : vm.fail_memory();
}

Value re_split(Vm& vm, const Arguments& a) {
  Pattern pattern;
  if (!arguments_of(vm, a, 0, pattern))
    return Value::error();
  List* list = make_list(vm.heap());
  const std::string_view text = view_of(pattern.text);
  size_t at = 0;
  const auto push = [&](std::string_view part) {
    const Value item = finish(vm, part);
    return !item.is_error() && list_push(vm.heap(), list, item);
  };
  const bool ok = each_match(vm, *pattern.program, text, [&](const auto& found) {
    if (found[0].empty())
      return true;
    const size_t begin = size_t(found[0].data() - text.data());
    const bool pushed = push(text.substr(at, begin - at));
    at = begin + found[0].size();
    return pushed;
  });
  return ok && push(text.substr(at)) ? Value::object(list)
         : vm.failed                 ? Value::error()
                                     : vm.fail_memory();
}

/// `re.sub(pattern, replacement, text)`; `\1` in the replacement is a group.
Value re_sub(Vm& vm, const Arguments& a) {
  Pattern pattern;
  if (!arguments_of(vm, a, 1, pattern))
    return Value::error();
  const std::string_view text = view_of(pattern.text), rewrite = view_of(pattern.third);
  std::string problem;
  if (!pattern.program->CheckRewriteString(piece(rewrite), &problem))
    return vm.fail_with(a.name, ": ", problem);
  std::string out;
  size_t at = 0;
  const bool ok = each_match(vm, *pattern.program, text, [&](const auto& found) {
    const size_t begin = size_t(found[0].data() - text.data());
    out += text.substr(at, begin - at);
    pattern.program->Rewrite(&out, piece(rewrite), found.data(), int(found.size()));
    at = begin + found[0].size();
    if (!vm.charge(out.size() % 4096 == 0) || !vm.heap().may_take(out.size() * 2)) {
      vm.fail_memory();
      return false;
    }
    return true;
  });
  if (!ok)
    return Value::error();
  out += text.substr(at);
  return finish(vm, out);
}

Value re_compile(Vm& vm, const Arguments& a) {
  return want_positional(vm, a, 1, 1) ? compile_pattern(vm, a, a.positional[0]) : Value::error();
}
Value re_escape(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  if (!is_text(a.positional[0]))
    return wrong_type(vm, a, 0, "string");
  return finish(vm, re2::RE2::QuoteMeta(piece(view_of(a.positional[0]))));
}

constexpr MethodEntry regex_table[] = {{"findall", re_findall}, {"fullmatch", re_fullmatch},
                                       {"match", re_match},     {"search", re_search},
                                       {"split", re_split},     {"sub", re_sub}};
constexpr MethodEntry re_functions[] = {{"compile", re_compile}, {"escape", re_escape},
                                        {"findall", re_findall}, {"fullmatch", re_fullmatch},
                                        {"match", re_match},     {"search", re_search},
                                        {"split", re_split},     {"sub", re_sub}};

/// The bytes of a text or of bytes. False: it is something else, and there is an error.
bool bytes_argument(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return false;
  if (is_text(a.positional[0]) || is_bytes(a.positional[0]))
    return vm.charge(24 + view_of(a.positional[0]).size() / 4);
  vm.fail_with(a.name, ": got ", type_name_of(a.positional[0]), ", want string or bytes");
  return false;
}

Value hash_sha256(Vm& vm, const Arguments& a) {
  return bytes_argument(vm, a) ? finish(vm, sha256_hex(view_of(a.positional[0]))) : Value::error();
}
Value hash_xxh3(Vm& vm, const Arguments& a) {
  return bytes_argument(vm, a) ? finish(vm, to_string(fingerprint(view_of(a.positional[0]))))
                               : Value::error();
}

constexpr MethodEntry hash_functions[] = {{"sha256", hash_sha256}, {"xxh3", hash_xxh3}};

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

Value base64_encode(Vm& vm, const Arguments& a) {
  if (!bytes_argument(vm, a))
    return Value::error();
  const std::string_view bytes = view_of(a.positional[0]);
  if (!vm.heap().may_take(bytes.size() * 3))
    return vm.fail_memory();
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    const size_t size = std::min<size_t>(3, bytes.size() - i);
    for (size_t j = 0; j < 3; ++j)
      group = group << 8 | (j < size ? static_cast<uint8_t>(bytes[i + j]) : 0u);
    for (size_t j = 0; j < 4; ++j)
      out += j <= size ? alphabet[group >> (18 - 6 * j) & 63] : '=';
  }
  return finish(vm, out);
}

Value base64_decode(Vm& vm, const Arguments& a) {
  if (!bytes_argument(vm, a))
    return Value::error();
  std::string_view text = view_of(a.positional[0]);
  std::string out;
  const auto invalid = [&] { return vm.fail("decode: invalid base64"); };
  if (text.size() % 4 != 0)
    return invalid();
  size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  uint32_t group = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t digit = alphabet.find(text[i]);
    if (digit == std::string_view::npos)
      return invalid();
    group = group << 6 | u32(digit);
    if (i % 4 == 3) {
      out +=
          {static_cast<char>(group >> 16), static_cast<char>(group >> 8), static_cast<char>(group)};
      group = 0;
    }
  }
  if (padding == 1)
    out += {static_cast<char>(group >> 10), static_cast<char>(group >> 2)};
  else if (padding == 2)
    out += static_cast<char>(group >> 4);
  const Value made = make_bytes(vm.heap(), out);
  return made.is_error() ? vm.fail_memory() : made;
}

/// YAML 1.2 core; keys of mappings become texts.
Value yaml_decode(Vm& vm, const Arguments& a) {
  if (!bytes_argument(vm, a))
    return Value::error();
  const std::string_view text = view_of(a.positional[0]);
  if (!vm.charge(64 + text.size() * 8) || !vm.heap().may_take(text.size() * 32))
    return vm.failed ? Value::error() : vm.fail_memory();
  const Result<fettle::Value> read = read_yaml(text, "yaml", YamlSchema::core);
  if (!read)
    return vm.fail_with(a.name, ": ", to_string(read.error()));
  const Result<Value> value = HeapAccess(vm).value(*read);
  if (!value)
    return vm.fail_with(a.name, ": ", value.error().message);
  return value->is_error() ? vm.fail_memory() : *value;
}

Value yaml_encode(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  // Size and cycles are checked as for JSON, whose text has about the same length.
  std::string json, problem;
  if (!encode_json(vm, json, a.positional[0], problem))
    return vm.fail_with(a.name, ": ", problem);
  if (!vm.charge(64 + json.size() * 2))
    return Value::error();
  const Result<fettle::Value> plain = to_plain(vm, a.positional[0]);
  return plain ? finish(vm, write_yaml(*plain)) : vm.fail_with(a.name, ": ", plain.error().message);
}

constexpr MethodEntry yaml_functions[] = {{"yaml.decode", yaml_decode},
                                          {"yaml.encode", yaml_encode}};
constexpr MethodEntry base64_functions[] = {{"decode", base64_decode}, {"encode", base64_encode}};

}  // namespace

std::span<const MethodEntry> regex_methods() { return regex_table; }
Value make_re_module(Heap& heap) { return make_library(heap, "re", re_functions); }
Value make_hash_module(Heap& heap) { return make_library(heap, "hash", hash_functions); }
Value make_yaml_module(Heap& heap) { return make_library(heap, "yaml", yaml_functions); }
Value make_base64_module(Heap& heap) { return make_library(heap, "base64", base64_functions); }

}  // namespace fettle::starlark
