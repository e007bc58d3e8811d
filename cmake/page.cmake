# Builds the page in a folder of the build and makes a source of it:
# `-DNPM=… -DNODE=… -DROOT=…/page -DFOLDER=… -DOUTPUT=….cc`. Without npm, or when it cannot install what the lock file names
# (there may be no network), the source has no files, and the rest of the program is built all the same.
set(empty "#include \"server/page_files.h\"\n
namespace fettle {\n
std::span<const PageFile> page_files() { return {}; }\n
}  // namespace fettle\n")

function(give_up why)
  if(why)
    message(WARNING "the page of `fettle web` is left out: ${why}")
  endif()
  file(WRITE ${OUTPUT} "${empty}")
endfunction()

if(NOT NPM)
  give_up("")
  return()
endif()
execute_process(COMMAND ${NODE} -p "process.versions.node.split('.')[0]" OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT version GREATER_EQUAL 18)
  give_up("Node ${version} is there, and 18 or later is needed")
  return()
endif()
file(REMOVE_RECURSE ${FOLDER}/src ${FOLDER}/public ${FOLDER}/dist)
file(COPY ${ROOT}/ DESTINATION ${FOLDER} PATTERN node_modules EXCLUDE PATTERN dist EXCLUDE)
file(SHA256 ${ROOT}/package-lock.json lock)
set(installed "")
if(EXISTS ${FOLDER}/installed)
  file(READ ${FOLDER}/installed installed)
endif()
if(NOT installed STREQUAL lock)
  execute_process(COMMAND ${NPM} ci --no-audit --no-fund --loglevel=error --prefer-offline --fetch-retries=1 --fetch-timeout=20000
    WORKING_DIRECTORY ${FOLDER} TIMEOUT 300 RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    give_up("npm cannot install what page/package-lock.json names; remove ${OUTPUT} to try again\n${output}")
    return()
  endif()
  file(WRITE ${FOLDER}/installed ${lock})
endif()
# An error in the page itself is one of the build.
execute_process(COMMAND ${NPM} run --silent build WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(failed)
  message(FATAL_ERROR "the page of `fettle web`:\n${output}")
endif()
execute_process(COMMAND ${NODE} embed.mjs dist ${OUTPUT} WORKING_DIRECTORY ${FOLDER} COMMAND_ERROR_IS_FATAL ANY)
