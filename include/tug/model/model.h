// A model: asked with a request, answers with a stream of events that is pulled.
//
// A model has no memory of its own: everything it may know is in the request. What must survive a
// crash (which line of a script comes next) it says before the request leaves, with `reserve`; the
// run records it and hands it back.
//
// Loop thread only; one model may serve many streams at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tug/context/transcript.h"
#include "tug/core/cost.h"
#include "tug/core/error.h"
#include "tug/core/json.h"
#include "tug/core/model_turn.h"
#include "tug/core/task.h"
#include "tug/core/tool.h"
#include "tug/core/wait.h"
#include "tug/model/profile.h"
#include "tug/model/settings.h"

namespace tug {

// Sorted by name, frozen at the start of a run; shared by all its requests.
using ToolSpecs = std::vector<std::shared_ptr<const ToolSpec>>;

// What the answer must look like, for a model that can be told so.
struct OutputFormat {
  std::string name;
  Json schema;
  bool strict = false;  // every object of the schema lists all its properties and takes no other
};

enum class ToolChoice : std::uint8_t { automatic, none, required };

class DeltaFilter;  // tug/model/delta_filter.h
using MakeDeltaFilter = std::function<std::unique_ptr<DeltaFilter>()>;

struct ModelRequest : ModelSettings {
  std::string model;  // its id; another one is asked if middleware changes it
  std::shared_ptr<const std::string> system;  // may be null
  Transcript transcript;                      // what is sent; copying it is cheap
  std::shared_ptr<const ToolSpecs> tools;     // may be null
  std::int64_t max_output_tokens = 0;         // 0: the model's own
  ToolChoice tool_choice = ToolChoice::automatic;
  std::string tool;  // the one that must be called, with ToolChoice::required; empty: any
  std::shared_ptr<const OutputFormat> output;  // null for text, and where a tool takes the answer
  std::vector<MakeDeltaFilter> filters;        // what edits the answer as it comes
  bool drop_reasoning = false;  // send none of it back as it came: the provider refused some
  bool keep_raw = true;         // the provider's reply is kept beside the record, unfiltered
  std::string agent;            // of the run that asks
  std::string thread;  // the same for all runs of a tree, and for the next runs of its thread
  // What the provider has kept of this conversation, where requests are chained: the id of its last
  // answer, and how many messages of the transcript that covers.
  std::string previous_response;
  std::size_t previous_messages = 0;
  // What `reserve` answered for each attempt on this model that the root has recorded, in order.
  std::shared_ptr<const std::vector<Json>> reserved;
  Json reservation;  // for this attempt; what `reserve` answered
};

struct TextDelta {
  std::string text;
  friend bool operator==(const TextDelta&, const TextDelta&) = default;
};
struct ReasoningDelta {
  std::string text;
  friend bool operator==(const ReasoningDelta&, const ReasoningDelta&) = default;
};
// A piece of a call. `index` tells the calls of one turn apart; id and tool come with the first
// piece of each.
struct ToolCallDelta {
  std::uint32_t index = 0;
  std::string provider_id;
  std::string tool;
  std::string arguments;
  friend bool operator==(const ToolCallDelta&, const ToolCallDelta&) = default;
};
struct UsageDelta {
  Usage usage;  // so far, not since the last one
};
// The turn is the last event; it is authoritative over the deltas before it.
using ModelEvent = std::variant<TextDelta, ReasoningDelta, ToolCallDelta, UsageDelta, ModelTurn>;

// One answer under way. Dropped when its reader has enough; ends its wait when `until` does.
class ModelStream {
 public:
  virtual ~ModelStream() = default;
  // Nothing once the answer is over. Errors carry the detail Provider; after one, nothing.
  virtual Task<Result<std::optional<ModelEvent>>> next() = 0;
};

class Model {
 public:
  virtual ~Model() = default;
  virtual const ModelProfile& profile() const noexcept = 0;
  // Called before the attempt is recorded; null for models that need nothing.
  virtual Json reserve(const ModelRequest&) const { return {}; }
  // Who answers, for the key of a cached response and of a rate limit: more than the id where the
  // same name at another address, or with another key, is somebody else. No secrets.
  virtual std::string identity() const { return profile().id(); }
  // How fast it may be asked, and whose limit that is: all models of an account share it.
  virtual RateLimit rate_limit() const { return {}; }
  virtual std::string account() const { return profile().provider; }
  // Where it is asked, without credentials; empty for what is not asked over a network.
  virtual std::string address() const { return {}; }
  // Begins to answer. `until` covers the whole stream.
  virtual std::unique_ptr<ModelStream> ask(ModelRequest request, Until until) = 0;
};
using ModelPtr = std::shared_ptr<Model>;

// What one answer may hold, put together.
inline constexpr std::size_t kMaxAnswerBytes = 64 << 20;
inline constexpr std::size_t kMaxCallsOfAnAnswer = 1024;

// Told about each delta (never the turn) before it is collected; returns at once.
class DeltaObserver {
 public:
  virtual ~DeltaObserver() = default;
  virtual void on_delta(const ModelEvent& event) = 0;
};

// Reads a stream to its end. A failure beats everything before it, the closing turn beats the
// deltas; a stream that ends without one is put together from them: reasoning first, then text,
// then calls in the order they began, the first name of a call that is not empty, arguments joined
// ("{}" when there are none). Usage is never overwritten by less. Text is made well-formed whole,
// so a delta may end inside a character.
//
// `disconnected` for a stream that ends with neither; `exhausted`, with the detail Provider, for
// one that holds too much; `internal` for what the stream throws.
Task<Result<ModelTurn>> collect(ModelStream& stream, DeltaObserver* observer = nullptr);

}  // namespace tug
