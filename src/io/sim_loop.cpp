#include "io/sim_loop.h"

namespace tug {

unsigned SimLoop::step(Rng& rng) noexcept {
  unsigned kinds[3];
  unsigned count = 0;
  if (ready() > 0) kinds[count++] = 0;
  if (!mail_->jobs.empty()) kinds[count++] = 1;
  if (next_alarm() <= clock_.now) kinds[count++] = 2;
  const unsigned kind = kinds[rng.below(count)];
  if (kind == 0) {
    resume_one();
  } else if (kind == 1) {
    Job job = std::move(mail_->jobs.front());
    mail_->jobs.pop_front();
    job();
  } else {
    fire_one(clock_.now);
  }
  return kind;
}

}  // namespace tug
