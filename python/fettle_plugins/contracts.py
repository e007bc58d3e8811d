"""What stands around functions: hooks in folders `contracts` and `recursive_contracts`, and the
contracts that ship.

DIR/contracts/NAME.py stands around DIR/NAME.py, DIR/contracts/init.py around all modules of DIR, and
a module names further ones of such a folder in `__contracts__`. Those of `recursive_contracts` stand
around the same modules of all folders below, too. A hook is `pre`, `call` or `post`, or one of these
with the function behind it: `pre_run`; both are called. It gets the hub and the call. `sig_run` says
which parameters `run` has to take.

The order is POP's: first contracts of a positive `__order__`, then those without one (of the folder,
then of the folders above), then negative ones; `post` is called the other way round, and of `call`
only the first one counts.
"""

import inspect

from fettle_plugins import changes, exceptions, signatures
from fettle_plugins.data import NamespaceDict
from fettle_plugins.patience import NotReady, Throttled


class ContractError(exceptions.PreContractFailed, RuntimeError):
    """A hook says that a function must not be called like this."""


class Call:
    """A call of a function, as hooks see it. `args` begin with the hub."""

    def __init__(self, function, args, kwargs):
        self.function, self.func, self.signature = function, function.func, function.signature
        self.ref, self.__name__ = function.ref, function.name
        self.args, self.kwargs, self.ret, self.cache = list(args), dict(kwargs), None, {}

    def get_arguments(self):
        # What exists needs nothing that is required to make it.
        exists = self.kwargs.get(getattr(self.func, "identity", None)) is not None
        bind = self.signature.bind_partial if exists else self.signature.bind
        try:
            bound = bind(*self.args, **self.kwargs)
        except TypeError as error:
            raise exceptions.BindError(str(error)) from None
        bound.apply_defaults()
        return dict(bound.arguments)

    def get_argument(self, name):
        return self.get_arguments()[name]

    @property
    def path(self):
        return f"{self.ref}.{self.__name__}"

    def proceed(self):
        return self.func(*self.args, **self.kwargs)


class Hooks:
    """A file of a folder of contracts."""

    def __init__(self, hub, source, name):
        self._hub, self.source, self.name = hub, source, name
        self.order = getattr(source, "__order__", None)
        if self.order is not None and -1 < int(self.order) < 1:
            raise ValueError("`__order__` of a contract must not be 0")

    @property
    def __name__(self):
        return self.name

    def __getattr__(self, name):
        return getattr(self.source, name)

    def find(self, kind, function):
        found = []
        for name in (f"{kind}_{function}", kind):
            hook = getattr(self.source, name, None)
            if inspect.isfunction(hook):
                found.append(lambda call, hook=hook: hook(self._hub, call))
        return found

    def signatures(self):
        return {
            name[len("sig_") :]: value
            for name, value in vars(self.source).items()
            if name.startswith("sig_") and inspect.isfunction(value)
        }


class Ours:
    """A contract that ships. The method `post_present` is its hook of that name."""

    order = None

    def __init__(self, hub):
        self._hub = hub

    def find(self, kind, function):
        found = [getattr(self, name, None) for name in (f"{kind}_{function}", kind)]
        return [hook for hook in found if hook]

    def signatures(self):
        return {}


class Resource(Ours):
    """`resource`: what a state answers is complete, and its changes are those of its states."""

    name = "resource"

    def post_present(self, call):
        answer = call.ret
        if not isinstance(answer, dict):
            raise TypeError(f"{call.path} returned {type(answer).__name__}, not a dict")
        answer.setdefault("name", call.get_arguments().get("name"))
        for key in ("result", "comment"):
            if key not in answer:
                raise KeyError(f"{call.path} returned no `{key}`")
        answer["comment"] = list(lines(answer["comment"]))
        if answer.get("changes") is None:
            states = [answer.get("old_state"), answer.get("new_state")]
            is_plain = all(not state or isinstance(state, dict) for state in states)
            computed = changes.computed_of(call.signature)
            answer["changes"] = changes.between(*states, computed) if is_plain else {}
        return answer

    post_absent = post_present

    def post_describe(self, call):
        """`{NAME: {"cloud.vm.present": [{…}, …]}}`"""
        for name, states in (call.ret or {}).items():
            for ref, arguments in states.items():
                if not isinstance(arguments, list) or not all(
                    isinstance(one, dict) for one in arguments
                ):
                    raise TypeError(
                        f"{call.path}: `{ref}` of `{name}` must be a list of dicts of arguments"
                    )
        return call.ret


