"""What stands around functions of modules that name it in `__contracts__`."""

import inspect

from fettle_plugins.data import differences


class Resource:
    """`resource`: what a state answers is complete, and its changes are those of its states."""

    functions = {"present", "absent"}

    def after(self, function, bound, answer):
        name = bound.arguments.get("name")
        if not isinstance(answer, dict):
            raise TypeError(
                f"{function.ref}.{function.name} returned {type(answer).__name__}, not a dict"
            )
        answer.setdefault("name", name)
        for key in ("result", "comment"):
            if key not in answer:
                raise KeyError(f"{function.ref}.{function.name} returned no `{key}`")
        comment = answer["comment"]
        if comment is None or comment == "":
            answer["comment"] = []
        elif isinstance(comment, str):
            answer["comment"] = [comment]
        else:
            answer["comment"] = list(comment)
        if answer.get("changes") is None:
            states = [answer.get("old_state"), answer.get("new_state")]
            is_plain = all(not state or isinstance(state, dict) for state in states)
            answer["changes"] = differences(*states) if is_plain else {}
        return answer


class SoftFail:
    """`soft_fail`: an exception is an answer."""

    def failed(self, function, error):
        text = f"{type(error).__name__}: {error}"
        if function.module.part == "states":
            return {
                "result": False,
                "comment": [text],
                "changes": {},
                "old_state": None,
                "new_state": None,
            }
        return {"result": False, "comment": [text], "ret": None}


_known = {"resource": Resource, "soft_fail": SoftFail, "auto_state": None}


def unknown(names):
    return [name for name in names if name not in _known]


def around(names, part, function):
    """The contracts of one function, the outermost first."""
    made = []
    if "soft_fail" in names:
        made.append(SoftFail())
    if "resource" in names and part == "states" and function in Resource.functions:
        made.append(Resource())
    return made


def _settle(contracts, function, bound, answer):
    for contract in reversed(contracts):
        if hasattr(contract, "after"):
            answer = contract.after(function, bound, answer)
    return answer


def _fail(contracts, function, error):
    for contract in contracts:
        if hasattr(contract, "failed"):
            return contract.failed(function, error)
    raise error


def call(contracts, function, bound):
    try:
        answer = function.func(*bound.args, **bound.kwargs)
        if inspect.isawaitable(answer):
            return _settle_later(contracts, function, bound, answer)
        return _settle(contracts, function, bound, answer)
    except Exception as error:
        return _fail(contracts, function, error)


async def _settle_later(contracts, function, bound, answer):
    try:
        return _settle(contracts, function, bound, await answer)
    except Exception as error:
        return _fail(contracts, function, error)


async def call_async(contracts, function, bound):
    return await _settle_later(
        contracts, function, bound, function.func(*bound.args, **bound.kwargs)
    )
