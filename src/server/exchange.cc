#include "server/exchange.h"

#include "base/text.h"
#include "documents/errors.h"
#include "documents/parts.h"
#include "value/json.h"

namespace fettle {
namespace {

/// The version of the documents in docs/json.md, as the command line has it.
constexpr int schema_of_documents = 1;

int value_of_digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

Result<std::string> decoded(std::string_view text, bool is_query) {
  std::string made;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && is_query)
      c = ' ';
    if (text[i] == '%') {
      const int high = i + 2 < text.size() ? value_of_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? value_of_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0)
        return user_error("the address has a `%` that two hexadecimal digits do not follow");
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return user_error("the address has a control character");
    made += c;
  }
  if (!is_valid_utf8(made))
    return user_error("the address is no UTF-8");
  return made;
}

Result<std::vector<std::string>> segments_of(std::string_view path) {
  std::vector<std::string> segments;
  if (path == "/")
    return segments;
  for (const std::string_view part : split(path.substr(1), '/')) {
    std::string segment = TRY(decoded(part, false));
    if (segment.empty() || segment == "." || segment == ".." ||
        segment.find_first_of("/\\") != segment.npos)
      return user_error("the path has a segment that is empty, dots or has a slash in it");
    segments.push_back(std::move(segment));
  }
  return segments;
}

std::string json_of(const Value& document) {
  if (!document.is_dict())
    return write_json(document);
  std::vector<Entry> entries(document.entries().begin(), document.entries().end());
  entries.push_back({"schema", schema_of_documents});
  return write_json(Value::dict(std::move(entries)));
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& safety_fields() {
  static const std::vector<std::pair<std::string, std::string>> fields{
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "
       "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cache-Control", "no-store"}};
  return fields;
}

WebReply error_reply(int status, std::string message) {
  WebReply reply;
  reply.status = status;
  reply.body = json_of(document_of(user_error(std::move(message))));
  return reply;
}

WebReply error_reply(const Error& error) {
  WebReply reply;
  reply.status = error.blame != Blame::user                  ? 502
                 : error.message.starts_with("there is no ") ? 404
                                                             : 400;
  reply.body = json_of(document_of(error));
  return reply;
}

WebReply document_reply(const Value& document) {
  WebReply reply;
  reply.body = json_of(document);
  return reply;
}

Result<WebTarget> parse_target(std::string_view target) {
  if (!target.starts_with('/'))
    return user_error("the address is no path of this server");
  if (target.find('#') != target.npos)
    return user_error("the address has a fragment");
  WebTarget parsed;
  const size_t mark = target.find('?');
  parsed.segments = TRY(segments_of(target.substr(0, mark)));
  if (mark == target.npos || mark + 1 == target.size())
    return parsed;
  for (const std::string_view pair : split(target.substr(mark + 1), '&')) {
    const size_t equals = pair.find('=');
    const std::string name = TRY(decoded(pair.substr(0, equals), true));
    std::string value =
        equals == pair.npos ? std::string() : TRY(decoded(pair.substr(equals + 1), true));
    if (!parsed.query.emplace(name, std::move(value)).second)
      return user_error(cat("the parameter `", name, "` is given twice"));
  }
  return parsed;
}

}  // namespace fettle
