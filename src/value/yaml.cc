#include "value/yaml.h"

#include <yaml.h>

#include "base/text.h"
#include "value/json.h"
#include "value/yaml_scalar.h"

namespace fettle {
namespace {

/// Nodes that aliases may stand for in one text: a bomb of nested aliases needs far more.
constexpr size_t most_aliased_nodes = 4'000'000;

/// Builds values from libyaml's events.
class Composer {
 public:
  Composer(std::string_view text, std::string_view file, YamlSchema schema)
      : text_(text), file_(file), schema_(schema) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~Composer() {
    drop();
    yaml_parser_delete(&parser_);
  }
  Composer(const Composer&) = delete;
  Composer& operator=(const Composer&) = delete;

  Result<std::vector<Value>> documents() {
    if (!is_valid_utf8(text_))
      return user_error("invalid YAML: the text is not UTF-8", {std::string(file_), 0, 0});
    std::vector<Value> found;
    TRY(next());  // the stream starts
    while (true) {
      TRY(next());
      if (event_.type == YAML_STREAM_END_EVENT)
        return found;
      anchors_.clear();
      TRY(next());  // past the start of the document
      found.push_back(TRY(node(0)).value);
      TRY(next());  // its end
    }
  }

 private:
  struct Node {
    Value value;
    size_t nodes = 1;  ///< how many it stands for when its aliases are written out
  };

  Error error(std::string why, const yaml_mark_t& mark) const {
    const Where where{std::string(file_), static_cast<int>(mark.line) + 1,
                      static_cast<int>(mark.column) + 1};
    Error error = user_error("invalid YAML: " + std::move(why), where);
    error.excerpt = excerpt(text_, where.line, where.column);
    return error;
  }

  void drop() {
    if (held_)
      yaml_event_delete(&event_);
    held_ = false;
  }

  Status next() {
    drop();
    if (yaml_parser_parse(&parser_, &event_) == 0) {
      const std::string why = parser_.problem == nullptr ? "it cannot be read" : parser_.problem;
      return error(parser_.context == nullptr ? why : cat(why, " ", parser_.context),
                   parser_.problem_mark);
    }
    held_ = true;
    return {};
  }

  static std::string text_of_yaml(const yaml_char_t* text) {
    return text == nullptr ? std::string() : reinterpret_cast<const char*>(text);
  }

  Result<Node> node(int depth) {
    if (depth > deepest_yaml)
      return error(cat("nested deeper than ", deepest_yaml), event_.start_mark);
    switch (event_.type) {
      case YAML_ALIAS_EVENT:
        return alias();
      case YAML_SCALAR_EVENT:
        return scalar();
      case YAML_SEQUENCE_START_EVENT:
        return sequence(depth);
      case YAML_MAPPING_START_EVENT:
        return mapping(depth);
      default:
        return error("a value is expected", event_.start_mark);
    }
  }

  Result<Node> alias() {
    const std::string name = text_of_yaml(event_.data.alias.anchor);
    const auto found = anchors_.find(name);
    if (found == anchors_.end())
      return error(cat("the anchor `", name, "` is not known here"), event_.start_mark);
    aliased_ += found->second.nodes;
    if (aliased_ > most_aliased_nodes)
      return error("its aliases stand for too much", event_.start_mark);
    return found->second;
  }

  void remember(const yaml_char_t* anchor, const Node& node) {
    if (anchor != nullptr)
      anchors_[text_of_yaml(anchor)] = node;
  }

  Result<Node> scalar() {
    const auto& data = event_.data.scalar;
    const std::string_view text(reinterpret_cast<const char*>(data.value), data.length);
    const std::string tag = text_of_yaml(data.tag);
    Node made;
    if (tag == "tag:yaml.org,2002:str" || tag == "!" ||
        (tag.empty() && data.style != YAML_PLAIN_SCALAR_STYLE))
      made.value = Value(text);
    else
      made.value = plain_scalar(text, schema_);
    if (tag == "tag:yaml.org,2002:float" && made.value.is_integer() && made.value.integer())
      made.value = static_cast<double>(*made.value.integer());
    remember(data.anchor, made);
    return made;
  }

  Result<Node> sequence(int depth) {
    const std::string anchor = text_of_yaml(event_.data.sequence_start.anchor);
    std::vector<Value> items;
    Node made;
    for (TRY(next()); event_.type != YAML_SEQUENCE_END_EVENT; TRY(next())) {
      Node item = TRY(node(depth + 1));
      made.nodes += item.nodes;
      items.push_back(std::move(item.value));
    }
    made.value = Value::list(std::move(items));
    if (!anchor.empty())
      anchors_[anchor] = made;
    return made;
  }

