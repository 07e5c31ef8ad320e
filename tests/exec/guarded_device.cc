#include "tests/exec/guarded_device.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "exec/backend.h"

namespace penstock::test {
namespace {

class GuardedDevice final : public RankDevice {
 public:
  explicit GuardedDevice(std::unique_ptr<RankDevice> device) : device_(std::move(device)) {}
  ~GuardedDevice() override { protect(PROT_READ | PROT_WRITE); }

  DeviceDescription describe() const override { return device_->describe(); }
  Result<std::byte*> allocate(Bytes bytes) override {
    PENSTOCK_TRY(arena_, device_->allocate(bytes));
    bytes_ = static_cast<std::size_t>(bytes.value);
    protect(PROT_NONE);
    return arena_;
  }
  StreamHandle create_stream(std::string name, StreamRole role) override { return device_->create_stream(std::move(name), role); }
  EventHandle create_event() override { return device_->create_event(); }
  void record(StreamHandle stream, EventHandle event) override { device_->record(stream, event); }
  void wait(StreamHandle stream, EventHandle event, WorkTag tag) override { device_->wait(stream, event, tag); }
  bool await(EventHandle event) override { return device_->await(event); }
  // Open from the first launch until all of them are over.
  void launch(StreamHandle stream, StageCall& call, WorkTag tag, Stamp* stamp) override {
    protect(PROT_READ | PROT_WRITE);
    device_->launch(stream, call, tag, stamp);
  }
  Result<void> synchronize() override {
    const auto done = device_->synchronize();
    protect(PROT_NONE);
    return done;
  }
  Result<std::unique_ptr<Stage>> make_stage(const StageRequest& request) override { return device_->make_stage(request); }
  void write(std::byte* destination, const void* source, Bytes bytes) override {
    protect(PROT_READ | PROT_WRITE);
    device_->write(destination, source, bytes);
    protect(PROT_NONE);
  }
  void read(void* destination, const std::byte* source, Bytes bytes) const override {
    protect(PROT_READ);
    device_->read(destination, source, bytes);
    protect(PROT_NONE);
  }
  Activity activity(StreamHandle stream) const override { return device_->activity(stream); }
  void abort(const Error& reason) override { device_->abort(reason); }

 private:
  void protect(int access) const {
    if (arena_ == nullptr) return;
    EXPECT_EQ(mprotect(arena_, bytes_, access), 0);
  }

  std::unique_ptr<RankDevice> device_;
  std::byte* arena_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<RankDevice> guarded_device() {
  return std::make_unique<GuardedDevice>(*(*open_backend("cpu"))->lone_device());
}

}  // namespace penstock::test
