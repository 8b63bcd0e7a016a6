#include "tug/model/models.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "core/try.h"
#include "tug/core/nearest.h"
#include "tug/core/utf8.h"
#include "tug/model/offline.h"
#include "tug/model/script.h"

namespace tug {
namespace {

// A model whose profile somebody knows better.
class Overridden final : public Model {
 public:
  Overridden(ModelPtr model, ModelProfile profile)
      : model_(std::move(model)), profile_(std::move(profile)) {}
  const ModelProfile& profile() const noexcept override { return profile_; }
  Json reserve(const ModelRequest& request) const override { return model_->reserve(request); }
  std::unique_ptr<ModelStream> ask(ModelRequest request, Until until) override {
    return model_->ask(std::move(request), std::move(until));
  }

 private:
  ModelPtr model_;
  ModelProfile profile_;
};

// True when the row says something about this profile.
bool apply(const ModelOverride& row, ModelProfile& profile) {
  if (row.provider != profile.provider) return false;
  if (!row.name.empty() && row.name != profile.name) return false;
  if (row.context_tokens) profile.context_tokens = *row.context_tokens;
  if (row.max_output_tokens) profile.max_output_tokens = *row.max_output_tokens;
  if (row.price) {
    if (!profile.price) profile.price.emplace();
    if (row.price->input) profile.price->input = row.price->input;
    if (row.price->output) profile.price->output = row.price->output;
    if (row.price->cache_read) profile.price->cache_read = row.price->cache_read;
    if (row.price->cache_write) profile.price->cache_write = row.price->cache_write;
  }
  return row.context_tokens || row.max_output_tokens || row.price;
}

std::string shown(std::string_view id) {
  std::string out;
  print_json_string(clip_utf8(id, 200), out);
  return out;
}

class Registry final : public Models {
 public:
  void add(std::string provider, ModelFactory factory) override {
    const std::scoped_lock hold(lock_);
    std::erase_if(made_, [&](const auto& entry) {
      return entry.first.starts_with(provider + "/") && !added_.contains(entry.first);
    });
    factories_[std::move(provider)] = std::make_shared<const ModelFactory>(std::move(factory));
  }

  void add(ModelPtr model) override {
    const std::scoped_lock hold(lock_);
    std::string id = model->profile().id();
    made_.erase(id);
    added_[std::move(id)] = std::move(model);
  }

  void override_with(ModelOverride row) override {
    const std::scoped_lock hold(lock_);
    rows_.push_back(std::move(row));
  }

  Result<ModelPtr> find(std::string_view id) override {
    const std::size_t slash = id.find('/');
    if (slash == std::string_view::npos || slash == 0 || slash + 1 == id.size())
      return Failure(not_a_name(id));
    const std::string_view provider = id.substr(0, slash);
    const std::string_view name = id.substr(slash + 1);
    std::shared_ptr<const ModelFactory> factory;
    {
      const std::scoped_lock hold(lock_);
      if (const auto made = made_.find(id); made != made_.end()) return made->second;
      if (const auto added = added_.find(id); added != added_.end()) return keep(id, added->second);
      const auto known = factories_.find(provider);
      if (known != factories_.end()) factory = known->second;
    }
    if (!factory) return Failure(unknown_provider(id, provider));
    // Outside the lock: a factory may read files, or ask us.
    TUG_TRY(model,
            guarded("the provider " + std::string(provider), [&] { return (*factory)(name); }));
    if (!model) return fail(ErrorKind::internal, "the provider of " + shown(id) + " made no model");
    const std::scoped_lock hold(lock_);
    // Another thread may have been faster; everybody gets the first.
    if (const auto made = made_.find(id); made != made_.end()) return made->second;
    return keep(id, std::move(model));
  }

  std::vector<std::string> providers() const override {
    const std::scoped_lock hold(lock_);
    return provider_names();
  }

 private:
  // With the lock held.
  ModelPtr keep(std::string_view id, ModelPtr model) {
    ModelProfile profile = model->profile();
    bool changed = false;
    for (const ModelOverride& row : rows_) changed = apply(row, profile) || changed;
    if (changed) model = std::make_shared<Overridden>(std::move(model), std::move(profile));
    made_.emplace(id, model);
    return model;
  }

  std::vector<std::string> provider_names() const {
    std::vector<std::string> names;
    for (const auto& [name, factory] : factories_) names.push_back(name);
    for (const auto& [id, model] : added_) names.push_back(model->profile().provider);
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

  std::string nearest(std::string_view provider, const std::vector<std::string>& names) const {
    const std::vector<std::string_view> views(names.begin(), names.end());
    return std::string(nearest_name(provider, views));
  }

  static std::string listed(const std::vector<std::string>& names) {
    std::string out;
    for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
    return out;
  }

  Error not_a_name(std::string_view id) const {
    const std::vector<std::string> names = providers();
    const std::size_t slash = id.find('/');
    const std::string near = nearest(id.substr(0, slash), names);
    std::string fix = near.empty() ? "write PROVIDER/NAME; the providers are " + listed(names)
                                   : "write " + near + "/NAME";
    return Error(ErrorKind::invalid, "the model " + shown(id) + " is not PROVIDER/NAME",
                 std::move(fix));
  }

  Error unknown_provider(std::string_view id, std::string_view provider) const {
    const std::vector<std::string> names = providers();
    const std::string near = nearest(provider, names);
    std::string fix = near.empty()
                          ? "the providers are " + listed(names)
                          : "did you mean " + near + "/..? The providers are " + listed(names);
    return Error(
        ErrorKind::invalid,
        "the model " + shown(id) + " names a provider that nobody registered, " + shown(provider),
        std::move(fix));
  }

  mutable std::mutex lock_;
  std::map<std::string, std::shared_ptr<const ModelFactory>, std::less<>> factories_;
  std::map<std::string, ModelPtr, std::less<>> added_;
  std::map<std::string, ModelPtr, std::less<>> made_;  // what `find` has answered
  std::vector<ModelOverride> rows_;
};

Result<ModelPtr> make_offline(std::string_view name) {
  if (name == "demo") return make_offline_model();
  return fail(ErrorKind::invalid,
              "the model " + shown("offline/" + std::string(name)) + " is not known",
              "the one offline model is offline/demo");
}

}  // namespace

std::shared_ptr<Models> make_models() {
  auto models = std::make_shared<Registry>();
  models->add("script", load_script_model);
  models->add("offline", make_offline);
  return models;
}

}  // namespace tug
