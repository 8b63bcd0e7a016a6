// Which messages a policy keeps.
#include "tug/core/window.h"
#include "tug/middleware/message_trim.h"

namespace tug {
namespace {

class Keeping {
 public:
  explicit Keeping(const std::vector<MessagePtr>& messages)
      : messages_(messages), kept_(messages.size(), true) {}

  void by_count(std::size_t first, std::size_t last) {
    const std::size_t size = messages_.size();
    if (last == 0 || last >= size || first >= size - last) return;
    std::size_t from = size - last;
    if (role(from) == Role::tool) --from;  // the turn that made the calls
    if (first > 0 && role(first) == Role::tool) --first;
    for (std::size_t i = first; i < from; ++i) drop(i);
  }

  void by_tokens(std::int64_t most) {
    std::int64_t left = 0;
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      if (kept_[i]) left += estimate_tokens(messages_[i]->size());
    }
    for (const bool systems : {false, true}) {
      for (std::size_t i = 0; i < newest() && left > most; ++i) {
        if (!kept_[i] || (role(i) == Role::system) != systems) continue;
        // A turn and its results go together.
        do {
          kept_[i] = false;
          left -= estimate_tokens(messages_[i]->size());
        } while (role(i + 1) == Role::tool && kept_[i + 1] && ++i < messages_.size());
      }
    }
  }

  void start_on(Role wanted) {
    std::size_t start = 0;
    while (start < messages_.size() && !(kept_[start] && role(start) == wanted)) ++start;
    if (start == messages_.size()) return;
    for (std::size_t i = 0; i < start; ++i) drop(i);
  }

  std::vector<std::size_t> places() const {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i]) places.push_back(i);
    }
    return places;
  }

 private:
  Role role(std::size_t i) const {
    return i < messages_.size() ? messages_[i]->role() : Role::user;
  }
  void drop(std::size_t i) {
    if (role(i) != Role::system) kept_[i] = false;
  }
  // What is never dropped begins here: the last message, with the turn that its results answer.
  std::size_t newest() const {
    const std::size_t last = messages_.empty() ? 0 : messages_.size() - 1;
    return role(last) == Role::tool && last > 0 ? last - 1 : last;
  }

  const std::vector<MessagePtr>& messages_;
  std::vector<bool> kept_;
};

}  // namespace

std::vector<std::size_t> kept_messages(const std::vector<MessagePtr>& messages,
                                       const TrimPolicy& policy) {
  Keeping keeping(messages);
  keeping.by_count(policy.keep_first, policy.keep_last);
  if (policy.max_tokens > 0) keeping.by_tokens(policy.max_tokens);
  if (policy.start_on && *policy.start_on != Role::tool) keeping.start_on(*policy.start_on);
  return keeping.places();
}

}  // namespace tug
