#pragma once
/// The interface over HTTP as an OpenAPI 3.1 document, made from the table of routes.
///
/// It has what a server of commands answers to whoever has a token: the routes that answer by a
/// document. Streams, terminals and what a command in a child answers are of the page alone.

#include <string_view>

#include "value/value.h"

namespace fettle {

/// Where a server answers by the document.
constexpr std::string_view openapi_path = "/api/openapi.json";

Value openapi_document(std::string_view version);

}  // namespace fettle