def lines(comment):
    """A comment of any form, lists within lists too, without what says nothing."""
    if isinstance(comment, (list, tuple, set, frozenset)):
        for one in comment:
            yield from lines(one)
    elif comment is not None and comment != "" and comment != {}:
        yield comment


class SoftFail(Ours):
    """`soft_fail`: an exception of the function is an answer."""

    name = "soft_fail"

    def call(self, call):
        try:
            answer = call.proceed()
        except (NotReady, Throttled):
            raise
        except Exception as error:
            return self._failure(call, error)
        return self._wait(call, answer) if inspect.isawaitable(answer) else answer

    async def _wait(self, call, answer):
        try:
            return await unwrapped(answer)
        except (NotReady, Throttled):
            raise
        except Exception as error:
            return self._failure(call, error)

    def _failure(self, call, error):
        answer = {"result": False, "comment": [f"{type(error).__name__}: {error}"]}
        if not call.ref.startswith("states"):
            return {**answer, "ret": None}
        name = call.kwargs.get("name")
        return {**answer, "changes": {}, "name": name, "old_state": None, "new_state": None}


class ExecReturn(NamespaceDict):
    """What an exec function answers: `result`, `ret`, `comment` (a list), `ref`; true if it went well."""

    def __init__(self, hub=None, result=None, ret=None, comment=None, ref="", **more):
        if not isinstance(result, bool):
            raise ValueError("`result` of an exec function must be True or False")
        if not isinstance(ref, str):
            raise ValueError("`ref` of an exec function must be a string")
        super().__init__(result=result, ret=ret, comment=list(lines(comment)), ref=ref, **more)

    def __bool__(self):
        return bool(self["result"])


def returned(value, ref):
    """The answer of an exec function as callers find it. What has no `result` stays what it is."""
    if isinstance(value, ExecReturn) or not isinstance(value, dict):
        return value
    if isinstance(value.get("result"), bool):
        return ExecReturn(**{"ref": ref, **value})
    return value if isinstance(value, NamespaceDict) else NamespaceDict(value)


class Returned(Ours):
    """What an exec function answers has its keys as attributes, too."""

    name = "init"

    def post(self, call):
        name = getattr(call.func, "__name__", call.__name__)
        return returned(call.ret, f"{call.ref}.{name}")


_SHIPPED = {"resource": Resource, "soft_fail": SoftFail}


def around(hub, module):
    """The contracts of a module in their order, and the names that nobody knows."""
    folder = module.path.rsplit(".", 1)[0]
    names = [*module.path_names, "init", *hub._defaults.get(folder, ())]
    made, known = [], set()

    def take(where, names):
        for name in names:
            for source in hub._hooks.get(f"{where}.{name}", ()):
                known.add(name)
                if all(getattr(one, "source", None) is not source for one in made):
                    made.append(Hooks(hub, source, name))

    names += [name for name in module.contracts if name not in names]
    take(f"{folder}.contracts", names)
    above = folder
    while above:
        take(f"{above}.recursive_contracts", names)
        above = above.rpartition(".")[0]
    for name in module.contracts:
        if name in _SHIPPED and not (name == "resource" and module.part != "states"):
            made.append(_SHIPPED[name](hub))
        elif name not in known and name not in ("auto_state", "resource"):
            found = _above(folder, name, hub._hooks)
            made += [Hooks(hub, source, name) for source in found]
            known |= {name} if found else set()
    if module.part == "exec":
        made.append(Returned(hub))
    unknown = set(module.contracts) - known - {"auto_state", *_SHIPPED}
    return ordered(made), sorted(unknown)


