// What a whole tree uses and nobody owns alone: journal, models, caches, stores, the source of ids.
//
// A bundle is built once, by the wiring, and then never changes; roots on different loops share it.
// A service is found by its type. What two areas cannot name to each other they meet on here: there
// are no globals. Any thread, as far as the services themselves allow it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tug/context/log.h"
#include "tug/context/shared.h"
#include "tug/context/type_key.h"
#include "tug/core/ids.h"
#include "tug/core/json.h"
#include "tug/store/store.h"

namespace tug {

namespace detail {
class LogDefaults;
}

class Services {
 public:
  class Builder;
  ~Services();
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;

  // Null when the wiring put none of that type.
  template <class T>
  T* get() const noexcept {
    return static_cast<T*>(find(type_key<T>()).get());
  }
  template <class T>
  std::shared_ptr<T> share() const noexcept {
    return std::static_pointer_cast<T>(find(type_key<T>()));
  }

  Stores& stores() const noexcept { return *stores_; }
  Ids& ids() const noexcept { return *ids_; }
  Shared& shared() const noexcept { return *shared_; }
  // Where every context's `locals.config` starts: {cwd, library, runtime}.
  const Json& config() const noexcept { return config_; }
  // Mixed with a root's id it seeds that root's random numbers.
  std::uint64_t seed() const noexcept { return seed_; }

  std::shared_ptr<Reporter> reporter(std::string_view name) const noexcept;
  std::vector<std::string> reporter_names() const;  // in the order in which they were put
  detail::LogDefaults& log_defaults() const noexcept { return *log_defaults_; }

 private:
  Services();
  const std::shared_ptr<void>& find(TypeKey key) const noexcept;

  struct Slot {
    TypeKey key;
    std::shared_ptr<void> service;
  };
  std::vector<Slot> slots_;
  std::vector<std::pair<std::string, std::shared_ptr<Reporter>>> reporters_;
  std::shared_ptr<Stores> stores_;
  std::shared_ptr<Ids> ids_;
  std::unique_ptr<Shared> shared_;
  std::unique_ptr<detail::LogDefaults> log_defaults_;
  Json config_;
  std::uint64_t seed_ = 0;
};
using ServicesPtr = std::shared_ptr<const Services>;

// Everything has a default: in-memory stores, time-ordered ids, the reporter "console" on stderr.
// Putting a type or a name again replaces what was there. Used up by `build`.
class Services::Builder {
 public:
  // `seed` is where ids and random numbers come from unless the wiring puts its own:
  // Engine::entropy(), or a constant where a run must be repeated.
  explicit Builder(std::uint64_t seed);
  Builder(Builder&&) noexcept;
  ~Builder();

  template <class T>
  Builder& put(std::shared_ptr<T> service) {
    replace(type_key<T>(), std::move(service));
    return *this;
  }
  Builder& stores(std::shared_ptr<Stores> stores);
  Builder& ids(std::shared_ptr<Ids> ids);
  // Members go on top of the default {cwd, library, runtime}; `cwd` is the wiring's to say.
  Builder& config(const Json& members);
  Builder& reporter(std::string name, std::shared_ptr<Reporter> reporter);
  Builder& log(LogSettings settings);  // `reporters` are switched on for every root

  ServicesPtr build();

 private:
  void replace(TypeKey key, std::shared_ptr<void> service);
  std::unique_ptr<Services> made_;
};

}  // namespace tug
