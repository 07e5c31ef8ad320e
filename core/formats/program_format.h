#pragma once

// penstock.program/1 (docs/formats/program.md): a program as JSON, each instruction one string, each buffer one row.

#include <string>
#include <string_view>

#include "core/program.h"
#include "core/result.h"
#include "core/value.h"

namespace penstock {

inline constexpr std::string_view kProgramSchema = "penstock.program/1";

// What comes back has every index within its table; whether it may run is for check() to say. BadInput names place and
// remedy.
Result<Program> read_program(std::string_view text, std::string file_name);
Result<Program> read_program(const Value& document, std::string file_name);

// Reading gives back an equal program, and writing that the same bytes.
std::string write_program(const Program& program);

}  // namespace penstock
