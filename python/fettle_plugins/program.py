"""A hub of a program that is not started by fettle, and batches of states."""

import asyncio
import json
import os

from fettle_plugins import builtin, loader, packages
from fettle_plugins.data import dumps
from fettle_plugins.hub import Hub

_DEFAULTS = {
    "runtime": None,
    "test": None,
    "renderer": None,
    "profiles": None,
    "encrypted_profiles": None,
    "acct_key": None,
    "default_acct_profile": None,
    "name": None,
    "crypto_plugin": None,
    "reconcile_plugin": None,
    "pending_plugin": None,
    "esm_plugin": None,
    "esm_profile": None,
}


class ProgramHub(Hub):
    """Takes the lines with which programs set up a hub, and means nothing by most of them."""

    def __init__(self, *args, **kwargs):
        super().__init__()
        builtin.add(self)
        self.pop.Loop = self.pop.loop.CURRENT_LOOP = asyncio.new_event_loop()
        found, _ = packages.find(packages.places())
        self._packages = [package for package in found if not package.is_original]

    def load_plugins(self, *folders):
        """Python plugins below these folders; their problems are errors, those of packages are not."""
        problems = loader.load(
            self, [os.path.abspath(folder) for folder in folders], self._packages
        )
        told = [f"{one['file']}: {one['text']}" for one in problems if not one.get("hidden")]
        if told:
            raise RuntimeError("; ".join(told))


async def run_batch(states, **parameters):
    """Applies states and answers the results by tag, or the list of errors."""
    unknown = sorted(set(parameters) - set(_DEFAULTS))
    if unknown:
        raise TypeError(f"batch() got an unexpected keyword argument '{unknown[0]}'")
    given = {name: value for name, value in parameters.items() if value is not None}
    if isinstance(given.get("acct_key"), bytes):
        given["acct_key"] = given["acct_key"].decode()
    if isinstance(given.get("encrypted_profiles"), bytes):
        given["encrypted_profiles"] = given["encrypted_profiles"].decode()
    process = await asyncio.create_subprocess_exec(
        os.environ.get("FETTLE", "fettle"),
        "batch",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await process.communicate(dumps({"states": states, **given}))
    try:
        answer = json.loads(output)
        is_refused = answer.get("success") is False and isinstance(answer.get("error"), dict)
        return _list_of_errors(answer["error"]) if is_refused else answer
    except ValueError:
        raise RuntimeError(
            errors.decode("utf-8", "replace").strip() or "fettle batch answered nothing"
        ) from None


def _list_of_errors(error):
    """The lines of what was wrong, one for each error; traces and excerpts are left out."""
    lines = [line for line in error["message"].split("\n") if line.strip()]
    # Of several, all but the first name their places.
    place = ":".join(str(error[part]) for part in ("file", "line", "column") if error.get(part))
    if place and len(lines) > 1:
        lines[0] = f"{place}: {lines[0]}"
    return lines
