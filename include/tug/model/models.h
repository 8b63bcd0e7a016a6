// Names for models: "provider/name" to a model, made when first asked for.
//
// Any thread. A provider is registered once; asking again for the same name gives the same model.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tug/model/model.h"

namespace tug {

// Makes the model of one name ("demo" of "offline/demo"). `invalid` for a name it does not know.
using ModelFactory = std::function<Result<ModelPtr>(std::string_view name)>;

// Rows that override what is known about a model ([[models]] of the configuration).
struct ModelOverride {
  std::string provider;
  std::string name;  // empty: every model of the provider
  std::optional<std::int64_t> context_tokens;
  std::optional<std::int64_t> max_output_tokens;
  std::optional<Price> price;
};

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
  // registered; otherwise what the factory says.
  virtual Result<ModelPtr> find(std::string_view id) = 0;
  virtual std::vector<std::string> providers() const = 0;  // sorted
};

// With the providers that are built in: `script` and `offline`.
std::shared_ptr<Models> make_models();

}  // namespace tug
