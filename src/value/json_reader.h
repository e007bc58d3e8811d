#pragma once
/// rapidjson's reader of JSON, which calls what it is given for each value. The readers of this folder
/// make values and trees of that.

// SAX only, numbers as text: the library's own number parsing is inexact by default.
#define RAPIDJSON_HAS_STDSTRING 0
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#ifdef __clang__  // its stack adds to a null pointer before it has any memory
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#ifdef __clang__
#pragma clang attribute pop
#endif
#pragma GCC diagnostic pop
