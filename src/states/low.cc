#include "states/low.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"

namespace fettle::states {
namespace {

/// The distance of `last` behind all others.
constexpr double last_order = 1'000'000;
/// Orders stay well below the largest integer that a double holds exactly.
constexpr int64_t largest_order = 1'000'000'000;

/// The order that a chunk asks for, before those of the others are known.
struct OrderRequest {
  enum class Kind : uint8_t { none, number, last, behind };
  Kind kind = Kind::none;
  double number = 0;
  double fraction = 0;  ///< of its place in `names`
};

class Maker {
 public:
  Maker(const Waits& own_waits, Report& report) : own_waits_(own_waits), report_(report) {}

  Low make(const High& high) {
    size_t count = 0;
    for (const Declaration& one : high.declarations)
      count += one.bodies.size();
    low_.chunks.reserve(count);
    low_.bodies.reserve(count);
    asked_.reserve(count);
    for (const Declaration& one : high.declarations)
      for (const bool is_whole : {true, false})  // Idem puts `state.function` last
        for (const Body& body : one.bodies)
          if (body.is_whole == is_whole)
            add(one, body);
    set_orders();
    sort();
    return std::move(low_);
  }

 private:
  void add(const Declaration& declaration, const Body& body) {
    Chunk& chunk = low_.chunks.emplace_back();
    chunk.state = body.state;
    chunk.function = body.function;
    chunk.id = declaration.id;
    chunk.name = body.name;
    if (body.name_order > 0 && body.name != declaration.id)
      chunk.entry = body.name;
    chunk.sls = declaration.document->ref;
    chunk.prefix = declaration.document->prefix;
    chunk.at = body.position();
    chunk.arguments.reserve(body.arguments.size());
    for (const Argument& argument : body.arguments)
      if (const GlobalArgument* global = find_global(argument.name); global == nullptr)
        add_argument(argument, chunk);
      else
        note(*global, argument);
    chunk.settings = read_settings(body.arguments, values_of(*body.document), own_waits_, report_);
    low_.bodies.push_back(&body);
    asked_.push_back(asked_order(body));
  }

  /// The last of two arguments with one name counts, as in Idem.
  void add_argument(const Argument& argument, Chunk& chunk) {
    Value value = values_of(*argument.document).of(*argument.value);
    for (auto& [name, known] : chunk.arguments)
      if (name == argument.name) {
        report_.warn(argument.position(),
                     cat("the argument `", name, "` of ID ", chunk.id, " in SLS ", chunk.sls,
                         " is given twice: the last one wins"));
        known = std::move(value);
        return;
      }
    chunk.arguments.emplace_back(argument.name, std::move(value));
  }

  void note(const GlobalArgument& global, const Argument& argument) {
    if (global.role == GlobalArgument::Role::ignored)
      report_.warn(argument.position(), cat("`", global.name, "` has no effect here"));
    else if (global.role == GlobalArgument::Role::refused)
      report_.error(argument.position(), cat("`", global.name, "` is not supported"));
  }

  TreeValues& values_of(const Document& document) {
    if (&document != last_document_) {
      last_document_ = &document;
      last_values_ = &values_[&document];
    }
    return *last_values_;
  }

  OrderRequest asked_order(const Body& body) {
    OrderRequest asked;
    asked.fraction = body.name_order / 10'000.0;
    const Argument* order = nullptr;
    for (const Argument& argument : body.arguments)
      if (argument.name == "order")
        order = &argument;
    if (order == nullptr) {
      asked.number = body.implicit_order;
      asked.kind = body.implicit_order == 0 ? OrderRequest::Kind::none : OrderRequest::Kind::number;
    } else if (!read_order(order->value->scalar(), asked)) {
      report_.error(order->value_position(),
                    cat("the order of ID ", low_.chunks.back().id, " in SLS ",
                        low_.chunks.back().sls, " must be `first`, `last` or a number"));
    }
    const bool is_whole = asked.number == static_cast<double>(static_cast<int64_t>(asked.number));
    if (asked.kind == OrderRequest::Kind::number && is_whole && asked.number > behind_)
      behind_ = asked.number + 100;
    return asked;
  }

  /// `-1` is the place before `last`.
  static bool read_order(const Value& value, OrderRequest& asked) {
    double number = 0;
    if (value.is_text() && (value.text() == "first" || value.text() == "last")) {
      asked.kind = value.text() == "last" ? OrderRequest::Kind::last : OrderRequest::Kind::number;
      return true;
    }
    if (value.is_integer() && value.integer())
      number = static_cast<double>(*value.integer());
    else if (value.is_real())
      number = value.real();
    else
      return false;
    if (!(std::abs(number) <= largest_order))
      return false;
    asked.kind = number < 0 ? OrderRequest::Kind::behind : OrderRequest::Kind::number;
    asked.number = number;
    return true;
  }

  void set_orders() {
    for (size_t i = 0; i < asked_.size(); ++i) {
      const OrderRequest& asked = asked_[i];
      double order = asked.number;
      if (asked.kind == OrderRequest::Kind::none)
        order = behind_++;
      else if (asked.kind != OrderRequest::Kind::number)
        order += behind_ + last_order;
      low_.chunks[i].order = order + asked.fraction;
    }
  }

  /// Sorts by order; ties by state, name and function as one text.
  void sort() {
    const auto text_of = [](const Chunk& chunk) {
      return cat(chunk.state, chunk.name, chunk.function);
    };
    std::vector<uint32_t> places(low_.chunks.size());
    std::iota(places.begin(), places.end(), 0u);
    const auto is_before = [&](uint32_t a, uint32_t b) {
      const Chunk &one = low_.chunks[a], &other = low_.chunks[b];
      return one.order != other.order ? one.order < other.order : text_of(one) < text_of(other);
    };
    if (std::is_sorted(places.begin(), places.end(), is_before))
      return;
    std::stable_sort(places.begin(), places.end(), is_before);
    Low sorted;
    sorted.chunks.reserve(places.size());
    sorted.bodies.reserve(places.size());
    for (const uint32_t place : places) {
      sorted.chunks.push_back(std::move(low_.chunks[place]));
      sorted.bodies.push_back(low_.bodies[place]);
    }
    low_ = std::move(sorted);
  }

  const Waits& own_waits_;
  Report& report_;
  Low low_;
  std::vector<OrderRequest> asked_;
  double behind_ = 1;  ///< where those without a number begin, as Idem computes it
  std::unordered_map<const Document*, TreeValues> values_;
  const Document* last_document_ = nullptr;
  TreeValues* last_values_ = nullptr;
};

}  // namespace

Low make_low(const High& high, const Waits& own_waits, Report& report) {
  return Maker(own_waits, report).make(high);
}

}  // namespace fettle::states
