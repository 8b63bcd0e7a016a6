// What a run under way may be told from outside: plain values that go into the journal.
//
//   run.steer(Steer::inject("Use the other file."));
//   run.steer({Steer::pause("lunch"), Steer::set_metadata(json)});  // all of it or nothing
//
// Commands are taken in at the run's checkpoints: before each model call, before calls are
// admitted, and while it waits. A batch that holds a kind the run does not permit changes nothing:
// one `steering.rejected`, and the run goes on. Each command that was taken is one
// `steering.applied`, so a run that is resumed elsewhere knows of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/error.h"
#include "tug/core/json.h"

namespace tug {

enum class SteerKind : std::uint8_t {
  pause,         // the run and everything below it holds at its next checkpoint; latched
  resume,        // takes a pause back
  cancel,        // the rest of its batch is dropped
  inject,        // the model reads it as the user's words
  redirect,      // the same, as an instruction that begins with "[steering:redirect] "
  set_metadata,  // the run's own, replaced
  follow_up,     // the user's words once the run has answered, instead of ending
};
std::string_view name_of(SteerKind kind) noexcept;
Result<SteerKind> steer_kind_from(std::string_view name);

struct Steer {
  SteerKind kind = SteerKind::pause;
  std::string text;  // the reason of a pause or a cancel, the words of the others
  Json metadata;     // of set_metadata, an object

  static Steer pause(std::string reason = {}) { return {SteerKind::pause, std::move(reason), {}}; }
  static Steer resume() { return {SteerKind::resume, {}, {}}; }
  static Steer cancel(std::string reason = {}) {
    return {SteerKind::cancel, std::move(reason), {}};
  }
  static Steer inject(std::string text) { return {SteerKind::inject, std::move(text), {}}; }
  static Steer redirect(std::string text) { return {SteerKind::redirect, std::move(text), {}}; }
  static Steer set_metadata(Json object) {
    return {SteerKind::set_metadata, {}, std::move(object)};
  }
  static Steer follow_up(std::string text) { return {SteerKind::follow_up, std::move(text), {}}; }

  friend bool operator==(const Steer&, const Steer&) = default;
};
// {"command":"inject","text":".."}
Json to_json(const Steer& command);
// `invalid`, naming the field: an unknown command, no words where some are needed, more than
// kMaxSteerText of them.
Result<Steer> steer_from(const Json& json);
inline constexpr std::size_t kMaxSteerText = 1u << 20;
// Batches that wait for a checkpoint; one more is refused.
inline constexpr std::size_t kMaxSteerBacklog = 256;

// Which kinds a run permits to its owner: whoever holds its handle, or names it in another process.
// Nothing by default.
class SteeringPolicy {
 public:
  SteeringPolicy() noexcept = default;
  SteeringPolicy(std::initializer_list<SteerKind> kinds) {
    for (SteerKind kind : kinds) permit(kind);
  }
  static SteeringPolicy allow_all();

  SteeringPolicy& permit(SteerKind kind) {
    kinds_ |= 1u << static_cast<unsigned>(kind);
    return *this;
  }
  bool permits(SteerKind kind) const noexcept {
    return (kinds_ & (1u << static_cast<unsigned>(kind))) != 0;
  }
  bool empty() const noexcept { return kinds_ == 0; }
  std::vector<SteerKind> kinds() const;

  friend bool operator==(const SteeringPolicy&, const SteeringPolicy&) = default;

 private:
  std::uint32_t kinds_ = 0;
};
Json to_json(const SteeringPolicy& policy);  // a list of names
Result<SteeringPolicy> steering_policy_from(const Json& json);

}  // namespace tug
