#!/usr/bin/env python3
"""The seams that make the simulation the same code: time, threads, environment and entropy come in through
src/io and apps, and nowhere else. Also: no macros but the two, ASCII sources, no sleeping tests."""
import pathlib
import re
import sys

OUTSIDE = re.compile(r"(?:_clock|Clock)::now\(|\bstd::j?thread\b(?!::id)|\b(?:secure_)?getenv\(|\brandom_device\b"
                     r"|\bstd::async\b|\bthread_local\b|\brand\(\)|\btime\(nullptr\)|\bclock_gettime\(|\bgettimeofday\(")
INCLUDE = re.compile(r'\s*#\s*include\s*(\S+)')
PUBLIC = re.compile(r'<[a-z_0-9]+>|<c(?:assert|math|stdio|stdlib|string|stddef|stdint)>|"tug/[\w/]+\.h"')
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)")
SLEEP = re.compile(r"\bthis_thread::sleep|\busleep\(|\bnanosleep\(|\bGTEST_SKIP|\bDISABLED_")
COMMENT = re.compile(r"//.*$")


def check(path, relative, bad):
    test = path.stem.endswith("_test") or relative.parts[0] in ("tests", "benchmarks")
    outside = relative.parts[0] == "apps" or relative.parts[:2] == ("src", "io")
    public = relative.parts[0] == "include"
    text = path.read_bytes()
    if any(byte > 126 for byte in text):
        bad.append(f"{relative}: not ASCII")
    for number, line in enumerate(text.decode(errors="replace").splitlines(), 1):
        code = COMMENT.sub("", line)
        where = f"{relative}:{number}"
        if not test and not outside and OUTSIDE.search(code):
            bad.append(f"{where}: {OUTSIDE.search(code)[0]} belongs to src/io and apps")
        included = INCLUDE.match(line)
        if public and included and not PUBLIC.fullmatch(included[1]):
            bad.append(f"{where}: {included[1]}: a public header includes std and tug headers only")
        macro = MACRO.match(code)
        if macro and relative != pathlib.Path("src/core/try.h"):
            bad.append(f"{where}: macro {macro[1]}; the house has TUG_TRY and TUG_CO_TRY")
        if test and SLEEP.search(code):
            bad.append(f"{where}: {SLEEP.search(code)[0]}: time comes from the virtual clock, and nothing is skipped")


def main():
    top = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    bad, seen = [], 0
    for folder in ("include", "src", "apps", "tests", "benchmarks", "examples"):
        for path in sorted((top / folder).rglob("*.[hc]*")):
            if path.is_file() and path.suffix in (".h", ".cpp"):
                seen += 1
                check(path, path.relative_to(top), bad)
    print("\n".join(bad) if bad else f"{seen} files keep to the seams")
    return bool(bad) or seen == 0


sys.exit(main())
