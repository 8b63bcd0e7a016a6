#!/usr/bin/env python3
"""Includes point down: an area may use itself and the areas before it, by include or by forward declaration."""
import pathlib
import re
import sys

ORDER = "core io journal store context model tools middleware agent graph server testkit".split()
RANK = {area: rank for rank, area in enumerate(ORDER)}
FORWARD = re.compile(r"^(?:class|struct) (\w+);")
DEFINED = re.compile(r"^(?:class|struct)(?: \[\[nodiscard\]\])? (\w+)[^;]*$")


def area_of(path, root):
    return path.relative_to(root).parts[0]


def public_owners(top):
    owners = {}
    for path in sorted((top / "include/tug").rglob("*.h")):
        area = area_of(path, top / "include/tug")
        for line in path.read_text().splitlines():
            found = DEFINED.match(line)
            if found and area in RANK:
                owners[found[1]] = area
    return owners


def main():
    top = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    owners = public_owners(top)
    bad, seen = [], 0
    for root in (top / "include/tug", top / "src"):
        for path in sorted(root.rglob("*.[hc]*")):
            area = area_of(path, root)
            if path.stem.endswith(("_test", "_testing")) or path.name == "testing.h":
                continue
            if area not in RANK:
                if path.parent != root:
                    bad.append(f"{path}: '{area}' is not an area; the areas are {' '.join(ORDER)}")
                continue
            seen += 1
            for number, text in enumerate(path.read_text().splitlines(), 1):
                used = re.match(r'\s*#include ["<](?:tug/)?(\w+)/', text)
                name = used[1] if used else None
                forward = FORWARD.match(text)
                if forward:
                    name = owners.get(forward[1])
                if name in RANK and RANK[name] > RANK[area]:
                    bad.append(f"{path}:{number}: {area} must not use {name}")
    print("\n".join(bad) if bad else f"{seen} files, all includes point down")
    return bool(bad) or seen == 0


sys.exit(main())
