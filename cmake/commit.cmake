# Writes OUT, a header with the commit that is built; leaves it alone when it says that already.
execute_process(COMMAND git -C "${SOURCE}" describe --always --abbrev=40 --exclude=* --dirty
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(text "#pragma once\n#define FETTLE_COMMIT \"${commit}\"\n")
if(EXISTS "${OUT}")
  file(READ "${OUT}" before)
endif()
if(NOT "${text}" STREQUAL "${before}")
  file(WRITE "${OUT}" "${text}")
endif()
