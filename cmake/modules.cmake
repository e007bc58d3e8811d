# One static library a folder, its sources listed, its tests beside them.
#
#   fettle_module(plan SOURCES make_plan.cc TESTS make_plan_test.cc USES core LIBRARIES sqlite3)
#
# makes the library `fettle_plan` and the test program `plan_test`. Folder `src/drivers/engine` is
# the module `drivers_engine`. GLUE says that its tests need little computing.

# Sources that are compiled as one share the work on the headers and templates they have in common:
# a full build takes a third of the time. What a source declares for itself must then be unique in
# its folder, which `tidy_test` reads.
set(FETTLE_BATCH 32 CACHE STRING "how many sources are compiled as one; 1: each alone, for small changes")

add_library(fettle_flags INTERFACE)
target_include_directories(fettle_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
target_compile_options(fettle_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Werror
  -fno-math-errno)
# Of sources that are compiled as one, what one declares for itself is seen in all, and none is the
# main file; what g++ 12 says of bounds then depends on what it happens to inline, and is often wrong.
if(FETTLE_BATCH EQUAL 1)
  target_compile_options(fettle_flags INTERFACE -Wshadow)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(fettle_flags INTERFACE -Wshadow=local -Wno-subobject-linkage
    -Wno-array-bounds -Wno-maybe-uninitialized -Wno-stringop-overflow)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # `-fpch-preprocess` lets ccache see through the precompiled header. With a gigabyte (in kB) before
  # the compiler collects its garbage, it takes a sixth less time.
  target_compile_options(fettle_flags INTERFACE -fpch-preprocess --param=ggc-min-heapsize=1048576
    -Wduplicated-branches -Wduplicated-cond -Wlogical-op)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # g++ 12's own `std::stable_sort` uses what the library calls deprecated.
  target_compile_options(fettle_flags INTERFACE -Wno-deprecated-declarations)
endif()
find_program(MOLD mold)
if(MOLD)
  # What runs at the start, and what seldom runs, stands together as with other linkers: pages of it
  # are not brought in with those beside them, which is 3 MB in every process.
  add_link_options(-fuse-ld=mold -Wl,-z,keep-text-section-prefix)
endif()
add_link_options(-static-libstdc++ -static-libgcc -Wl,--gc-sections)
add_compile_options(-ffunction-sections -fdata-sections)

find_package(Threads REQUIRED)

# How fast what is compiled with them runs hardly matters, how fast it compiles does: tests, and
# under a sanitizer the modules that are marked as GLUE.
set(fettle_unoptimized -O0)

# The precompiled headers: for sources, for tests, and for glue that is not optimized.
file(WRITE ${CMAKE_BINARY_DIR}/empty.cc "")
function(fettle_precompiled name header)
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/empty.cc)
  target_link_libraries(${name} PUBLIC fettle_flags)
  target_compile_options(${name} PRIVATE ${ARGN})
  target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/${header})
endfunction()
fettle_precompiled(fettle_pch pch.h)
fettle_precompiled(fettle_test_pch pch_test.h ${fettle_unoptimized})
fettle_precompiled(fettle_glue_pch pch.h ${fettle_unoptimized})

function(fettle_batches target)
  list(LENGTH ARGN count)
  if(FETTLE_BATCH GREATER 1 AND count GREATER 1)
    math(EXPR batches "(${count} + ${FETTLE_BATCH} - 1) / ${FETTLE_BATCH}")
    math(EXPR size "(${count} + ${batches} - 1) / ${batches}")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
  endif()
endfunction()

# The tests of a module in a program of their own: fettle_tests(NAME SOURCES … USES …).
function(fettle_tests name)
  cmake_parse_arguments(arg "" "" "SOURCES;USES;LIBRARIES" ${ARGN})
  add_executable(${name}_test ${arg_SOURCES})
  fettle_batches(${name}_test ${arg_SOURCES})
  target_compile_options(${name}_test PRIVATE ${fettle_unoptimized})
  target_precompile_headers(${name}_test REUSE_FROM fettle_test_pch)
  list(TRANSFORM arg_USES PREPEND fettle_)
  target_link_libraries(${name}_test PRIVATE fettle_flags ${arg_USES} ${arg_LIBRARIES} gtest gtest_main Threads::Threads)
  target_compile_definitions(${name}_test PRIVATE FETTLE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name}_test)
  set_property(GLOBAL APPEND PROPERTY fettle_test_programs ${name}_test)
endfunction()

# The libraries that a target is linked from, each after those that it uses itself.
function(fettle_libraries_of target out)
  set(found ${${out}})
  get_target_property(used ${target} LINK_LIBRARIES)
  list(FILTER used INCLUDE REGEX "^fettle_")
  list(REMOVE_ITEM used fettle_flags ${found})
  foreach(library ${used})
    fettle_libraries_of(${library} found)
    list(APPEND found ${library})
  endforeach()
  list(REMOVE_DUPLICATES found)
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# Of a template or an inline function that several sources instantiate, the linker takes the first. Tests come
# before libraries, so that in test programs the libraries ran with instances that were not optimized: vectors of
# values, the reader of JSON. So the libraries that are optimized are named before everything else. What of them is linked
# does not depend on that: mold, as other linkers but GNU's, does not read archives in order. With GNU's it has no effect.
function(fettle_optimized_first)
  get_property(programs GLOBAL PROPERTY fettle_test_programs)
  foreach(program ${programs})
    set(libraries "")
    fettle_libraries_of(${program} libraries)
    foreach(library ${libraries})
      get_target_property(options ${library} COMPILE_OPTIONS)
      if(NOT "${fettle_unoptimized}" IN_LIST options)
        target_link_options(${program} PRIVATE $<TARGET_FILE:${library}>)
      endif()
    endforeach()
  endforeach()
endfunction()

function(fettle_module name)
  cmake_parse_arguments(arg "GLUE" "" "SOURCES;TESTS;TEST_USES;USES;LIBRARIES" ${ARGN})
  add_library(fettle_${name} STATIC ${arg_SOURCES})
  fettle_batches(fettle_${name} ${arg_SOURCES})
  if(arg_GLUE AND FETTLE_UNOPTIMIZED_GLUE)
    target_compile_options(fettle_${name} PRIVATE ${fettle_unoptimized})
    target_precompile_headers(fettle_${name} REUSE_FROM fettle_glue_pch)
  else()
    target_precompile_headers(fettle_${name} REUSE_FROM fettle_pch)
  endif()
  list(TRANSFORM arg_USES PREPEND fettle_)
  target_link_libraries(fettle_${name} PUBLIC fettle_flags ${arg_USES} ${arg_LIBRARIES})
  if(arg_TESTS)
    fettle_tests(${name} SOURCES ${arg_TESTS} USES ${name} ${arg_TEST_USES})
  endif()
endfunction()
