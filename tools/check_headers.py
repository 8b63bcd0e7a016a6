#!/usr/bin/env python3
"""Each public header compiles alone with clang-19 and with g++-12, in time (check_seams.py looks at its includes).
   check_headers.py TOP [--limit SECONDS]"""
import pathlib
import resource
import subprocess
import sys

COMPILERS = ("clang++-19", "g++-12")
FLAGS = "-std=c++23 -Wall -Wextra -Werror -fsyntax-only -x c++".split()


def cpu_seconds():
    """Of the compilers run so far: what the machine does besides does not count."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    top = pathlib.Path(sys.argv[1])
    limit = float(sys.argv[3]) if len(sys.argv) > 3 else None
    failed, slowest = [], []
    headers = sorted((top / "include").rglob("*.h"))
    for header in headers:
        name = header.relative_to(top / "include")
        for compiler in COMPILERS:
            best = None
            for _ in range(3 if limit else 1):
                start = cpu_seconds()
                run = subprocess.run([compiler, *FLAGS, f"-I{top / 'include'}", "-"], text=True, capture_output=True,
                                     input=f'#include "{name}"\n#include "{name}"\n')
                took = cpu_seconds() - start
                best = took if best is None else min(best, took)
                if run.returncode or (limit and best <= limit):
                    break
            slowest.append((best, compiler, str(name)))
            if run.returncode:
                failed.append(f"{name} with {compiler}:\n{run.stderr}")
            elif limit and best > limit:
                failed.append(f"{name} with {compiler}: {best:.2f} s, over {limit} s")
    print("\n".join(failed))
    for took, compiler, name in sorted(slowest, reverse=True)[:5]:
        print(f"{took:.2f} s  {compiler:10}  {name}")
    print(f"{len(headers)} headers, {len(failed)} failures")
    return bool(failed) or not headers


sys.exit(main())
