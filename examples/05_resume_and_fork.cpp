// A run is its log. It is on disk, so another process can go on with it, branch off from any of its
// records, and read what happened without calling anything.
#include <tug/agent/fold.h>
#include <tug/journal/record_store.h>
#include <tug/tug.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

void print(const char* what, const tug::RunResult& result) {
  std::printf("%s\n", what);
  for (const tug::MessagePtr& message : result.messages.messages()) {
    std::printf("  %-9s %s\n", std::string(name_of(message->role())).c_str(),
                message->text().c_str());
  }
}

int main() {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("tug-example-" + std::to_string(static_cast<long>(getpid())));
  const tug::HarnessOptions options{.model = "offline/demo", .state_dir = folder.string()};
  tug::RunResult first;
  {
    tug::Harness harness{options};
    first = harness.run("what is 6 * 7?");
    print("first", first);
  }

  // As another process would: nothing is left of the first harness but its journal.
  tug::Harness harness{options};
  // A finished run goes on as a new run of the same thread; its history is read through a link.
  const tug::RunResult next = harness.resume(first.id, "what is 2 + 3?").wait();
  print("resumed", next);
  std::printf("  same thread %d, same run %d\n", next.thread == first.thread, next.id == first.id);

  // Record 1 is run.started: the prompt is shared and nothing that came after it.
  const tug::RunResult fork = harness.fork(first.id, 1, "what is 10 - 1?").wait();
  print("forked", fork);
  std::printf("  same thread %d\n", fork.thread == first.thread);

  // Folding the records again gives the same result, and the hash chain says that nobody changed
  // them.
  const auto folded = tug::fold_root(harness.store(), next.id);
  const bool same = folded && folded->runs[0].result.messages == next.messages;
  const bool whole = tug::verify_root(harness.store(), next.id).has_value();
  std::printf("folded: same messages %d, chain whole %d, records %llu\n", same, whole,
              static_cast<unsigned long long>(folded ? folded->last_seq : 0));
  harness.close();
  std::filesystem::remove_all(folder);
  return same && whole ? 0 : 1;
}