  Result<Node> mapping(int depth) {
    const std::string anchor = text_of_yaml(event_.data.mapping_start.anchor);
    std::vector<Entry> merged, own;
    std::set<std::string> seen;
    Node made;
    for (TRY(next()); event_.type != YAML_MAPPING_END_EVENT; TRY(next())) {
      const yaml_mark_t mark = event_.start_mark;
      const bool merges =
          event_.type == YAML_SCALAR_EVENT && event_.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
          std::string_view(reinterpret_cast<const char*>(event_.data.scalar.value)) == "<<";
      const Node key = TRY(node(depth + 1));
      TRY(next());
      Node value = TRY(node(depth + 1));
      made.nodes += key.nodes + value.nodes;
      if (merges) {
        TRY(merge(value.value, merged, mark));
        continue;
      }
      if (key.value.is_list() || key.value.is_dict())
        return error("a key must be a text or a number", mark);
      std::string name = to_text(key.value);
      if (!seen.insert(name).second && schema_ == YamlSchema::core)
        return error(cat("the key `", name, "` occurs twice"), mark);
      own.push_back({name, std::move(value.value)});
    }
    merged.insert(merged.end(), std::make_move_iterator(own.begin()),
                  std::make_move_iterator(own.end()));
    made.value = Value::dict(std::move(merged));  // of equal keys the last counts, so own ones win
    if (!anchor.empty())
      anchors_[anchor] = made;
    return made;
  }

  /// The entries that `<<` brings; of several mappings the first counts.
  Status merge(const Value& from, std::vector<Entry>& merged, const yaml_mark_t& mark) {
    if (from.is_dict()) {
      merged.insert(merged.begin(), from.entries().begin(), from.entries().end());
      return {};
    }
    if (!from.is_list())
      return error("`<<` wants a mapping or a list of mappings", mark);
    for (const Value& item : from.items()) {
      if (!item.is_dict())
        return error("`<<` wants a mapping or a list of mappings", mark);
      merged.insert(merged.begin(), item.entries().begin(), item.entries().end());
    }
    return {};
  }

  std::string_view text_, file_;
  YamlSchema schema_;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool held_ = false;
  std::map<std::string, Node> anchors_;
  size_t aliased_ = 0;
};

/// Whether a text stands for itself when written without quotes.
bool is_plain(std::string_view text) {
  if (text.empty() || !(plain_scalar(text, YamlSchema::core) == Value(text)) ||
      !(plain_scalar(text, YamlSchema::go_yaml_v2) == Value(text)))
    return false;
  if (text.find_first_of("\n\t\"\\") != text.npos || text.find(": ") != text.npos ||
      text.find(" #") != text.npos)
    return false;
  return std::string_view("-?:,[]{}#&*!|>'\"%@` ").find(text.front()) == std::string_view::npos &&
         text.back() != ' ' && text.back() != ':' &&
         static_cast<unsigned char>(text.front()) >= 0x20;
}

void append_scalar(std::string& yaml, const Value& value) {
  if (value.is_text() && is_plain(value.text()))
    yaml += value.text().view();
  else
    yaml += write_json(value);
}

void append_yaml(std::string& yaml, const Value& value, size_t indent);

void append_below(std::string& yaml, const Value& value, size_t indent) {
  const bool block =
      (value.is_dict() && !value.entries().empty()) || (value.is_list() && !value.items().empty());
  yaml += block ? "\n" : " ";
  if (block) {
    append_yaml(yaml, value, indent);
  } else {
    append_scalar(yaml, value);
    yaml += "\n";
  }
}

void append_yaml(std::string& yaml, const Value& value, size_t indent) {
  if (value.is_dict() && !value.entries().empty()) {
    for (const Entry& entry : value.entries()) {
      yaml.append(indent, ' ');
      append_scalar(yaml, Value(entry.key));
      yaml += ":";
      append_below(yaml, entry.value, indent + 2);
    }
  } else if (value.is_list() && !value.items().empty()) {
    for (const Value& item : value.items()) {
      yaml.append(indent, ' ').append("-");
      append_below(yaml, item, indent + 2);
    }
  } else {
    yaml.append(indent, ' ');
    append_scalar(yaml, value);
    yaml += "\n";
  }
}

}  // namespace

Result<std::vector<Value>> read_yaml_documents(std::string_view text, std::string_view file,
                                               YamlSchema schema) {
  return Composer(text, file, schema).documents();
}

Result<Value> read_yaml(std::string_view text, std::string_view file, YamlSchema schema) {
  std::vector<Value> found = TRY(read_yaml_documents(text, file, schema));
  if (found.size() > 1)
    return user_error("invalid YAML: one document is expected, there are several",
                      {std::string(file), 0, 0});
  return found.empty() ? Value() : std::move(found.front());
}

std::string write_yaml(const Value& value) {
  std::string yaml;
  append_yaml(yaml, value, 0);
  return yaml;
}

}  // namespace fettle
