#pragma once
/// What nearly every source file includes, precompiled. Nothing here is needed for correctness:
/// each file includes what it uses.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <tl/expected.hpp>

#include "base/hash.h"
#include "base/text.h"
#include "base/time.h"
#include "value/json.h"
#include "value/value.h"
