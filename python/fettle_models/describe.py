"""What the compile is told of a plugin: its parameters and its result in types of models.

The compile checks arguments and results against them, with the errors of the original. Defaults
stay here: an argument that is not given is not passed on.
"""

import __future__
import ast
import collections.abc
import dataclasses
import inspect
import numbers
import sys
import types
import typing

from fettle_models import values

_NAMES = {
    str: "string",
    float: "float",
    numbers.Number: "number",
    int: "int",
    bool: "bool",
    dict: "dict",
    collections.abc.Mapping: "dict",
    list: "list",
    collections.abc.Sequence: "list",
    object: "object",
    typing.Any: "object",
    type(None): "null",
    None: "null",
}
_UNIONS = {typing.Union, getattr(types, "UnionType", typing.Union)}
_FUTURE_ANNOTATIONS = __future__.annotations.compiler_flag  # of code whose annotations are texts


class ModelType:
    """`Annotated[Any, ModelType["std::Host"]]`: a type in the words of models."""

    def __init__(self, model_type):
        self.model_type = model_type

    def __class_getitem__(cls, model_type):
        return cls(model_type)


class BadAnnotation(Exception):
    pass


def _is_context(annotation):
    plugins = sys.modules.get("inmanta.plugins")
    return plugins is not None and annotation is plugins.Context


class Description:
    def __init__(self, plugin):
        self.plugin = plugin
        self.context = None  # the position of the parameter that gets the context; -1: by name
        self.context_name = None
        self.parameters = []  # {"name", "type", "default", "kind"}
        self._makers = {}  # of parameters whose values become something else
        self._positions = []
        self._rest = None
        self.problem = None
        try:
            self._read(plugin.function)
        except BadAnnotation as error:
            self.problem = str(error)

    def _read(self, function):
        for parameter in inspect.signature(function).parameters.values():
            annotation = self._annotation(function, parameter)
            if _is_context(annotation):
                is_named = parameter.kind is parameter.KEYWORD_ONLY
                self.context = -1 if is_named else len(self._positions)
                self.context_name = parameter.name
                continue
            kind = {
                parameter.KEYWORD_ONLY: "named",
                parameter.VAR_POSITIONAL: "rest",
                parameter.VAR_KEYWORD: "named_rest",
            }.get(parameter.kind, "any")
            self.parameters.append(
                {
                    "name": parameter.name,
                    "type": self.type_text(annotation, parameter.name),
                    "default": parameter.default is not parameter.empty,
                    "kind": kind,
                }
            )
            self._note(parameter.name, annotation)
            if kind == "any":
                self._positions.append(parameter.name)
            elif kind == "rest":
                self._rest = parameter.name
        returned = self._evaluated(function, function.__annotations__.get("return", typing.Any))
        self.returns = self.type_text(returned, "return value")

    def _annotation(self, function, parameter):
        if parameter.annotation is parameter.empty:
            raise BadAnnotation(
                f"All arguments of plugin '{self.plugin.full_name}' should be annotated: "
                f"'{parameter.name}' has no annotation"
            )
        return self._evaluated(function, parameter.annotation)

    def _evaluated(self, function, annotation):
        """In a file that delays annotations, texts are Python; else they are types of models."""
        code = getattr(inspect.unwrap(function), "__code__", None)
        if not isinstance(annotation, str) or not code or not code.co_flags & _FUTURE_ANNOTATIONS:
            return annotation
        try:
            return ast.literal_eval(annotation)
        except (ValueError, SyntaxError):
            pass
        try:
            return eval(annotation, inspect.unwrap(function).__globals__)
        except Exception as error:
            raise BadAnnotation(
                f"Bad annotation in plugin {self.plugin.full_name}: {annotation}: {error}"
            ) from error

    def _note(self, name, annotation):
        made = _dataclass_in(annotation, self.plugin.module)
        if made is not None:
            self._makers[name] = made

    def type_text(self, annotation, name):
        """The type as models spell it. `any` takes no references, which `object` says to them."""
        annotation = _followed(annotation)
        if isinstance(annotation, str):
            return "object" if annotation == "any" else annotation
        if isinstance(annotation, typing.Hashable) and annotation in _NAMES:
            return _NAMES[annotation]
        origin, given = typing.get_origin(annotation), typing.get_args(annotation)
        if hasattr(annotation, "__metadata__"):
            return self._annotated(annotation, name)
        if origin in _UNIONS:
            return " | ".join(self.type_text(one, name) for one in given)
        if annotation in _UNIONS:
            raise BadAnnotation(f"Union type must be subscripted, got {annotation}")
        if origin is typing.Literal:
            return f"Literal[{', '.join(_literal(one) for one in given)}]"
        if origin is not None and inspect.isclass(origin):
            return self._container(annotation, origin, given, name)
        if inspect.isclass(annotation):
            return self._class(annotation)
        raise BadAnnotation(
            f"Bad annotation in plugin {self.plugin.full_name} for {name}, expected str or python "
            f"type but got {type(annotation).__name__} ({annotation})"
        )

    def _annotated(self, annotation, name):
        for one in reversed(annotation.__metadata__):
            if isinstance(one, ModelType):
                return one.model_type
        return self.type_text(annotation.__origin__, name)

    def _container(self, annotation, origin, given, name):
        if origin.__name__ == "Reference":
            return f"Reference[{self.type_text(given[0], name)}]" if given else "Reference"
        if issubclass(origin, collections.abc.Mapping):
            if origin not in (dict, collections.abc.Mapping):
                raise BadAnnotation(
                    f"invalid type {annotation}, dictionary types should be Mapping or dict"
                )
            if given and not (inspect.isclass(given[0]) and issubclass(given[0], str)):
                raise BadAnnotation(
                    f"invalid type {annotation}, the keys of any dict should be 'str', got "
                    f"{given[0]} instead"
                )
            return f"dict[string, {self.type_text(given[1], name)}]" if len(given) > 1 else "dict"
        if issubclass(origin, collections.abc.Sequence):
            if origin not in (list, collections.abc.Sequence):
                raise BadAnnotation(
                    f"invalid type {annotation}, list types should be Sequence or list"
                )
            return f"list[{self.type_text(given[0], name)}]" if given else "list"
        if issubclass(origin, collections.abc.Set):
            raise BadAnnotation(
                f"invalid type {annotation}, set is not supported on the plugin boundary"
            )
        return "object"

    def _class(self, annotation):
        if _is_entity_class(annotation):
            return values.entity_name(annotation)
        references = sys.modules.get("inmanta.references")
        if references is not None and issubclass(annotation, references.Reference):
            element = annotation.get_reference_type()
            is_open = element is None or isinstance(element, typing.TypeVar)
            return "Reference" if is_open else f"Reference[{self.type_text(element, 'reference')}]"
        return "object"

    def argument(self, index, value):
        name = self._positions[index] if index < len(self._positions) else self._rest
        return self.named(name, value)

    def named(self, name, value):
        made = values.wrapped_argument(value, self.plugin.allow_unknown)
        maker = self._makers.get(name)
        return made if maker is None else _as_dataclass(maker, made)


