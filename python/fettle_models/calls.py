"""Loads modules and calls plugins."""

import os
import sys
import time

from fettle_models import channel, describe, facts, modules, registry, values

_CONTEXTS = {}


def load(server, request):
    """What each module has, or why it cannot be loaded."""
    found = {}
    for module in request["load"]:
        problem = server.loader.load(module)
        told = {"plugins": [describe.told(one) for one in registry.plugins_of(module)]}
        if problem is not None:
            told["problem"] = problem
        found[module] = told
    return {"modules": found}


# After this time, the results so far are told: the limit on time is one for each message.
_LONG = 1.0


def answer_calls(server, request):
    results = []
    end = time.monotonic() + _LONG
    for number, call in enumerate(request["calls"]):
        channel.current.about = number
        results.append(_answer(server, call))
        if time.monotonic() > end:
            break
    return {"results": results}


def _answer(server, call):
    """The result of one call: a value, or why there is none."""
    values.reads.clear()
    values.begin_answer()
    made = _result(server, call)
    if values.reads:
        made["reads"] = [list(one) for one in values.reads]
    return made


def _result(server, call):
    try:
        return {"result": values.told(_call(server, call))}
    except (values.UnsetException, values.MultiUnsetException):
        return {"unset": True}
    except values.UnknownException:
        return {"unknown": True}
    except values.PluginException as error:
        return {"told": error.message}
    except BaseException as error:
        if not channel.current.is_ours():
            os._exit(0)
        return {"failed": modules.text_of(error), "trace": modules.trace_of(error)}


def _call(server, call):
    plugin = registry.plugins.get(call["plugin"])
    if plugin is None:  # this process has taken the place of one that ended
        if call["plugin"] == "std::getfact":
            facts.register()
        else:
            server.loader.load(call["plugin"].split("::", 1)[0])
        plugin = registry.plugins[call["plugin"]]
    description = describe.of(plugin)
    if plugin.deprecated:
        _warn_deprecated(plugin)
    if plugin.commands:
        _check_commands(plugin)
    given = [
        description.argument(index, value) for index, value in enumerate(call.get("args", ()))
    ]
    named = {name: description.named(name, value) for name, value in call.get("named", {}).items()}
    context = None
    if description.context is not None:
        context = _context(server, plugin)
        if description.context < 0:
            named[description.context_name] = context
        elif len(given) < description.context:
            named[description.context_name] = context
        else:
            given.insert(description.context, context)
    returned = plugin.run(*given, **named)
    return _emitted(plugin, context) if plugin.emits_statements else returned


def _emitted(plugin, context):
    """The value that a plugin has set; what it returns means nothing."""
    if context is None or not context.result.hasValue:
        raise Exception(
            f"{plugin.short_name} is declared with emits_statements, so it gives no value but by "
            "`Context.result.set_value`, which it did not call"
        )
    return context.result.get_value()


def _check_commands(plugin):
    from shutil import which

    for command in plugin.commands:
        if which(command) is None:
            raise Exception(f"{plugin.short_name} requires {command} to be available in $PATH")


def _context(server, plugin):
    known = _CONTEXTS.get(plugin.full_name)
    if known is None:
        from inmanta.plugins import Context

        known = Context(server, plugin)
        if not plugin.emits_statements:  # else it is of one call
            _CONTEXTS[plugin.full_name] = known
    return known


def _warn_deprecated(plugin):
    text = f"Plugin '{plugin.full_name}' is deprecated."
    if plugin.replaced_by:
        text += f" It should be replaced by '{plugin.replaced_by}'."
    channel.ask(warn=text)


def match(server, request):
    """Whether a pattern matches from the start of a text."""
    import re

    pattern, text = request["match"]
    try:
        return {"matches": re.match(pattern, text) is not None}
    except re.error as error:
        return {"wrong": str(error)}


def finalize(server, request):
    """Calls what modules have registered for the end of the compile."""
    compiler = sys.modules.get("inmanta.compiler")
    return {"wrong": [] if compiler is None else compiler.Finalizers.call_finalizers()}
