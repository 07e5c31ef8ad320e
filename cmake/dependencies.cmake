# Every third-party package, found once, here. The folder that may include it is named beside it.
find_package(Threads REQUIRED)          # everywhere
find_package(fmt REQUIRED)              # everywhere: text
find_package(tl-expected CONFIG REQUIRED) # everywhere: Result
find_package(nlohmann_json REQUIRED)    # core/json.cc
find_package(tomlplusplus REQUIRED)     # core/toml.cc
find_package(spdlog REQUIRED)           # core/log.cc
find_package(Boost 1.74 REQUIRED)       # core/graph_algorithms.cc (header only)
find_package(dnnl 2.6...<3 MODULE REQUIRED) # exec/cpu: matrix products; version 3 is another API
find_package(OpenMP REQUIRED)           # exec/cpu: only to hold oneDNN at one thread
find_package(CLI11 REQUIRED)            # cli/
if(PENSTOCK_TESTS)
  find_package(GTest REQUIRED)          # tests/
  find_package(ZLIB REQUIRED)           # tests/: recorded orders are kept compressed
  find_package(rapidcheck QUIET)        # tests/properties
endif()
if(PENSTOCK_BENCH)
  find_package(benchmark REQUIRED)      # bench/
endif()
