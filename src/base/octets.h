#pragma once
/// Bytes as OpenSSL takes them.

#include <string>
#include <string_view>

namespace fettle {

inline const unsigned char* octets(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
inline unsigned char* octets(std::string& bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

}  // namespace fettle
