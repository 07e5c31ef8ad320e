# One interface target carries the language level, the warnings and what determinism needs.
add_library(penstock_options INTERFACE)
target_compile_features(penstock_options INTERFACE cxx_std_20)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "build type" FORCE)
endif()

# A compiler cache is used where there is one; -DCMAKE_CXX_COMPILER_LAUNCHER= turns it off.
if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(PENSTOCK_CCACHE ccache)
  mark_as_advanced(PENSTOCK_CCACHE)
  if(PENSTOCK_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${PENSTOCK_CCACHE} CACHE STRING "what runs the compiler")
  endif()
endif()

target_include_directories(penstock_options INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
set_target_properties(penstock_options PROPERTIES EXPORT_NAME options)
# For Penstock's own sources: who links the installed libraries keeps to flags of their own.
set(penstock_flags
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Wimplicit-fallthrough
  # Designated initialisers leave members to their defaults on purpose.
  -Wno-missing-field-initializers
  # g++ 12 sees ghosts in inlined std::string and std::variant code (GCC bugs 105329, 105562).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  # Same input, same bytes on every machine: no fused multiply-add that one compiler or CPU does and another does not.
  -ffp-contract=off)
if(PENSTOCK_WERROR)
  list(APPEND penstock_flags -Werror)
endif()
target_compile_options(penstock_options INTERFACE "$<BUILD_INTERFACE:${penstock_flags}>")
if(PENSTOCK_SANITIZE)
  target_compile_options(penstock_options INTERFACE -fsanitize=${PENSTOCK_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(penstock_options INTERFACE -fsanitize=${PENSTOCK_SANITIZE})
endif()
