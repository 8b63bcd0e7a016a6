// What is known about a model without asking it, and what may be asked of one. Data only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/cost.h"

namespace tug {

enum class Modality : std::uint8_t { text, image, audio, video, document };
enum class ModelStatus : std::uint8_t { active, preview, deprecated, retired };
std::string_view name_of(Modality modality) noexcept;
std::string_view name_of(ModelStatus status) noexcept;

// A model of unknown window is taken to have this one until an overflow teaches the real number.
inline constexpr std::int64_t kAssumedContextTokens = 32'768;

struct ModelProfile {
  std::string provider;                // "script", "offline", "anthropic"
  std::string name;                    // the rest of "provider/name"
  std::int64_t context_tokens = 0;     // the window; 0 when it is not known
  std::int64_t max_output_tokens = 0;  // 0 when it is not known
  std::optional<Price> price;          // nothing when it is not known
  bool tools = true;
  bool parallel_tools = true;
  bool streaming = true;
  bool structured = false;  // answers by a schema natively
  bool vision = false;
  bool reasoning = false;
  std::vector<Modality> input = {Modality::text};
  std::vector<Modality> output = {Modality::text};
  ModelStatus status = ModelStatus::active;
  std::vector<std::string> efforts;      // of reasoning that it takes; empty: all
  std::vector<std::string> drop_params;  // parameters that it refuses: "temperature"
  std::vector<std::string> quirks;       // words that its dialect knows

  std::string id() const { return provider + "/" + name; }
  bool drops(std::string_view parameter) const noexcept;
  bool has_quirk(std::string_view quirk) const noexcept;
};

// What a request needs of the model that answers it.
struct CapabilitySet {
  bool tools = false;
  bool parallel_tools = false;
  bool streaming = false;
  bool structured = false;
  bool vision = false;
  bool reasoning = false;
  std::int64_t context_tokens = 0;  // at least so many; a window that nobody knows is too small
  std::vector<Modality> input;
  std::vector<Modality> output;

  bool empty() const noexcept;
  // What `profile` lacks ("it cannot call tools"); empty when it has everything. A retired model
  // lacks everything.
  std::string missing_in(const ModelProfile& profile) const;
  friend bool operator==(const CapabilitySet&, const CapabilitySet&) = default;
};

// A model that would do, if it is there: the higher the priority, the sooner it is tried.
struct ModelHint {
  std::string model;
  int priority = 0;
  friend bool operator==(const ModelHint&, const ModelHint&) = default;
};

// How the model that answered was chosen.
enum class ModelSource : std::uint8_t {
  request,           // it was named for this request
  previous,          // it answered the turn before, and the request said to stay
  hint,              // the first hint that could be had
  agent_default,     // the run's or its agent's own
  registry_default,  // nobody named one
  fallback,          // another one failed
};
std::string_view name_of(ModelSource source) noexcept;

}  // namespace tug
