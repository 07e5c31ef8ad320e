#pragma once

// Which processor this is, as profiles and digests record it.

#include <string>

namespace penstock::cpu {

std::string processor_name();   // "AMD EPYC (family 25, model 17, stepping 1)"
std::string instruction_set();  // what oneDNN dispatches to: "avx512_core_bf16", "avx2", …
int core_count();               // cores this process may run on
std::string kernel_libraries(); // "oneDNN 2.6.3"

}  // namespace penstock::cpu