_ALIAS = getattr(typing, "TypeAliasType", ())


def _followed(annotation):
    """What an alias stands for: `type Hosts = list[str]`, `type Many[T] = list[T]`."""
    while _ALIAS and isinstance(annotation, _ALIAS):
        annotation = annotation.__value__
    if _ALIAS and isinstance(typing.get_origin(annotation), _ALIAS):
        return _followed(typing.get_origin(annotation).__value__[typing.get_args(annotation)])
    return annotation


def _literal(value):
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    return str(value)


def _is_entity_class(annotation):
    return dataclasses.is_dataclass(annotation) and annotation.__module__.startswith(
        "inmanta_plugins."
    )


def _dataclass_in(annotation, module):
    """The dataclass that an annotation names, be it optional or the items of a list."""
    annotation = _followed(annotation)
    if isinstance(annotation, str):
        return _dataclass_named(annotation, module)
    if inspect.isclass(annotation):
        return annotation if _is_entity_class(annotation) else None
    if hasattr(annotation, "__metadata__"):
        if annotation.__origin__ is values.DynamicProxy:  # it is to stay an instance
            return None
        for one in reversed(annotation.__metadata__):
            if isinstance(one, ModelType):
                return _dataclass_named(one.model_type, module)
    found = [_dataclass_in(one, module) for one in typing.get_args(annotation)]
    return next((one for one in found if one is not None), None)


def _dataclass_named(type_name, module):
    """The dataclass that belongs to an entity, `m::Route[]`."""
    *parts, name = type_name.rstrip("[]?").strip("()").split("::")
    source = sys.modules.get(".".join(["inmanta_plugins", *(parts or [module])]))
    made = getattr(source, name, None) if name.isidentifier() else None
    return made if inspect.isclass(made) and _is_entity_class(made) else None


def _as_dataclass(maker, value):
    if isinstance(value, values.SequenceProxy):
        return [_as_dataclass(maker, one) for one in value]
    if not isinstance(value, values.DynamicProxy) or isinstance(value, values.DictProxy):
        return value
    fields = {one.name: getattr(value, one.name) for one in dataclasses.fields(maker)}
    return maker(**{name: _plain(one) for name, one in fields.items()})


def _plain(value):
    if isinstance(value, values.SequenceProxy):
        return [_plain(one) for one in value]
    if isinstance(value, values.DictProxy):
        return {key: _plain(one) for key, one in value.items()}
    return value


def type_text(annotation, name):
    """The type that an annotation of something else than a plugin says."""
    description = Description.__new__(Description)
    description.plugin = types.SimpleNamespace(full_name=name, module="")
    return description.type_text(annotation, name)


def of(plugin):
    if plugin.described is None:
        plugin.described = Description(plugin)
    return plugin.described


def told(plugin):
    """As it goes over the channel."""
    made = of(plugin)
    line = {"name": plugin.full_name, "allow_unknown": plugin.allow_unknown}
    if made.problem is not None:
        return {**line, "problem": made.problem}
    return {**line, "parameters": made.parameters, "returns": made.returns}
