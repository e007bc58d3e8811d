#include "value/json_tree.h"

#include "base/text.h"
#include "value/json_long.h"
#include "value/json_memory.h"
#include "value/json_reader.h"

namespace fettle {
namespace {

using Stream = rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream>;

/// Offsets that never go back, as lines and columns.
class Places {
 public:
  explicit Places(std::string_view text) : text_(text) {}
  Place at(size_t offset) {
    for (; at_ < offset && at_ < text_.size(); ++at_)
      if (text_[at_] == '\n')
        place_ = {place_.line + 1, 1};
      else if ((static_cast<unsigned char>(text_[at_]) & 0xC0) != 0x80)
        ++place_.column;
    return place_;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
  Place place_{1, 1};
};

/// Tells the builder what the reader calls.
class Handler {
 public:
  Handler(std::string_view text, const Stream& stream, const LongIntegers& integers,
          const TreeLimits& limits, const std::function<Value(Value)>& convert)
      : text_(text),
        stream_(stream),
        integers_(integers),
        places_(text),
        convert_(convert),
        builder_({.limits = limits}) {}

  bool Null() { return put(Value(), 4); }
  bool Bool(bool b) { return put(b, b ? 4 : 5); }
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }
  bool RawNumber(const char* digits, rapidjson::SizeType length, bool) {
    const auto cut = integers_.empty() ? integers_.end() : integers_.find(stream_.Tell());
    return put(json_number(cut == integers_.end() ? std::string_view(digits, length) : cut->second),
               length);
  }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    return text_is({text, length});
  }
  bool Key(const char* text, rapidjson::SizeType length, bool) { return text_is({text, length}); }
  bool StartObject() { return open(TreeNode::Type::dict, '{'); }
  bool StartArray() { return open(TreeNode::Type::list, '['); }
  bool EndObject(rapidjson::SizeType) { return keep(builder_.close()); }
  bool EndArray(rapidjson::SizeType) { return keep(builder_.close()); }

  Tree take() { return builder_.take(); }
  const std::optional<Error>& failure() const { return failure_; }

 private:
  bool keep(Status status) {
    if (!status)
      failure_ = std::move(status).error();
    return !failure_;
  }
  bool put(Value value, size_t length) { return add(std::move(value), stream_.Tell() - length); }
  bool add(Value value, size_t begin) {
    return keep(builder_.scalar(convert_ ? convert_(std::move(value)) : std::move(value),
                                places_.at(begin)));
  }
  /// The reader stands behind the closing quote, and inside there is none without a backslash.
  bool text_is(std::string_view text) {
    size_t begin = stream_.Tell() - 1;
    do
      begin = text_.rfind('"', begin - 1);
    while (begin != text_.npos && is_escaped(begin));
    return add(Value(text), std::min(begin, text_.size()));
  }
  bool is_escaped(size_t quote) const {
    size_t begin = quote;
    while (begin > 0 && text_[begin - 1] == '\\')
      --begin;
    return (quote - begin) % 2 != 0;
  }
  bool open(TreeNode::Type type, char bracket) {
    const size_t here = stream_.Tell();
    const bool is_here = here < text_.size() && text_[here] == bracket;
    return keep(builder_.open(type, places_.at(is_here ? here : here - 1)));
  }

  std::string_view text_;
  const Stream& stream_;
  const LongIntegers& integers_;
  Places places_;
  const std::function<Value(Value)>& convert_;
  TreeBuilder builder_;
  std::optional<Error> failure_;
};

/// `integers` were cut out of `text`, see json_long.h.
Result<Tree> read_cut_tree(std::string_view text, const LongIntegers& integers,
                           const TreeLimits& limits, const std::function<Value(Value)>& convert) {
  constexpr unsigned flags = rapidjson::kParseNumbersAsStringsFlag |
                             rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  rapidjson::MemoryStream memory(text.data(), text.size());
  Stream stream(memory);
  rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, JsonMemory> reader;
  Handler handler(text, stream, integers, limits, convert);
  // The reader takes one for the end.
  if (const size_t zero = text.find('\0'); zero != text.npos) {
    const Place place = Places(text).at(zero);
    return user_error("it has a zero byte",
                      {"", static_cast<int>(place.line), static_cast<int>(place.column)});
  }
  if (reader.Parse<flags>(stream, handler))
    return handler.take();
  if (handler.failure())
    return *handler.failure();
  if (reader.GetParseErrorCode() == rapidjson::kParseErrorNumberTooBig && integers.empty()) {
    LongIntegers found;
    const std::string cut = cut_long_integers(text, found);
    if (!found.empty())
      return read_cut_tree(cut, found, limits, convert);
  }
  const std::string why = lower_case(rapidjson::GetParseError_En(reader.GetParseErrorCode()));
  const Place place = Places(text).at(reader.GetErrorOffset());
  return user_error(why.substr(0, why.find_last_not_of('.') + 1),
                    {"", static_cast<int>(place.line), static_cast<int>(place.column)});
}

}  // namespace

Result<Tree> read_json_tree(std::string_view text, std::string_view file, const TreeLimits& limits,
                            const std::function<Value(Value)>& convert) {
  Result<Tree> tree = read_cut_tree(text, {}, limits, convert);
  if (tree)
    return tree;
  Error error = std::move(tree).error();
  error.message = cat("invalid JSON: ", error.message);
  error.where.file = file;
  error.excerpt = excerpt(text, error.where.line, error.where.column);
  return error;
}

std::string write_json_tree(const TreeNode& top) {
  std::string json;
  std::vector<std::pair<const TreeNode*, size_t>> open;
  const auto begin = [&](const TreeNode& node) {
    if (node.is_scalar())
      append_json(json, node.scalar());
    else
      open.emplace_back(&node, 0);
  };
  for (begin(top); !open.empty();) {
    const TreeNode& here = *open.back().first;
    const size_t next = open.back().second++;
    const size_t count = here.is_list() ? here.items().size() : here.entries().size();
    if (next == 0)
      json += here.is_list() ? '[' : '{';
    if (next == count) {
      json += here.is_list() ? ']' : '}';
      open.pop_back();
      continue;
    }
    if (next > 0)
      json += ',';
    if (!here.is_list()) {
      append_json_text(json, here.entries()[next].key->text());
      json += ':';
    }
    begin(here.is_list() ? *here.items()[next] : *here.entries()[next].value);
  }
  return json;
}

}  // namespace fettle
