// Tools that are coroutines: they run on the event loop, get the context, can ask other agents and
// stop when the run is cancelled. One co_await a statement, its task named first.
#include <tug/core/wait.h>
#include <tug/testkit/models.h>
#include <tug/tug.h>

#include <chrono>
#include <cstdio>
#include <string>

struct Question {
  std::string text;
};

// A run inside the context of this call: a child, one level deeper, with the same journal, budget
// and cancellation.
tug::Task<std::string> ask_expert(tug::Harness* expert, tug::Context& ctx, Question question) {
  auto asking = expert->run_async(ctx, question.text, {.agent = "expert"});
  tug::RunResult answer = co_await std::move(asking);
  ctx.emit("asked", tug::Json::object({{"depth", ctx.id().depth}, {"answer", answer.text}}));
  co_return answer.text;
}

// Waits for an hour, or until the run is cancelled.
tug::Task<tug::Result<std::string>> wait_for_ferry(tug::Context& ctx) {
  const tug::Until until{ctx.cancel()};
  const tug::Woken woken = co_await tug::sleep_for(std::chrono::hours(1), until);
  if (woken != tug::Woken::ready) {
    co_return tug::Failure(tug::wait_error(woken, until, "the ferry"));
  }
  co_return "the ferry is here";
}

int main() {
  using tug::testkit::calls;
  using tug::testkit::says;
  tug::Harness expert{"offline/demo"};
  tug::Harness harness{
      tug::testkit::scripted({calls("ask", R"({"text":"what is 12 * 12?"})"), says("I asked.")})};
  harness.tool("ask", "Asks the expert", [&expert](tug::Context& ctx, const Question& question) {
    return ask_expert(&expert, ctx, question);
  });
  const tug::Run asking = harness.start("How much is a gross?");
  while (auto event = asking.next_event()) {
    if (event->live > 0) continue;
    std::printf("%*s%s", 2 * static_cast<int>(event->who->depth), "", event->name().data());
    if (event->kind == tug::Kind::custom) {
      std::printf("  %s", tug::print_json(event->data["data"]).c_str());
    }
    std::printf("\n");
  }

  tug::Harness traveller{tug::testkit::scripted({calls("wait")})};
  traveller.tool("wait", "Waits for the ferry", wait_for_ferry);
  const tug::Run waiting = traveller.start("Take the ferry");
  while (auto event = waiting.next_event()) {
    if (event->kind == tug::Kind::tool_started) waiting.cancel("it rains");
  }
  const tug::RunResult cancelled = waiting.wait();
  std::printf("%s: %s\n", std::string(name_of(cancelled.status)).c_str(),
              cancelled.tool_calls.at(0).result.content.c_str());
  return cancelled.status == tug::RunStatus::cancelled ? 0 : 1;
}
