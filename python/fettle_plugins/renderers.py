"""`hub.rend` and `hub.output`: files through pipes of renderers, and values as text.

Renderers take what packages of Python they need from where plugins run: PyYAML, Jinja2.
"""

import json
import pprint

from fettle_plugins import contracts
from fettle_plugins.modules import add_module


def add(hub):
    _add_init(hub)
    _add_renderers(hub)
    _add_outputs(hub)


def _pipe_of(pipe, where):
    if pipe is None:
        wanted = "give one, or write `#!jinja|yaml` on top"
        raise ValueError(f"{where} has no pipe of renderers: {wanted}")
    if isinstance(pipe, (str, bytes)):
        pipe = pipe.split("|" if isinstance(pipe, str) else b"|")
    return [(one.decode() if isinstance(one, bytes) else one).strip() for one in pipe]


def _add_init(hub):
    async def render(hub, data, renderer, params):
        try:
            module = hub.rend[renderer.strip()]
        except AttributeError:
            raise LookupError(f"there is no renderer `{renderer.strip()}`") from None
        return await contracts.unwrapped(module.render(data, params))

    async def through(data, pipe, params):
        for renderer in pipe:
            data = await render(hub, data, renderer, params or {})
        return data

    async def parse(hub, fn, pipe=None, params=None):
        with open(fn, "rb") as file:
            data = file.read().replace(b"\r", b"")
        if data.startswith(b"#!"):
            pipe = data[2:].split(b"\n", 1)[0]
        return await through(data, _pipe_of(pipe, fn), params)

    async def parse_bytes(hub, block, pipe=None, params=None):
        where = f"{block.get('fn')}:{block.get('ln')}"
        return await through(block.get("bytes"), _pipe_of(block.get("pipe", pipe), where), params)

    add_module(hub, "rend.init", __file__, render=render, parse=parse, parse_bytes=parse_bytes)


def _text(data):
    return data.decode() if isinstance(data, (bytes, bytearray)) else data


def _needed(name, package):
    try:
        return __import__(name)
    except ImportError:
        raise ImportError(f"`hub.rend` needs the Python package `{package}` for this") from None


def _add_renderers(hub):
    def render_yaml(hub, data, params=None):
        return _needed("yaml", "PyYAML").safe_load(_text(data))

    def render_json(hub, data, params=None):
        return json.loads(_text(data))

    def render_toml(hub, data, params=None):
        try:
            import tomllib
        except ImportError:
            tomllib = _needed("toml", "toml")
        return tomllib.loads(_text(data))

    def render_jinja(hub, data, params=None):
        """`hub` itself is not lent to templates, only its exec functions."""
        _needed("jinja2", "Jinja2")
        from jinja2.sandbox import SandboxedEnvironment

        class Lent:
            exec = hub.exec

        environment = SandboxedEnvironment(keep_trailing_newline=True)
        return environment.from_string(_text(data)).render(params=params or {}, hub=Lent())

    def render_nones(hub, data, params=None):
        """`__PYTHON_NONE__` is null."""
        if isinstance(data, dict):
            return {key: render_nones(hub, one) for key, one in data.items()}
        if isinstance(data, list):
            return [render_nones(hub, one) for one in data]
        if isinstance(data, str):
            return None if data == _NONE else data.replace(_NONE, "")
        return data

    for name, function in (
        ("yaml", render_yaml),
        ("json", render_json),
        ("toml", render_toml),
        ("jinja", render_jinja),
        ("replacements", render_nones),
    ):
        add_module(hub, f"rend.{name}", __file__, render=function)


_NONE = "__PYTHON_NONE__"


def _add_outputs(hub):
    def as_json(hub, data):
        return json.dumps(data, default=repr, indent=4)

    def as_yaml(hub, data):
        yaml = _needed("yaml", "PyYAML")
        return yaml.safe_dump(json.loads(json.dumps(data, default=str)))

    def as_raw(hub, data):
        return str(data)

    def as_pretty(hub, data):
        return pprint.pformat(data)

    for name, function in (
        ("json", as_json),
        ("yaml", as_yaml),
        ("raw", as_raw),
        ("pretty", as_pretty),
    ):
        add_module(hub, f"output.{name}", __file__, display=function)
