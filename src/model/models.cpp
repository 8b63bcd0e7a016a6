#include "tug/model/models.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "core/try.h"
#include "tug/core/nearest.h"
#include "tug/core/utf8.h"
#include "tug/model/catalogue.h"
#include "tug/model/offline.h"
#include "tug/model/provider.h"
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
  std::string identity() const override { return model_->identity(); }
  RateLimit rate_limit() const override { return model_->rate_limit(); }
  std::string account() const override { return model_->account(); }
  std::string address() const override { return model_->address(); }
  std::unique_ptr<ModelStream> ask(ModelRequest request, Until until) override {
    return model_->ask(std::move(request), std::move(until));
  }

 private:
  ModelPtr model_;
  ModelProfile profile_;
};

// A model that is asked with an effort of its own.
class WithEffort final : public Model {
 public:
  WithEffort(ModelPtr model, std::string effort)
      : model_(std::move(model)), effort_(std::move(effort)) {}
  const ModelProfile& profile() const noexcept override { return model_->profile(); }
  Json reserve(const ModelRequest& request) const override { return model_->reserve(request); }
  std::string identity() const override { return model_->identity() + ":" + effort_; }
  RateLimit rate_limit() const override { return model_->rate_limit(); }
  std::string account() const override { return model_->account(); }
  std::string address() const override { return model_->address(); }
  std::unique_ptr<ModelStream> ask(ModelRequest request, Until until) override {
    if (request.reasoning.empty()) request.reasoning = effort_;
    return model_->ask(std::move(request), std::move(until));
  }

 private:
  const ModelPtr model_;
  const std::string effort_;
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
    if (row.price->cache_write_1h) profile.price->cache_write_1h = row.price->cache_write_1h;
    if (!row.price->tiers.empty()) profile.price->tiers = row.price->tiers;
  }
  if (row.caps) set_caps(profile, *row.caps);
  if (row.efforts) profile.efforts = *row.efforts;
  if (row.drop_params) profile.drop_params = *row.drop_params;
  if (row.status) profile.status = *row.status;
  return row.context_tokens || row.max_output_tokens || row.price || row.caps || row.efforts ||
         row.drop_params || row.status;
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
    std::erase_if(made_, [&](const auto& entry) {
      return entry.first == id || split_effort(entry.first).name == id;
    });
    if (default_.empty()) default_ = id;
    added_[std::move(id)] = std::move(model);
  }

  void override_with(ModelOverride row) override {
    const std::scoped_lock hold(lock_);
    rows_.push_back(std::move(row));
  }

  Result<ModelPtr> find(std::string_view given) override {
    const std::string id = with_slash(given);
    {
      const std::scoped_lock hold(lock_);
      if (const auto made = made_.find(id); made != made_.end()) return made->second;
      if (const auto added = added_.find(id); added != added_.end()) return keep(id, added->second);
    }
    const auto [plain, effort] = split_effort(id);
    if (effort.empty()) return find_plain(id);
    TUG_TRY(model, find_plain(plain));
    const ModelProfile& profile = model->profile();
    if (!profile.efforts.empty() &&
        std::ranges::find(profile.efforts, effort) == profile.efforts.end()) {
      return fail(ErrorKind::invalid,
                  "the model " + shown(plain) + " does not take the effort " + shown(effort),
                  "it takes " + listed(profile.efforts));
    }
    const std::scoped_lock hold(lock_);
    const auto entry = made_.try_emplace(id, nullptr).first;
    if (!entry->second) entry->second = std::make_shared<WithEffort>(model, std::string(effort));
    return entry->second;
  }

  std::vector<std::string> providers() const override {
    const std::scoped_lock hold(lock_);
    return provider_names();
  }

  void set_default(std::string id) override {
    const std::scoped_lock hold(lock_);
    default_ = std::move(id);
  }

  std::string default_model() const override {
    const std::scoped_lock hold(lock_);
    return default_;
  }

  Result<Resolved> resolve(const ModelChoice& choice) override {
    return resolve_model(choice, default_model(), [this](std::string_view id) { return find(id); });
  }

 private:
  // "provider:name" with the slash, where the first word is a provider.
  std::string with_slash(std::string_view id) const {
    std::string same(id);
    const std::size_t mark = id.find_first_of(":/");
    if (mark == id.npos || id[mark] == '/') return same;
    const std::scoped_lock hold(lock_);
    const bool known = factories_.contains(id.substr(0, mark)) ||
                       std::ranges::any_of(added_, [&](const auto& entry) {
                         return entry.second->profile().provider == id.substr(0, mark);
                       });
    if (known) same[mark] = '/';
    return same;
  }

  Result<ModelPtr> find_plain(std::string_view id) {
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

  void learn_window(std::string_view id, std::int64_t tokens) override {
    const std::scoped_lock hold(lock_);
    learned_.insert_or_assign(std::string(id), tokens);
  }
  std::int64_t learned_window(std::string_view id) const override {
    const std::scoped_lock hold(lock_);
    const auto found = learned_.find(id);
    return found == learned_.end() ? 0 : found->second;
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
  std::map<std::string, std::int64_t, std::less<>> learned_;
  std::map<std::string, ModelPtr, std::less<>> made_;  // what `find` has answered
  std::vector<ModelOverride> rows_;
  std::string default_;
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
