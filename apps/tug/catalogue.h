// The models that the command can ask, and what is known about them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"
#include "config.h"
#include "tug/model/catalogue.h"
#include "tug/model/models.h"
#include "tug/model/provider.h"

namespace tug::cli {

// What `tug models update` wrote, in the state folder.
inline constexpr std::string_view kModelsFile = "models.json";

// What is built in, then models.json of the state folder, then every row of [[models]], which is
// known by its place. `invalid`, naming the place, for what cannot be read.
Result<std::shared_ptr<Catalogue>> configured_catalogue(const Options& options,
                                                        const Config& config);

struct ConfiguredModels {
  std::shared_ptr<Catalogue> catalogue;
  std::shared_ptr<Models> models;
  std::vector<ProviderConfig> providers;
};
// Whoever only wants to know whether a model could be named needs no keys.
enum class Keys : bool { needed, left_out };
// `model` is the one that flags about a provider are meant for.
Result<ConfiguredModels> configured_models(const Options& options, const Config& config,
                                           std::string_view model, Keys keys = Keys::needed);

}  // namespace tug::cli
