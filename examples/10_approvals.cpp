// A call that needs a yes: the run is parked, which costs nothing, and goes on in any process that
// has the journal and a decision. While a run is alive it can be told things, too.
#include <tug/model/script.h>
#include <tug/tug.h>

#include <cstdio>
#include <string>

struct Payment {
  std::string to;
  int euros = 0;
};

// Two payments, and then what came of them.
tug::ModelPtr bookkeeper() {
  const char* turns = R"({"text":"Two bills.","tool_calls":[
      {"id":"1","name":"pay","arguments":{"to":"baker","euros":5}},
      {"id":"2","name":"pay","arguments":{"to":"jeweller","euros":5000}}]})";
  std::string lines(turns);
  std::erase(lines, '\n');
  lines += "\n{\"text\":\"Done.\"}\n{\"text\":\"It was a good month.\"}\n";
  return tug::make_script_model(tug::parse_script(lines, "bills").value(),
                                {.provider = "script", .name = "bills"});
}

int main() {
  tug::Harness harness{bookkeeper()};
  // Small sums are paid; the predicate says which calls are asked about.
  const auto is_large = [](const tug::Json& args) { return args["euros"].as_int() > 100; };
  harness.tool("pay", "Pays somebody",
               [](const Payment& payment) {
                 std::printf("  paying %s %d\n", payment.to.c_str(), payment.euros);
                 return std::string("paid");
               },
               {.checks = {.approve_when = is_large}});

  const tug::RunResult parked =
      harness.run("Pay the bills.", {.permissions = tug::Permissions{.hold = tug::HoldScope::call},
                                     .steering = tug::SteeringPolicy::allow_all()});
  std::printf("%s, exit code %d\n", std::string(name_of(parked.stop)).c_str(), exit_code(parked));
  for (const tug::PendingApproval& pending : parked.pending) {
    std::printf("  waits: %s %s\n", pending.tool.c_str(),
                tug::print_json(pending.arguments).c_str());
  }

  // Resuming it changes nothing: the prompt waits behind the approval.
  (void)harness.resume(parked.root, "How was the month?").wait();

  // Another sum instead of the one that the model wanted.
  tug::Decision decision = tug::Decision::approve(parked.pending[0].call);
  decision.arguments = tug::Json::object({{"to", "jeweller"}, {"euros", 50}});
  const tug::RunResult paid = harness.approve(parked.root, {decision}).wait();
  std::printf("%s: %s\n", std::string(name_of(paid.stop)).c_str(), paid.text.c_str());
  for (const tug::ToolCallRecord& call : paid.tool_calls) {
    std::printf("  %s: %s%s\n", call.tool.c_str(), call.result.content.c_str(),
                call.approved ? ", approved" : "");
  }
}
