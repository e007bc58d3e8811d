"""What templates get in place of instances, lists and dicts: an attribute without a value is
undefined there, instead of an error. Modules render templates themselves, and extend these classes.
"""

from fettle_models import values
from fettle_models.values import DictProxy, DynamicProxy, OptionalValueException, SequenceProxy


class JinjaDynamicProxy(DynamicProxy):
    def __init__(self, instance):
        DynamicProxy.__init__(self, instance._held, instance._takes_references)

    @classmethod
    def return_value(cls, value, *, context=None):
        """A value as a template gets it."""
        if values._is_reference(value):
            raise values.PluginException(
                f"Encountered reference in Jinja template for variable {value!r}"
            )
        return cls.wrap(super().return_value(value, context=context))

    @classmethod
    def wrap(cls, value):
        if isinstance(value, JinjaDynamicProxy) or not isinstance(value, DynamicProxy):
            return value
        for plain, made_of in _CLASSES:
            if isinstance(value, plain):
                return made_of(value)

    def _return_value(self, value, *, relative_path=""):
        return self.wrap(DynamicProxy._return_value(self, value, relative_path=relative_path))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self.wrap(DynamicProxy.__getattr__(self, name))
        except (AttributeError, OptionalValueException):
            from jinja2 import Undefined

            return Undefined(f"variable {name} not set on {self._held!r}", self._held, name)


class JinjaSequenceProxy(SequenceProxy, JinjaDynamicProxy):
    def __getitem__(self, key):
        found = SequenceProxy.__getitem__(self, key)
        return [self.wrap(one) for one in found] if isinstance(key, slice) else self.wrap(found)

    def __iter__(self):
        return (self.wrap(one) for one in SequenceProxy.__iter__(self))

    __getattr__ = DynamicProxy.__getattr__


class JinjaDictProxy(DictProxy, JinjaDynamicProxy):
    def __getitem__(self, key):
        return self.wrap(DictProxy.__getitem__(self, key))

    __getattr__ = DynamicProxy.__getattr__


_CLASSES = (
    (SequenceProxy, JinjaSequenceProxy),
    (DictProxy, JinjaDictProxy),
    (DynamicProxy, JinjaDynamicProxy),
)
