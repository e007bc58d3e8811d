#include "kinds/members.h"

#include <algorithm>
#include <array>

#include "base/invariant.h"
#include "base/text.h"
#include "core/open_payload.h"
#include "value/empty.h"

namespace fettle {
namespace {

bool fits(const Value& value, Member::Type type) {
  if (value.is_deferred() || value.is_unknown())
    return true;
  if (value.is_secret())
    return fits(value.inside(), type);
  switch (type) {
    case Member::text:
      return value.is_text();
    case Member::integer:
      return value.is_integer();
    case Member::boolean:
      return value.is_bool();
    case Member::list:
      return value.is_list();
    case Member::dict:
      return value.is_dict();
    case Member::any:
      return true;
  }
  return false;
}

bool is_left_out(const Value& value, Member::Omission leaving) {
  return (leaving == Member::when_null && value.is_null()) ||
         (leaving == Member::when_empty && (is_empty(value) || value == Value(0)));
}

}  // namespace

std::string_view to_string(Member::Type type) {
  constexpr std::array<std::string_view, 6> names{"a string", "an integer", "a bool",
                                                  "a list",   "a dict",     "anything"};
  return names[type];
}

Result<Value> Members::normalise(const Value& given) const {
  if (!given.is_dict())
    return user_error(cat("expected a dict of attributes, got ", to_string(given.type())));
  std::vector<Entry> normal;
  normal.reserve(rows_.size());
  size_t known = 0;
  for (const Member& row : rows_) {
    const Value* value = given.find(row.name);
    known += value != nullptr ? 1 : 0;
    if (value == nullptr || (value->is_null() && row.type != Member::any)) {
      if (!row.otherwise)
        return user_error(cat("attribute `", row.name, "` is missing"));
      value = &*row.otherwise;
    } else if (!fits(*value, row.type)) {
      return user_error(cat("attribute `", row.name, "` must be ", to_string(row.type), ", got ",
                            to_string(value->type())));
    }
    if (!is_left_out(*value, row.leaving))
      normal.push_back({row.name, *value});
  }
  if (known == given.entries().size())
    return Value::dict(std::move(normal));
  std::vector<std::string> names;
  for (const Member& row : rows_)
    names.push_back(row.name.str());
  const auto is_unknown = [&](const Entry& entry) {
    return std::ranges::find(names, entry.key.view()) == names.end();
  };
  const auto unknown = std::ranges::find_if(given.entries(), is_unknown);
  return user_error(cat("unknown attribute `", unknown->key, "`", suggestion(unknown->key, names)));
}

const Member& Members::row_of(void (*set)(void*, const Value&)) const {
  const auto found = std::ranges::find(rows_, set, &Member::set);
  INVARIANT(found != rows_.end());
  return *found;
}

void Members::read(void* owner, const Value& value) const {
  for (const Member& row : rows_)
    if (const Value* found = value.find(row.name))
      row.set(owner, *found);
}

template <typename Kind>
void Members::read(void* owner, const Payload<Kind>& payload) const {
  read(owner, dict_of(payload));
}
template void Members::read(void*, const Attributes&) const;
template void Members::read(void*, const Outputs&) const;
template void Members::read(void*, const State&) const;

template <typename Kind>
const Value* Members::find(const Payload<Kind>& payload, const Member& row) {
  return dict_of(payload).find(row.name);
}
template const Value* Members::find(const Attributes&, const Member&);
template const Value* Members::find(const Outputs&, const Member&);
template const Value* Members::find(const State&, const Member&);

Value Members::write(const void* owner) const {
  std::vector<Entry> entries;
  entries.reserve(rows_.size());
  for (const Member& row : rows_)
    if (Value value = row.get(owner); !is_left_out(value, row.leaving))
      entries.push_back({row.name, std::move(value)});
  return Value::dict(std::move(entries));
}

}  // namespace fettle
