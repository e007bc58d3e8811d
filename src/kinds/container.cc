#include "kinds/container.h"

#include "base/text.h"

namespace fettle {
namespace {

Result<Value> port_of(const Value& given, const Value& wait) {
  if (given.has_deferred())
    return user_error("a port must be known before the run; it cannot refer to another step");
  std::string text = given.is_integer() ? given.integer_digits()
                     : given.is_text()  ? given.text().str()
                                        : std::string();
  const size_t slash = text.find('/');
  const std::string transport = slash == text.npos ? "TCP" : upper_case(text.substr(slash + 1));
  text = text.substr(0, slash);
  const bool is_number =
      !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == text.npos;
  const int number = is_number ? std::stoi(text) : 0;
  if (number < 1 || number > 65535 ||
      (transport != "TCP" && transport != "UDP" && transport != "SCTP"))
    return user_error(cat("a port is a number such as 80 or a string such as `53/udp`, not `",
                          to_text(given), "`"));
  return Value::dict({{"number", number},
                      {"transport", transport},
                      {"wait", transport == "TCP" ? wait : Value()}});
}

}  // namespace

Result<Value> container_ports(const Value& ports, const Value& wait) {
  std::vector<Entry> entries;
  if (ports.is_dict())
    for (const Entry& port : ports.entries())
      entries.push_back(
          {port.key, TRY(port_of(port.value, wait).context(cat("port `", port.key, "`")))});
  return Value::dict(std::move(entries));
}

}  // namespace fettle
