"""What stands around functions: hooks in folders `contracts`, and the contracts that ship.

DIR/contracts/NAME.py stands around DIR/NAME.py, DIR/contracts/init.py around all modules of DIR, and
a module names further ones of such a folder in `__contracts__`. A hook is `pre`, `call` or `post`, or
one of these with the function behind it: `pre_run`. It gets the hub and the call.
"""

import inspect

from fettle_plugins import changes
from fettle_plugins.data import NamespaceDict


class ContractError(RuntimeError):
    """A hook says that a function must not be called like this."""


class Call:
    """A call of a function, as hooks see it. `args` begin with the hub."""

    def __init__(self, function, args, kwargs):
        self.function, self.func, self.signature = function, function.func, function.signature
        self.ref, self.__name__ = f"{function.ref}.{function.name}", function.name
        self.args, self.kwargs, self.ret, self.cache = list(args), dict(kwargs), None, {}

    def get_arguments(self):
        bound = self.signature.bind(*self.args, **self.kwargs)
        bound.apply_defaults()
        return dict(bound.arguments)

    def get_argument(self, name):
        return self.get_arguments()[name]

    def proceed(self):
        return self.func(*self.args, **self.kwargs)


class Hooks:
    """A file of a folder `contracts`."""

    def __init__(self, hub, source):
        self._hub, self._source = hub, source

    def find(self, kind, function):
        for name in (f"{kind}_{function}", kind):
            hook = getattr(self._source, name, None)
            if inspect.isfunction(hook):
                return lambda call: hook(self._hub, call)
        return None


class Refused:
    """A contract that would stand around a function here and does not: no call passes it by."""

    def __init__(self, source):
        self._file = source.__file__

    def find(self, kind, function):
        return self._refuse if kind == "pre" else None

    def _refuse(self, call):
        return False, f"contracts of folders `recursive_contracts` are not applied ({self._file})"


class Resource:
    """`resource`: what a state answers is complete, and its changes are those of its states."""

    def find(self, kind, function):
        return self._complete if kind == "post" and function in ("present", "absent") else None

    def _complete(self, call):
        answer = call.ret
        if not isinstance(answer, dict):
            raise TypeError(f"{call.ref} returned {type(answer).__name__}, not a dict")
        answer.setdefault("name", call.get_arguments().get("name"))
        for key in ("result", "comment"):
            if key not in answer:
                raise KeyError(f"{call.ref} returned no `{key}`")
        answer["comment"] = list(_lines(answer["comment"]))
        if answer.get("changes") is None:
            states = [answer.get("old_state"), answer.get("new_state")]
            is_plain = all(not state or isinstance(state, dict) for state in states)
            computed = changes.computed_of(call.signature)
            answer["changes"] = changes.between(*states, computed) if is_plain else {}
        return answer


def _lines(comment):
    """A comment of any form, lists within lists too, without what says nothing."""
    if isinstance(comment, (list, tuple, set, frozenset)):
        for one in comment:
            yield from _lines(one)
    elif comment is not None and comment != "" and comment != {}:
        yield comment


class SoftFail:
    """`soft_fail`: an exception is an answer."""

    def find(self, kind, function):
        return self._failure if kind == "failed" else None

    def _failure(self, call, error):
        answer = {"result": False, "comment": [f"{type(error).__name__}: {error}"]}
        if call.function.module.part == "states":
            return {**answer, "changes": {}, "old_state": None, "new_state": None}
        return {**answer, "ret": None}


class Attributes:
    """What an exec function answers has its keys as attributes, too."""

    def find(self, kind, function):
        return self._named if kind == "post" else None

    def _named(self, call):
        is_plain = isinstance(call.ret, dict) and not isinstance(call.ret, NamespaceDict)
        return NamespaceDict(call.ret) if is_plain else None


def around(hub, module, files):
    """The contracts of a module, and the names that nobody knows. `files`: sources by path."""
    made, unknown = [], []
    folder = module.path.rsplit(".", 1)[0]
    here = f"{folder}.contracts"
    for name in ("init", *module.path_names):
        if f"{here}.{name}" in files:
            made.append(Hooks(hub, files[f"{here}.{name}"]))
    for name in ("init", *module.path_names, *module.contracts):
        refused = _above(folder, "recursive_contracts", name, files)
        made += [Refused(refused)] if refused else []
    for name in module.contracts:
        if name in ("resource", "soft_fail"):
            is_meant = name == "soft_fail" or module.part == "states"
            made += [Resource() if name == "resource" else SoftFail()] if is_meant else []
        elif name != "auto_state":
            found = _above(folder, "contracts", name, files)
            made += [Hooks(hub, found)] if found else []
            is_known = found or _above(folder, "recursive_contracts", name, files)
            unknown += [] if is_known else [name]
    if module.part == "exec":
        made.append(Attributes())
    return made, unknown


def _above(folder, kind, name, files):
    while folder:
        found = files.get(f"{folder}.{kind}.{name}")
        if found:
            return found
        folder = folder.rpartition(".")[0]
    return None


def _hooks(contracts, kind, call):
    found = [contract.find(kind, call.function.name) for contract in contracts]
    return [hook for hook in found if hook]


def _check(call, verdict):
    """`False` or `(False, "why")` of a `pre` refuses the call."""
    is_good, why = verdict if isinstance(verdict, tuple) and len(verdict) == 2 else (verdict, "")
    if is_good is False:
        raise ContractError(f"{call.ref} is refused by a contract: {why}".rstrip(": "))


def _failed(contracts, call, error):
    hooks = _hooks(contracts, "failed", call)
    if not hooks:
        raise error
    return hooks[0](call, error)


def run(contracts, call):
    """Calls a plain function; one that answers with a coroutine is awaited by who called it."""
    try:
        for hook in _hooks(contracts, "pre", call):
            _check(call, hook(call))
        hooks = _hooks(contracts, "call", call)
        call.ret = hooks[0](call) if hooks else call.proceed()
        if inspect.isawaitable(call.ret):
            return _finish_later(contracts, call)
        for hook in _hooks(contracts, "post", call):
            answer = hook(call)
            call.ret = call.ret if answer is None else answer
        return call.ret
    except Exception as error:
        return _failed(contracts, call, error)


async def _unwrapped(answer):
    while inspect.isawaitable(answer):
        answer = await answer
    return answer


async def _finish_later(contracts, call):
    try:
        call.ret = await _unwrapped(call.ret)
        for hook in _hooks(contracts, "post", call):
            answer = await _unwrapped(hook(call))
            call.ret = call.ret if answer is None else answer
        return call.ret
    except Exception as error:
        return _failed(contracts, call, error)


async def run_async(contracts, call):
    try:
        for hook in _hooks(contracts, "pre", call):
            _check(call, await _unwrapped(hook(call)))
        hooks = _hooks(contracts, "call", call)
        call.ret = hooks[0](call) if hooks else call.proceed()
    except Exception as error:
        return _failed(contracts, call, error)
    return await _finish_later(contracts, call)
