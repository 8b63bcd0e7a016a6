#!/usr/bin/env python3
"""What the documents name is there: linked files, paths in backticks, functions written as `name()`, tests written
as `Suite.Name`. The C++ that README.md shows is, word for word, that of an example."""
import pathlib
import re
import sys

CODE = "apps src include tests tools examples benchmarks".split()
LINK = re.compile(r"\]\(([^)\s]+)\)")
QUOTED = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"^(?:(?:%s|docs|\.ci)/[\w./*-]*|[\w-]+\.(?:cpp|h|md|py))$" % "|".join(CODE))
TEST = re.compile(r"^([A-Z]\w+)\.([A-Z]\w+)$")
FUNCTION = re.compile(r"^(?:[\w]+(?:::|\.))*(\w+)\(\)$")


def documents(top):
    return sorted([*top.glob("*.md"), *top.glob("docs/*.md")])


def names_of(top):
    """Every word of the sources, and every file name."""
    words = set()
    files = set()
    for folder in CODE:
        for path in (top / folder).rglob("*") if (top / folder).exists() else []:
            files.add(path.name)
            if path.suffix in (".h", ".cpp"):
                words.update(re.findall(r"\w+", path.read_text()))
    files.update(path.name for path in documents(top))
    return words, files


def is_there(top, files, path):
    if "/" not in path:
        return path in files
    return any(top.glob(path)) if "*" in path else (top / path).exists()


def faults_of(top, document, words, files):
    for number, line in enumerate(document.read_text().splitlines(), 1):
        place = f"{document.relative_to(top)}:{number}"
        for target in LINK.findall(line):
            if "://" not in target and not target.startswith("#"):
                if not (document.parent / target.split("#")[0]).exists():
                    yield f"{place}: the link {target} leads nowhere"
        for quoted in QUOTED.findall(line):
            if PATH.match(quoted) and not is_there(top, files, quoted):
                yield f"{place}: there is no {quoted}"
            test = TEST.match(quoted)
            if test and not set(test.groups()) <= words:
                yield f"{place}: there is no test {quoted}"
            function = FUNCTION.match(quoted)
            if function and function.group(1) not in words:
                yield f"{place}: no source has a {function.group(1)}"


def strange_code(top):
    examples = [path.read_text() for path in sorted((top / "examples").glob("*.cpp"))]
    readme = top / "README.md"
    for block in re.findall(r"^```cpp\n(.*?)^```", readme.read_text() if readme.exists() else "", re.S | re.M):
        if not any(block in example for example in examples):
            yield f"README.md: no example holds this:\n{block}"


def main(top):
    words, files = names_of(top)
    checked = documents(top)
    faults = [fault for document in checked for fault in faults_of(top, document, words, files)]
    faults += strange_code(top)
    for fault in faults:
        print(fault)
    print(f"{len(checked)} documents, {len(faults)} faults")
    return 1 if faults or not checked else 0


sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
