# What `cmake --install` puts where: the program with its man page and completions, the documents that it reads and those
# that people read, and for developers the libraries, headers, find_package(penstock) and pkg-config.
#
# Everything is found relative to what looks for it, so a prefix may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(modules core models sim planner exec profiler traces)
set(docs ${CMAKE_INSTALL_DATADIR}/penstock/docs)  # cli/run.cc trains on them unless told otherwise

# --- the program -------------------------------------------------------------------------------------------------------
install(TARGETS penstock COMPONENT program)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${docs} COMPONENT program FILES_MATCHING PATTERN "*.md")
install(FILES README.md NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES packaging/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)

# The man page and the completions come out of the program itself, so that they say what it does.
find_program(PENSTOCK_GZIP gzip)
mark_as_advanced(PENSTOCK_GZIP)
set(generated ${PROJECT_BINARY_DIR}/generated)
configure_file(packaging/changelog.Debian.in ${PROJECT_BINARY_DIR}/generated/changelog.Debian @ONLY)
file(MAKE_DIRECTORY ${generated})
set(compress "")
set(suffix "")
if(PENSTOCK_GZIP)
  set(compress | ${PENSTOCK_GZIP} -9n)
  set(suffix .gz)
  add_custom_command(OUTPUT ${generated}/changelog.Debian.gz DEPENDS ${generated}/changelog.Debian
                     COMMAND ${PENSTOCK_GZIP} -9nc ${generated}/changelog.Debian > ${generated}/changelog.Debian.gz VERBATIM)
  add_custom_command(OUTPUT ${generated}/changelog.gz DEPENDS ${PROJECT_SOURCE_DIR}/CHANGELOG.md
                     COMMAND ${PENSTOCK_GZIP} -9nc ${PROJECT_SOURCE_DIR}/CHANGELOG.md > ${generated}/changelog.gz VERBATIM)
else()
  configure_file(CHANGELOG.md ${generated}/changelog COPYONLY)
endif()
add_custom_command(
  OUTPUT ${generated}/penstock.1${suffix} ${generated}/penstock.bash ${generated}/_penstock ${generated}/penstock.fish
  COMMAND penstock help --man ${compress} > ${generated}/penstock.1${suffix}
  COMMAND penstock completion bash > ${generated}/penstock.bash
  COMMAND penstock completion zsh > ${generated}/_penstock
  COMMAND penstock completion fish > ${generated}/penstock.fish
  DEPENDS penstock VERBATIM COMMENT "Man page and completions")
add_custom_target(penstock_generated ALL DEPENDS ${generated}/penstock.1${suffix} ${generated}/changelog${suffix}
                  ${generated}/changelog.Debian${suffix})