def around_path(hub, folder):
    """The contracts around everything at a place: recursive ones called `init`."""
    part, made = folder.split(".")[0], []
    while folder:
        for source in hub._hooks.get(f"{folder}.recursive_contracts.init", ()):
            made.append(Hooks(hub, source, "init"))
        folder = folder.rpartition(".")[0]
    return ordered([*made, *([Returned(hub)] if part == "exec" else [])])


def _above(folder, name, files):
    """A contract that is named may also stand in a folder above."""
    while folder:
        found = files.get(f"{folder}.contracts.{name}")
        if found:
            return found
        folder = folder.rpartition(".")[0]
    return []


def ordered(found):
    first = sorted((one for one in found if (one.order or 0) > 0), key=lambda one: one.order)
    last = sorted((one for one in found if (one.order or 0) < 0), key=lambda one: one.order)
    made = [*first, *(one for one in found if one.order is None), *last]
    names = tuple(one.name for one in made)
    for one in made:
        verify = getattr(getattr(one, "source", None), "__verify_order__", None)
        verdict = verify(one._hub, names) if verify else True
        is_good, why = verdict if isinstance(verdict, tuple) else (verdict, "")
        if not is_good:
            raise ValueError(f"the contract `{one.name}` refuses its order: {why}".rstrip(": "))
    return made


def check_signatures(module):
    """Error: a function is not as a contract says that it is."""
    if module.path.endswith(".init"):
        return
    wrong = []
    for contract in module.around:
        for name, wanted in contract.signatures().items():
            if name not in module.functions:
                wrong.append(f"the function `{name}` is missing")
            else:
                wrong += signatures.differences(name, module.functions[name].func, wanted)
    if wrong:
        raise exceptions.ContractSigException("; ".join(wrong))


def _hooks(contracts, kind, call):
    found = [hook for contract in contracts for hook in contract.find(kind, call.__name__)]
    return found[::-1] if kind == "post" else found


def check(path, verdict):
    """`False` or `(False, "why")` of a `pre` refuses the call of a function."""
    is_good, why = verdict if isinstance(verdict, tuple) and len(verdict) == 2 else (verdict, "")
    if is_good is False:
        raise ContractError(f"{path} is refused by a contract: {why}".rstrip(": "))


def run(contracts, call):
    """Calls a plain function; one that answers with a coroutine is awaited by who called it."""
    for hook in _hooks(contracts, "pre", call):
        check(call.path, hook(call))
    hooks = _hooks(contracts, "call", call)
    call.ret = hooks[0](call) if hooks else call.proceed()
    if inspect.isawaitable(call.ret):
        return _finish_later(contracts, call)
    for hook in _hooks(contracts, "post", call):
        answer = hook(call)
        call.ret = call.ret if answer is None else answer
    return call.ret


async def unwrapped(answer):
    while inspect.isawaitable(answer):
        answer = await answer
    return answer


async def _finish_later(contracts, call):
    call.ret = await unwrapped(call.ret)
    for hook in _hooks(contracts, "post", call):
        answer = await unwrapped(hook(call))
        call.ret = call.ret if answer is None else answer
    return call.ret


async def run_async(contracts, call):
    for hook in _hooks(contracts, "pre", call):
        check(call.path, await unwrapped(hook(call)))
    hooks = _hooks(contracts, "call", call)
    call.ret = hooks[0](call) if hooks else call.proceed()
    return await _finish_later(contracts, call)


async def run_generator(contracts, call):
    """What an asynchronous generator yields passes; `post` sees the last of it."""
    for hook in _hooks(contracts, "pre", call):
        check(call.path, await unwrapped(hook(call)))
    patient = [one for one in contracts if not isinstance(one, SoftFail)]
    hooks = _hooks(patient, "call", call)
    async for chunk in hooks[0](call) if hooks else call.proceed():
        call.ret = chunk
        yield chunk
    for hook in _hooks(contracts, "post", call):
        answer = await unwrapped(hook(call))
        call.ret = call.ret if answer is None else answer
