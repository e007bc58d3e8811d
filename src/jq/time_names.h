#pragma once
/// English names of months and weekdays, Sunday first.

#include <array>
#include <string_view>

namespace fettle::jq {

constexpr std::array<std::string_view, 12> long_months{
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
constexpr std::array<std::string_view, 12> short_months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> long_weekdays{
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 7> short_weekdays{"Sun", "Mon", "Tue", "Wed",
                                                         "Thu", "Fri", "Sat"};

}  // namespace fettle::jq
