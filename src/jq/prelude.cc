#include "jq/prelude.h"

#include <algorithm>

#include "base/invariant.h"
#include "jq/parser.h"

namespace fettle::jq {
namespace {

/// Each definition may use those before it. Which choice in one is the oldest is visible: gojq goes
/// on there after an error.
constexpr std::string_view definitions = R"jq(
def not: if . then false else true end;
def select(keeps): if keeps then . else empty end;
def map(change): [.[] | change];
def map_values(change): .[] |= change;
def add(items): [items] | add;
def in(things): . as $key | things | has($key);

def recurse(step): def all: ., (step | all); all;
def recurse: recurse(.[]?);
def recurse(step; goes_on): def all: ., (step | select(goes_on) | all); all;

def range($to): _range(0; $to; 1);
def range($from; $to): _range($from; $to; 1);
def range($from; $to; $by): _range($from; $to; $by);
def while(goes_on; step): def all: if goes_on then ., (step | all) else empty end; all;
def until(is_done; step): def last: if is_done then . else step | last end; last;
def repeat(step): def all: step, all; all;

def first: .[0];
def last: .[-1];
def nth($place): .[$place];
def first(items): label $found | items | ., break $found;
def last(items): reduce items as $item ([]; [$item]) | .[];
def isempty(items): label $found | (items | false, break $found), true;
def limit($most; items):
  if $most > 0 then
    label $full | foreach items as $item ($most; . - 1; $item, if . > 0 then empty else break $full end)
  elif $most == 0 then empty
  else error("limit doesn't support negative count") end;
def skip($count; items):
  if $count > 0 then foreach items as $item ($count; . - 1; if . < 0 then $item else empty end)
  elif $count == 0 then items
  else error("skip doesn't support negative count") end;
def nth($place; items):
  if $place >= 0 then first(skip($place; items)) else error("nth doesn't support negative index") end;

def any(items; holds): isempty(items | select(holds)) | not;
def any(holds): any(.[]; holds);
def any: any(.);
def all(items; holds): isempty(items | select(holds | not));
def all(holds): all(.[]; holds);
def all: all(.);
def IN(items): any(items == .; .);
def IN(left; right): any(left == right; .);

def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type | . == "array" or . == "object");
def scalars: select(type | . != "array" and . != "object");
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def strings: select(type == "string");
def nulls: select(. == null);
def values: select(. != null);
def finites: select(isfinite);
def normals: select(isnormal);

def min_by(key): _min_by(map([key]));
def max_by(key): _max_by(map([key]));
def sort_by(key): _sort_by(map([key]));
def group_by(key): _group_by(map([key]));
def unique_by(key): _unique_by(map([key]));

def to_entries: [keys[] as $key | {$key, value: .[$key]}];
def from_entries:
  map({(.key // .Key // .name // .Name): if has("value") then .value else .Value end}) | add // {};
def with_entries(change): to_entries | map(change) | from_entries;

def walk(change):
  def all: if type == "array" then map(all) elif type == "object" then map_values(all) else . end | change;
  all;
def combinations:
  if length > 0 then .[0][] as $first | .[1:] | combinations | [$first] + . else [] end;
def combinations(count): [limit(count; repeat(.))] | combinations;

def _assign(places; $value): reduce path(places) as $place (.; setpath($place; $value));
def del(places): delpaths([path(places)]);
def paths: path(..) | select(. != []);
def paths(keeps): path(.. | select(keeps)) | select(. != []);
def pick(places): . as $whole | reduce path(places) as $place (null; setpath($place; $whole | getpath($place)));
def tostream:
  path(def inside: (.[]? | inside), .; inside) as $place | getpath($place)
  | reduce path(.[]?) as $last ([$place, .]; [$place + $last]);
def fromstream(events):
  foreach events as $event (null;
    (if .e then null else . end) as $before | $event as [$place, $value]
    | if $event | length == 2
      then $before | setpath(["v"] + $place; $value) | setpath(["e"]; $place | length == 0)
      else $before | setpath(["e"]; $place | length == 1) end;
    if .e then .v else empty end);
def truncate_stream(events):
  . as $depth | null | events | if .[0] | length > $depth then .[0] |= .[$depth:] else empty end;

def match($re; $flags): _match($re; $flags; false)[];
def match($re): match($re; null);
def test($re; $flags): _match($re; $flags; true);
def test($re): test($re; null);
def capture($re; $flags): match($re; $flags) | .captures | _captures;
def capture($re): capture($re; null);
def scan($re; $flags):
  match($re; $flags + "g") | if .captures == [] then .string else [.captures[].string] end;
def scan($re): scan($re; null);
def splits($re; $flags):
  . as $text
  | .[foreach (match($re; $flags + "g"), null) as $match ({};
      {start: .next, end: $match.offset, next: ($match.offset + $match.length)})];
def splits($re): splits($re; null);
def split($re; $flags): [splits($re; $flags)];
def sub($re; text; $flags):
  . as $whole
  | reduce match($re; $flags) as $match ({made: []};
      ([$match.captures | _captures | text]) as $new
      | reduce range($new | length) as $i (.;
          .made[$i] += $whole[.next:$match.offset] + $new[$i])
      | .next = $match.offset + $match.length)
  | .made[] + $whole[.next:] // $whole;
def sub($re; text): sub($re; text; null);
def gsub($re; text; $flags): sub($re; text; $flags + "g");
def gsub($re; text): sub($re; text; "g");

def todateiso8601: strftime("%Y-%m-%dT%H:%M:%SZ");
def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%S%z") | mktime;
def todate: todateiso8601;
def fromdate: fromdateiso8601;

def INDEX(rows; key): reduce rows as $row ({}; .[$row | key | tostring] = $row);
def INDEX(key): INDEX(.[]; key);
def JOIN($index; key): [.[] | [., $index[key]]];
def JOIN($index; rows; key): rows | [., $index[key]];
def JOIN($index; rows; key; change): rows | [., $index[key]] | change;
)jq";

struct Prelude {
  Program program;
  Functions functions;
};

const Prelude& prelude() {
  static const Prelude& made = *[] {
    auto* prelude = new Prelude;
    const Status read =
        Parser(definitions, prelude->program, prelude->functions).definitions(prelude->functions);
    INVARIANT(read.has_value());
    return prelude;
  }();
  return made;
}

}  // namespace

const Functions& prelude_functions() { return prelude().functions; }

std::vector<std::string> known_functions() {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name, size_t arity) {
    if (!name.starts_with('_'))
      names.push_back(cat(name, "/", arity));
  };
  for (const auto& [name, function] : prelude().functions)
    add(name.first, name.second);
  for (const auto& [name, native] : native_functions())
    add(name.first, name.second);
  for (const auto& [name, arity] :
       {std::pair("empty", 0), std::pair("env", 0), std::pair("path", 1)})
    add(name, static_cast<size_t>(arity));
  std::ranges::sort(names);
  return names;
}

}  // namespace fettle::jq
