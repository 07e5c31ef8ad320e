#pragma once

// Which processor this is, as profiles and digests record it.

#include <string>
#include <vector>

namespace penstock::cpu {

std::string processor_name();   // "AMD EPYC (family 25, model 17, stepping 1)"
std::string instruction_set();  // what oneDNN dispatches to: "avx512_core_bf16", "avx2", …
std::vector<int> cores();       // those this process may run on, ascending
int core_count();               // how many they are
std::string kernel_libraries(); // "oneDNN 2.6.3"

}  // namespace penstock::cpu
