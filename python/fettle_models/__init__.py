"""Serves the Python of models to fettle, over lines of JSON. docs/plugins.md is the manual.

serve.py     answers requests by a table
channel.py   lines in, lines out; what is asked of the compile meanwhile
modules.py   finds the Python of modules: `inmanta_plugins.NAME`
registry.py  the plugins that modules define
describe.py  what the compile is told of them: their parameters in types of models
calls.py     calls plugins
std.py       what modules import of `std`
values.py    values of a model as plugins see them, and back

The package `inmanta` beside this one is what plugins import. It has what they use, and takes what
it lacks from the real one, if that is installed.
"""
