// Names for models: "provider/name" to a model, made when first asked for; and which of several a
// request gets.
//
// "provider:name" is the same where the first word is a known provider. "provider/name:effort" is
// the model that is asked with that effort wherever a request leaves it open.
//
// Any thread. A provider is registered once; asking again for the same name gives the same model.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tug/model/model.h"

namespace tug {

// Makes the model of one name ("demo" of "offline/demo"). `invalid` for a name it does not know.
using ModelFactory = std::function<Result<ModelPtr>(std::string_view name)>;

// Rows that override what is known about a model ([[models]] of the configuration), where its
// provider does not ask the catalogue.
struct ModelOverride {
  std::string provider;
  std::string name;  // empty: every model of the provider
  std::optional<std::int64_t> context_tokens;
  std::optional<std::int64_t> max_output_tokens;
  std::optional<Price> price;
  std::optional<std::vector<std::string>> caps = {};  // as in a CatalogueRow
  std::optional<std::vector<std::string>> efforts = {};
  std::optional<std::vector<std::string>> drop_params = {};
  std::optional<ModelStatus> status = {};
};

// Who may answer a request, the first that can be had: the model that the request names, the one
// that answered last if the request says to stay with it, the hints by priority (of equal ones the
// first), the agent's default, the registry's. Empty names are passed over.
struct ModelChoice {
  std::string request;
  std::string previous;
  bool reuse_previous = false;
  std::vector<ModelHint> hints;
  std::string agent_default;
  CapabilitySet required;  // of all of them
};

struct SkippedModel {
  std::string requested;
  ModelSource source = ModelSource::request;
  std::string reason;  // "it cannot call tools"
  friend bool operator==(const SkippedModel&, const SkippedModel&) = default;
};

struct Resolved {
  ModelPtr model;
  std::string name;  // as it was asked for, with its effort
  ModelSource source = ModelSource::registry_default;
  bool deprecated = false;            // it answers, and somebody should know
  std::vector<SkippedModel> skipped;  // those that would have been before it, in order
};

using FindModel = std::function<Result<ModelPtr>(std::string_view id)>;
// `invalid` when nobody is left, naming each with what it lacks, or when nobody was named. A
// retired model is never chosen.
Result<Resolved> resolve_model(const ModelChoice& choice, std::string_view registry_default,
                               const FindModel& find);

class Models {
 public:
  virtual ~Models() = default;
  // Replaces a provider of that name.
  virtual void add(std::string provider, ModelFactory factory) = 0;
  // One model under its own name ("provider/name" of its profile).
  virtual void add(ModelPtr model) = 0;
  // Models found for the first time from now on have profiles changed field by field (of a price
  // too); later rows win.
  virtual void override_with(ModelOverride row) = 0;
  // `invalid` for a name without "provider/", naming the nearest provider for one that nobody
  // registered, and for an effort that the model does not take; otherwise what the factory says.
  virtual Result<ModelPtr> find(std::string_view id) = 0;
  // Of requests for which nobody names a model: the first that was added, or what is set here.
  virtual void set_default(std::string id) = 0;
  virtual std::string default_model() const = 0;  // empty when there is none
  virtual Result<Resolved> resolve(const ModelChoice& choice) = 0;
  virtual std::vector<std::string> providers() const = 0;  // sorted
  // What an overflow taught about a model's window; 0 when nothing did.
  virtual void learn_window(std::string_view id, std::int64_t tokens) = 0;
  virtual std::int64_t learned_window(std::string_view id) const = 0;
};

// With the providers that are built in: `script` and `offline`.
std::shared_ptr<Models> make_models();

}  // namespace tug
