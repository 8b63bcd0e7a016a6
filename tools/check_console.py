#!/usr/bin/env python3
"""The console blocks of the documents are what the command prints.

    tools/check_console.py TOP BINARY

Each `$ ` line is run in TOP with `./tug` standing for BINARY, in a home of its own; what follows it is what it must print.
"""
import os
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"^```console\n(.*?)^```", re.S | re.M)


def commands_of(block):
    """(command, what it prints) for every command of a block."""
    return [part.partition("\n")[::2] for part in re.split(r"^\$ ", block, flags=re.M)[1:]]


def faults_of(document, top, binary, home):
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(home), "LANG": "C.UTF-8",
                   "XDG_STATE_HOME": str(home / "state"), "XDG_CONFIG_HOME": str(home / "config"), "COMMAND_UNDER_TEST": binary}
    for block in BLOCK.findall(document.read_text()):
        for command, expected in commands_of(block):
            ran = subprocess.run(["sh", "-c", command.replace("./tug", '"$COMMAND_UNDER_TEST"')], cwd=top, env=environment,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
            # Test builds report a loop that was held up: a matter of this machine, not of the command.
            printed = re.sub(r"^tug: loop \d+: .* took \d+ ms\n", "", ran.stdout.decode(), flags=re.M)
            if printed != expected:
                yield f"{document.name}: `{command}` prints\n{printed}instead of\n{expected}"


def main(top, binary):
    home = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"tug-console-{os.getpid()}"
    documents = sorted([*top.glob("*.md"), *top.glob("docs/*.md")])
    try:
        faults = [fault for document in documents for fault in faults_of(document, top, binary, home)]
    finally:
        os.spawnlp(os.P_WAIT, "rm", "rm", "-rf", str(home))
    print("\n".join(faults) if faults else "every console block is true")
    return 1 if faults else 0


sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), os.path.abspath(sys.argv[2])))
