#pragma once

// Where samples come from. Sample j of step i is a window of the text, or an image and its label, at a place that depends on
// (seed, i, j) alone, so every rank that loads it, in whatever schedule, sees the same bytes.

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/workload.h"
#include "exec/data/image_set.h"

namespace penstock {

// Whether a workload's samples are images (or their labels): then it reads an image set, else a text.
bool reads_images(const Workload& workload);

class DataSource {
 public:
  DataSource() = default;

  // Of a workload that reads images, as open_images says (exec/data/open_images.h); bad input too if it reads a text as well.
  // Of any other a file, or a folder whose *.md and *.txt files, those of its subfolders too, are joined in order of their names. Bad input if missing, empty,
  // shorter than one window of the workload's longest text source, or holding a byte beyond the vocabulary of its readers.
  // `held_out`: of a folder of images those that are not to be trained on.
  static Result<DataSource> open(const std::string& path, const Workload& workload, std::uint64_t seed,
                                 bool held_out = false);

  // Random bytes below every reader's limit in place of a text, and synthetic images: for timing, which must not depend on
  // a file.
  static DataSource random_text(const Workload& workload, std::uint64_t seed);

  // Writes samples [first, first + count) of the step, one after the other: count · elements bytes. To each byte of a noisy
  // image is added the difference of two numbers below 64, keyed by (seed, step, sample, source, byte), saturating.
  void fill(SourceId source, std::int32_t step, std::int64_t first, std::int64_t count, std::uint8_t* out) const;

  std::int64_t images() const { return images_.count(); }  // 0 of a text
  std::int64_t bytes() const { return static_cast<std::int64_t>(text_.size()); }

 private:
  DataSource(const Workload& workload, std::uint64_t seed);
  void fill_from_images(const Source& source, std::uint64_t key, std::uint8_t* out) const;

  std::vector<Source> sources_;
  std::vector<std::int64_t> limits_;  // one a source: values are below it
  std::string text_;
  ImageSet images_;
  std::uint64_t seed_ = 0;
  std::int64_t window_ = 0;  // longest, with the byte after it
};

}  // namespace penstock
