"""Compiles models with Inmanta for `bench/differ`, which runs this with the Python that has the packages inmanta-core and inmanta-module-std.

    python differ_inmanta.py FOLDER

FOLDER has a project.yml. Reads the name of a file of that folder per line, answers with one line of JSON: `lines`, what the model
prints; `error`, the trace, or null; `kind`, the class of the error; `where`, the lines that the error and its causes name.
"""
import contextlib
import io
import json
import logging
import os
import signal
import sys

from inmanta import compiler, module
from inmanta.ast import CompilerException

SECONDS = 10


class TooLong(Exception):
    pass


def too_long(*_):
    raise TooLong()


def of_all(error):
    yield error
    for cause in error.get_causes():
        yield from of_all(cause)


def compiled(folder, name):
    printed, error, kind, where = io.StringIO(), None, None, []
    signal.alarm(SECONDS)
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
            compiler.ProjectLoader.load(module.Project(folder, main_file=name))
            compiler.do_compile()
    except CompilerException as caught:
        error, kind = caught.format_trace(), type(caught).__name__
        where = [one.location.lnr for one in of_all(caught) if one.location is not None]
    except TooLong:
        error, kind = "takes too long", "TooLong"
    except Exception as caught:  # what Inmanta does not turn into an error of the model
        error, kind = f"{type(caught).__name__}: {caught}", "Raw"
    finally:
        signal.alarm(0)
    return {"lines": printed.getvalue().splitlines(), "error": error, "kind": kind, "where": where}


def main():
    folder = os.path.abspath(sys.argv[1])
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGALRM, too_long)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        json.dump(compiled(folder, line.strip()), answers)
        answers.write("\n")
        answers.flush()


main()
