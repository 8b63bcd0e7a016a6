#!/usr/bin/env python3
"""Measures every figure that has a goal and prints it beside the goal. Called by ./bench."""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BENCH = f"{TOP}/build/bench/bin/tug-bench"
TUG = f"{TOP}/build/bench/bin/tug"

# what a person reads, benchmark, field, scale, unit, goal, better
FIGURES = [
    ("context child, 16 inherited keys, create + destroy", "context_child_16_inherited_keys", "cpu_time", 1e-3, "us", 0.3, "less"),
    ("1,000,000 parked bare tasks", "parked_tasks/1000000/0/iterations:1", "rss_mb", 1, "MB", 300, "less"),
    ("mark a 100k-node tree cancelled", "cancel_100k_tree/10", "real_time", 1, "ms", 10, "less"),
    ("fork a 10,000-message transcript", "transcript_fork_10k", "cpu_time", 1e-3, "us", 0.1, "less"),
    ("SQLite FULL, 1,000 concurrent roots", "journal_sqlite_1000_roots/real_time", "records_per_s", 1e-3, "k records/s", 50, "more"),
    ("emit of a record with the chain", "journal_emit_record/real_time", "real_time", 1e-3, "us", 1.2, "less"),
    ("emit of a live event, one subscriber", "journal_emit_live/real_time", "real_time", 1e-3, "us", 0.15, "less"),
    ("parse a 1 MB JSON", "json_parse_1mb", "cpu_time", 1e-3, "ms", 1.5, "less"),
    ("print a 1 MB JSON", "json_print_1mb", "cpu_time", 1e-3, "ms", 1.0, "less"),
    ("loop turn: scripted model, one inline tool, memory journal, one subscriber", "loop_turn/real_time", "turn_us", 1e6, "us", 20, "less"),
    ("what ten hooks add to a turn, each before and after model and tool", "hook_chain/real_time", "added_s", 1e6, "us", 5, "less"),
    ("a batch of 16 inline tools", "tool_batch_of_16_inline", "real_time", 1e-3, "us", 20, "less"),
    ("a sub-agent, one of 1,000 in a batch, scripted model: CPU", "subagents_1000", "cpu_us_each", 1, "us", 100, "less"),
    ("cancel to quiescence, depth 10, 1,000 sub-agents in model calls", "cancel_tree/iterations:5", "cancel_ms", 1, "ms", 10, "less"),
    ("a child forked from 10,000 messages, up to its model call: CPU", "fork_child/1/iterations:1", "us_each", 1, "us", 10, "less"),
    ("the same: memory, its records in the memory journal included", "fork_child/1/iterations:1", "bytes_each", 1e-3, "KB", 8, "less"),
    ("100,000 parked runs (state in the memory journal)", "parked_runs/100000/iterations:1", "rss_mb", 1, "MB", 500, "less"),
    ("100,000 runs waiting in a model call, with handles", "waiting_runs/100000/iterations:1", "rss_mb", 1, "MB", 500, "less"),
    ("schema check of 5-field arguments", "schema_check_5_fields", "cpu_time", 1e-3, "us", 2.0, "less"),
]


def wanted(name):
    return not sys.argv[1:] or any(word in name for word in sys.argv[1:])


def benchmarks():
    """The best of five, since the machine has other things to do: name -> row."""
    names = [row[1] for row in FIGURES if wanted(row[1])]
    best = {}
    if not names:
        return best
    pattern = "|".join("^" + name.split("/iterations")[0].replace("/real_time", "") + "(/|$)" for name in names)
    out = subprocess.run([BENCH, f"--benchmark_filter={pattern}", "--benchmark_repetitions=5",
                          "--benchmark_format=json", "--benchmark_min_time=0.2"],
                         capture_output=True, text=True, check=True, cwd=f"{TOP}/build/bench").stdout
    for row in json.loads(out)["benchmarks"]:
        if row.get("run_type") == "aggregate":
            continue
        for figure in FIGURES:
            if figure[1] != row["run_name"]:
                continue
            before = best.get(figure[1])
            pick = min if figure[6] == "less" else max
            best[figure[1]] = row if before is None else pick(before, row, key=lambda r: r[figure[2]])
    return best


def seconds(command, rounds):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - start)
    return min(times)


def one_line_script():
    with tempfile.TemporaryDirectory() as home:
        with open(f"{home}/script.jsonl", "w") as script:
            script.write('{"text":"hello"}\n')
        return seconds([TUG, "run", "-m", f"script/{home}/script.jsonl", "--state-dir", f"{home}/state", "hi"], 50)


def slowest_header():
    worst = (0, "")
    for folder, _, files in os.walk(f"{TOP}/include"):
        for file in sorted(files):
            name = os.path.relpath(f"{folder}/{file}", f"{TOP}/include")
            for compiler in ("clang++-19", "g++-12"):
                took = 1e9
                for _ in range(3):
                    before = resource.getrusage(resource.RUSAGE_CHILDREN)
                    subprocess.run([compiler, "-std=c++23", "-fsyntax-only", "-x", "c++", f"-I{TOP}/include", "-"],
                                   input=f'#include "{name}"\n', text=True, check=True)
                    after = resource.getrusage(resource.RUSAGE_CHILDREN)
                    took = min(took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
                worst = max(worst, (took, f"{name}, {compiler}"))
    return worst


def bar(share):
    """How much of the goal is used up: full at the goal."""
    filled = min(20, max(0, round(share * 20)))
    return "#" * filled + "." * (20 - filled)


def show(text, value, unit, goal, better):
    met = value <= goal if better == "less" else value >= goal
    share = value / goal if better == "less" else goal / value
    print(f"{text:54} {value:10.3f} {unit:12} goal {'<=' if better == 'less' else '>='} {goal:<6g} [{bar(share)}] "
          f"{'met' if met else 'MISSED'}")
    return met


def main():
    met = True
    rows = benchmarks()
    for text, name, field, scale, unit, goal, better in FIGURES:
        if wanted(name):
            met &= show(text, rows[name][field] * scale, unit, goal, better)
    if wanted("header"):
        took, name = slowest_header()
        met &= show(f"slowest public header alone ({name})"[:54], took, "s", 0.8, "less")
    if wanted("run_script"):
        met &= show("tug run, a script of one line, start to exit", one_line_script() * 1000, "ms", 15, "less")
    if wanted("version"):
        met &= show("tug version", seconds([TUG, "version"], 30) * 1000, "ms", 10, "less")
        subprocess.run([f"{TOP}/tug", "version"], stdout=subprocess.DEVNULL, check=True)  # builds if it must
        extra = seconds([f"{TOP}/tug", "version"], 20) - seconds([f"{TOP}/build/release/bin/tug", "version"], 20)
        met &= show("./tug over the binary, second start", extra * 1000, "ms", 50, "less")
    return 0 if met else 1


sys.exit(main())
