#pragma once

// The report's own style and scripts, as the build embeds them (cmake/embed.cmake): the files of the same names beside this.

#include <string_view>

namespace penstock {

extern const std::string_view kPageCss, kTimelineJs, kViewJs, kPageJs;

}  // namespace penstock
