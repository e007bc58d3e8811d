"""Runs Idem for `bench/differ states`, with the Python that it is installed in: each run is a fork of a process that has imported what Idem
does, which is most of the time that it takes to start.

    python differ_idem.py

Reads lines of JSON, `{"folder": …, "words": […]}`, where the words follow `idem`; answers with a line `{"out": …, "err": …}`.
"""
import asyncio
import gc
import importlib
import importlib.util
import json
import os
import sys
import tempfile
import traceback


async def soon(seconds, result=None, sleep=asyncio.sleep):
    """Between two rounds of a loop, nothing is waited for."""
    return await sleep(0, result)


def run_idem(words, out, err):
    """In a child, which ends after it."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w", closefd=False), open(2, "w", closefd=False)
    sys.argv = ["idem", *words]
    asyncio.sleep = soon
    try:
        from idem.scripts import start

        start()
    except SystemExit:
        pass
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()


def forked(asked, modules=None):
    """What a run writes. `modules`: a file for the names of what it imported."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            try:
                os.chdir(asked["folder"])
                run_idem(asked["words"], out, err)
                if modules:
                    modules.write("\n".join(sys.modules).encode())
                    modules.flush()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        out.seek(0)
        err.seek(0)
        return {"out": out.read().decode(), "err": err.read().decode()}


def import_what(asked):
    """Imports what a run of this imports, but for what Idem loads by files of its own."""
    with tempfile.TemporaryFile() as modules:
        forked(asked, modules)
        modules.seek(0)
        for name in modules.read().decode().split():
            try:
                if not name.startswith(("__", "idem.")) and importlib.util.find_spec(name) is not None:
                    importlib.import_module(name)
            except BaseException:  # it goes without
                pass
    gc.freeze()


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    is_first = True
    for line in sys.stdin:
        asked = json.loads(line)
        if is_first:
            import_what({**asked, "words": ["--help"]})
            is_first = False
        answers.write(json.dumps(forked(asked)) + "\n")
        answers.flush()


main()
