"""Answers the requests of a compile until its lines end.

The last argument is JSON: `modules` ({name: folder}), `module_path`, `packages` (folders of
installed packages that the interpreter does not know), `environment`. A request has one key of the
table below, which says who answers it; the answer is a dict.
"""

import importlib
import json
import os
import site
import sys

from fettle_models import channel, modules

# Who answers a request: the module and the function, which gets the server and the request.
ROWS = {
    "load": "fettle_models.calls:load",
    "calls": "fettle_models.calls:answer_calls",
    "finalize": "fettle_models.calls:finalize",
    "match": "fettle_models.calls:match",
    "resources": "fettle_models.exports:describe",
    "export": "fettle_models.exports:export",
    "serialize": "fettle_models.exports:serialize",
    "dependencies": "fettle_models.exports:manage_dependencies",
    "sources": "fettle_models.exports:sources",
    "handler": "fettle_models.handlers:handle",
}


def print_logs():
    """What plugins log as a warning or worse is printed."""
    import logging

    class LogHandler(logging.Handler):
        def emit(self, record):
            channel.current.log(self.format(record))

    handler = LogHandler(logging.WARNING)
    handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    logging.getLogger().addHandler(handler)


class Server:
    def __init__(self, settings):
        self.settings = settings
        for folder in settings.get("packages", []):
            site.addsitedir(folder)
        modules.roots.update(settings.get("roots", {}))
        self.finder = modules.install(settings.get("modules", {}), settings.get("module_path", []))
        self.loader = modules.Loader(self.finder)
        self._known = {}  # the functions of the rows, as far as they were needed

    def answer(self, request):
        for key, row in ROWS.items():
            if key in request:
                function = self._known.get(key)
                if function is None:
                    module, _, name = row.partition(":")
                    function = getattr(importlib.import_module(module), name)
                    self._known[key] = function
                return function(self, request)
        raise ValueError(f"unknown request: {', '.join(request)}")


def main():
    settings = json.loads(sys.argv[-1])
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.argv[1:] = []
    sys.pycache_prefix = os.path.join(package, "cache")  # users' folders stay as they are
    channel.current = lines = channel.Channel()
    server = Server(settings)
    has_logs = False
    for request in lines.requests():
        if not has_logs and "logging" in sys.modules:  # it takes long to import
            print_logs()
            has_logs = True
        try:
            answer = server.answer(request)
        except BaseException as error:
            answer = {"error": modules.text_of(error), "trace": modules.trace_of(error)}
        try:
            lines.answer(answer)
        except (TypeError, ValueError, RecursionError) as error:
            lines.answer({"error": modules.text_of(error)})
