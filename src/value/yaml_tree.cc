#include "value/yaml_tree.h"

#include <yaml.h>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/hash.h"
#include "base/text.h"
#include "value/go_yaml.h"
#include "value/yaml_scalar.h"

namespace fettle {
namespace {

std::string_view view_of(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return hash64(text); }
};
/// The values of scalars that occurred before: keys and references occur many times.
using Known = boost::unordered_flat_map<std::string, Value, TextHash, std::equal_to<>>;

Place place_of(const yaml_mark_t& mark) {
  return {static_cast<uint32_t>(mark.line) + 1, static_cast<uint32_t>(mark.column) + 1};
}

/// libyaml's events, one at a time.
class Events {
 public:
  explicit Events(std::string_view text) {
    yaml_parser_initialize(&parser_);
    const std::string_view input = text.data() != nullptr ? text : "";  // it takes no null
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(input.data()),
                                 input.size());
  }
  ~Events() {
    drop();
    yaml_parser_delete(&parser_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  /// False when the text is broken.
  bool next() {
    drop();
    holds_ = yaml_parser_parse(&parser_, &event_) != 0;
    return holds_;
  }
  const yaml_event_t& event() const { return event_; }

  std::string problem() const {
    if (parser_.problem == nullptr)
      return "it cannot be read";
    return parser_.context == nullptr ? parser_.problem
                                      : cat(parser_.problem, " ", parser_.context);
  }
  Place problem_place() const { return place_of(parser_.problem_mark); }

 private:
  void drop() {
    if (holds_)
      yaml_event_delete(&event_);
    holds_ = false;
  }

  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool holds_ = false;
};

TreeBuilder::Rules rules_of(const YamlOptions& reading) {
  const bool is_go = reading.schema == YamlSchema::go_yaml_v2;
  return {.duplicates = reading.duplicates,
          .limits = reading.limits,
          .merges_in_place = is_go,
          .key = is_go ? go_yaml::key : nullptr};
}

class TreeReader {
 public:
  TreeReader(std::string_view text, std::string_view file, const YamlOptions& reading)
      : text_(text), file_(file), reading_(reading), events_(text), builder_(rules_of(reading)) {}

  Result<std::vector<Tree>> read() {
    if (!is_valid_utf8(text_)) {
      const LineAndColumn end = end_of_utf8(text_);
      return user_error("invalid YAML: the text is not UTF-8",
                        {std::string(file_), end.line, end.column});
    }
    std::vector<Tree> trees;
    while (true) {
      if (!events_.next())
        return error(events_.problem(), events_.problem_place());
      const yaml_event_t& event = events_.event();
      if (event.type == YAML_STREAM_END_EVENT)
        return trees;
      if (event.type == YAML_DOCUMENT_END_EVENT) {
        trees.push_back(builder_.take());
        if (reading_.only_first)
          return trees;
      } else if (Status status = take(event); !status)
        return error(status.error().message, {static_cast<uint32_t>(status.error().where.line),
                                              static_cast<uint32_t>(status.error().where.column)});
    }
  }

 private:
  /// An end that comes too early is an error where the last line ends, not on a line that is not
  /// there.
  Place within(Place place) const {
    const std::string_view lines =
        text_.ends_with('\n') ? text_.substr(0, text_.size() - 1) : text_;
    const LineAndColumn end = end_of_utf8(lines);
    return static_cast<int>(place.line) <= end.line
               ? place
               : Place{static_cast<uint32_t>(end.line), static_cast<uint32_t>(end.column)};
  }

  Error error(std::string_view why, Place found) const {
    const Place place = within(found);
    const Where where{std::string(file_), static_cast<int>(place.line),
                      static_cast<int>(place.column)};
    Error error = user_error(cat("invalid YAML: ", why), where);
    error.excerpt = excerpt(text_, where.line, where.column);
    return error;
  }

  void tell_tag(std::string_view tag, Place place) const {
    if (reading_.on_tag && !tag.empty() && tag != "!" && !tag.starts_with(yaml_tag_prefix))
      reading_.on_tag(tag, place);
  }

  Status take(const yaml_event_t& event) {
    const Place place = place_of(event.start_mark);
    switch (event.type) {
      case YAML_ALIAS_EVENT:
        return builder_.alias(view_of(event.data.alias.anchor), place);
      case YAML_SCALAR_EVENT:
        return scalar(event, place);
      case YAML_SEQUENCE_START_EVENT: {
        const auto& data = event.data.sequence_start;
        tell_tag(view_of(data.tag), place);
        TRY(check_tag(view_of(data.tag), {"seq", "omap", "pairs"}, place));
        return builder_.open(TreeNode::Type::list, place, view_of(data.anchor));
      }
      case YAML_MAPPING_START_EVENT: {
        const auto& data = event.data.mapping_start;
        tell_tag(view_of(data.tag), place);
        TRY(check_tag(view_of(data.tag), {"map", "set"}, place));
        return builder_.open(TreeNode::Type::dict, place, view_of(data.anchor));
      }
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        return builder_.close();
      default:
        return {};
    }
  }

  /// Only PyYAML minds the tags of lists and dicts.
  Status check_tag(std::string_view tag, std::initializer_list<std::string_view> known,
                   Place place) const {
    if (!is_pyyaml(reading_.schema) || tag.empty() || tag == "!")
      return {};
    for (const std::string_view name : known)
      if (tag.starts_with(yaml_tag_prefix) && tag.substr(yaml_tag_prefix.size()) == name)
        return {};
    return placed(user_error(cat("could not determine a constructor for the tag '", tag, "'")),
                  place);
  }

  static Error placed(Error error, Place place) {
    error.where = {"", static_cast<int>(place.line), static_cast<int>(place.column)};
    return error;
  }

  Status scalar(const yaml_event_t& event, Place place) {
    const auto& data = event.data.scalar;
    const std::string_view text(reinterpret_cast<const char*>(data.value), data.length);
    const std::string_view tag = view_of(data.tag);
    tell_tag(tag, place);
    const bool is_plain = data.style == YAML_PLAIN_SCALAR_STYLE;
    const bool is_merge_tag =
        tag == "tag:yaml.org,2002:merge" && reading_.schema == YamlSchema::go_yaml_v2;
    const bool merges =
        text == "<<" && ((is_plain && tag.empty()) || is_merge_tag) && builder_.expects_key();
    Value value;
    if (tag.empty())
      value = is_plain && !merges ? plain(text) : quoted(text);
    else if (Result<Value> read = tagged(text, tag, is_plain); read)
      value = std::move(*read);
    else
      return placed(read.error(), place);
    return builder_.scalar(std::move(value), place, view_of(data.anchor), merges);
  }

  Value converted(Value value) const {
    return reading_.convert ? reading_.convert(std::move(value)) : value;
  }

  template <typename Make>
  Value once(Known& known, std::string_view text, const Make& make) const {
    constexpr size_t longest = 64, most = 1 << 13;
    if (text.size() > longest)
      return converted(make());
    if (const auto found = known.find(text); found != known.end())
      return found->second;
    if (known.size() == most)
      known.clear();
    return known.emplace(std::string(text), converted(make())).first->second;
  }

  Value plain(std::string_view text) {
    return once(plain_, text, [&] { return plain_scalar(text, reading_.schema); });
  }
  Value quoted(std::string_view text) {
    return once(quoted_, text, [&] { return Value(text); });
  }

  Result<Value> tagged(std::string_view text, std::string_view tag, bool is_plain) {
    if (tag == "!")
      return is_plain && is_pyyaml(reading_.schema) ? plain(text) : quoted(text);
    if (tag.starts_with(yaml_tag_prefix) && tag.substr(yaml_tag_prefix.size()) == "str")
      return quoted(text);
    if (is_pyyaml(reading_.schema))
      return pyyaml_tagged(text, tag, reading_.schema);
    if (reading_.schema == YamlSchema::go_yaml_v2)
      return go_yaml::tagged(text, tag);
    Value value = plain(text);
    const bool is_float =
        tag.starts_with(yaml_tag_prefix) && tag.substr(yaml_tag_prefix.size()) == "float";
    if (is_float && value.is_integer() && value.integer())
      value = static_cast<double>(*value.integer());
    return value;
  }

  std::string_view text_, file_;
  const YamlOptions& reading_;
  Events events_;
  TreeBuilder builder_;
  Known plain_, quoted_;
};

}  // namespace

Result<std::vector<Tree>> read_yaml_trees(std::string_view text, std::string_view file,
                                          const YamlOptions& reading) {
  return TreeReader(text, file, reading).read();
}

Result<Tree> read_yaml_tree(std::string_view text, std::string_view file,
                            const YamlOptions& reading) {
  std::vector<Tree> trees = TRY(read_yaml_trees(text, file, reading));
  if (trees.size() > 1) {
    const Place place = trees[1].root().place();
    const Where where{std::string(file), static_cast<int>(place.line),
                      static_cast<int>(place.column)};
    return user_error("invalid YAML: one document is expected, there are several", where);
  }
  return trees.empty() ? Tree() : std::move(trees.front());
}

}  // namespace fettle