if(EXISTS /etc/debian_version)
  set(zsh_default ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
else()
  set(zsh_default ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
set(PENSTOCK_ZSH_COMPLETIONS ${zsh_default} CACHE STRING "where zsh looks for completions, below the prefix")
mark_as_advanced(PENSTOCK_ZSH_COMPLETIONS)
install(FILES ${generated}/penstock.1${suffix} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${generated}/changelog${suffix} ${generated}/changelog.Debian${suffix} DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES ${generated}/penstock.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME penstock COMPONENT program)
install(FILES ${generated}/_penstock DESTINATION ${PENSTOCK_ZSH_COMPLETIONS} COMPONENT program)
install(FILES ${generated}/penstock.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)

# --- for developers ----------------------------------------------------------------------------------------------------
# What the libraries link, as CMake and as pkg-config know it, and the Debian package that has it.
#   penstock_knows(TARGET "find_dependency arguments" "pkg-config Requires" "flags where there is no .pc file" debian)
function(penstock_knows target dependency requires flags package)
  string(MAKE_C_IDENTIFIER "${target}" key)
  set(known_${key} "${dependency}|${requires}|${flags}|${package}" PARENT_SCOPE)
endfunction()
penstock_knows(fmt::fmt                     "fmt"                   "fmt"      ""        libfmt-dev)
penstock_knows(tl::expected                 "tl-expected CONFIG"    ""         ""        libexpected-dev)
penstock_knows(Threads::Threads             "Threads"               ""         "-pthread" "")
penstock_knows(nlohmann_json::nlohmann_json "nlohmann_json"         ""         ""        nlohmann-json3-dev)
penstock_knows(tomlplusplus::tomlplusplus   "tomlplusplus"          "tomlplusplus" ""    libtomlplusplus-dev)
penstock_knows(spdlog::spdlog               "spdlog"                "spdlog"   ""        libspdlog-dev)
penstock_knows(DNNL::dnnl                   "dnnl MODULE"           ""         "-ldnnl"  libdnnl-dev)
penstock_knows(OpenMP::OpenMP_CXX           "OpenMP"                ""         "-fopenmp" "")
penstock_knows(Boost::headers               "Boost"                 ""         ""        libboost-graph-dev)
penstock_knows(Eigen3::Eigen                "Eigen3"                ""         ""        libeigen3-dev)
penstock_knows(ZLIB::ZLIB                   "ZLIB"                  "zlib"     ""        zlib1g-dev)
penstock_knows(simdjson::simdjson           "simdjson"              "simdjson" ""        libsimdjson-dev)
penstock_knows(SQLite::SQLite3              "SQLite3"               "sqlite3"  ""        libsqlite3-dev)

set(dependencies "")
set(requires "")
set(flags "")
set(archives "")
set(development_packages "")
foreach(module IN LISTS modules)
  list(PREPEND archives "-lpenstock_${module}")  # what uses comes before what is used
  get_target_property(linked penstock_${module} LINK_LIBRARIES)
  foreach(target IN LISTS linked)
    if(target MATCHES "^penstock" OR target MATCHES "^::@" OR target STREQUAL "dl" OR target STREQUAL "${CMAKE_DL_LIBS}")
      continue()
    endif()
    string(MAKE_C_IDENTIFIER "${target}" key)
    if(NOT DEFINED known_${key})
      message(FATAL_ERROR "penstock_${module} links ${target}: cmake/install.cmake must say how those who use the library find it")
    endif()
    string(REPLACE "|" ";" row "${known_${key}}")
    list(GET row 0 dependency)
    list(GET row 1 required)
    list(GET row 2 flag)
    list(GET row 3 package)
    list(APPEND dependencies "find_dependency(${dependency})")
    list(APPEND requires ${required})
    list(APPEND flags ${flag})
    list(APPEND development_packages ${package})
  endforeach()
  install(TARGETS penstock_${module} EXPORT penstock-targets COMPONENT development)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${module} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/penstock
          COMPONENT development FILES_MATCHING PATTERN "*.h")
endforeach()
foreach(list dependencies requires flags development_packages)
  list(REMOVE_DUPLICATES ${list})
endforeach()
list(JOIN dependencies "\n" PENSTOCK_DEPENDENCIES)
list(JOIN requires " " PENSTOCK_REQUIRES)
list(JOIN flags " " PENSTOCK_FLAGS)
list(JOIN archives " " PENSTOCK_ARCHIVES)
list(JOIN modules " " PENSTOCK_MODULES)

# Sources include from the root ("core/result.h"), and so do those who use the libraries.
target_include_directories(penstock_options INTERFACE
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/penstock>)
install(TARGETS penstock_options EXPORT penstock-targets COMPONENT development)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/penstock)
install(EXPORT penstock-targets NAMESPACE penstock:: DESTINATION ${config_folder} COMPONENT development)
configure_package_config_file(packaging/penstock-config.cmake.in ${generated}/penstock-config.cmake
                              INSTALL_DESTINATION ${config_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${generated}/penstock-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${generated}/penstock-config.cmake ${generated}/penstock-config-version.cmake cmake/Finddnnl.cmake
        DESTINATION ${config_folder} COMPONENT development)
file(RELATIVE_PATH PENSTOCK_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(packaging/penstock.pc.in ${generated}/penstock.pc @ONLY)
install(FILES ${generated}/penstock.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
install(FILES packaging/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/penstock-dev COMPONENT development)
install(FILES ${generated}/changelog${suffix} ${generated}/changelog.Debian${suffix} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/penstock-dev COMPONENT development)

include(cmake/package.cmake)
