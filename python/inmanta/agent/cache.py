"""What `@cache` keeps between calls of handlers in one process."""

import threading
import time


class CacheItem:
    def __init__(self, value, created_limit, access_limit, call_on_delete):
        self.value = value
        self._access_limit = access_limit
        self._ends = time.monotonic() + created_limit if created_limit > 0 else None
        self._call_on_delete = call_on_delete
        self._seen = time.monotonic()

    def is_stale(self):
        now = time.monotonic()
        if self._ends is not None:
            return now >= self._ends
        return self._access_limit > 0 and now - self._seen >= self._access_limit

    def get(self):
        self._seen = time.monotonic()
        return self.value

    def delete(self):
        if self._call_on_delete is not None:
            self._call_on_delete(self.value)


class AgentCache:
    """A process with other code is another process, so the version of a model is no part of a
    key."""

    usual_access_limit = 60.0  # seconds

    def __init__(self, agent_instance=None):
        self._items = {}
        self._lock = threading.RLock()

    def close(self):
        with self._lock:
            items, self._items = self._items, {}
        for item in items.values():
            item.delete()

    def is_open(self, *_):
        return True

    @staticmethod
    def _key(key, resource):
        return key if resource is None else f"{resource.id.resource_str()}__{key}"

    def cache_value(
        self,
        key,
        value,
        resource=None,
        timeout=None,
        call_on_delete=None,
        for_version=None,
        evict_after_creation=0.0,
        evict_after_last_access=0.0,
        **_,
    ):
        created = evict_after_creation or timeout or 0
        if not created and for_version is False:
            created = 5000.0
        access = evict_after_last_access or (0 if created else self.usual_access_limit)
        with self._lock:
            self._items[self._key(key, resource)] = CacheItem(
                value, created, access, call_on_delete
            )

    def find(self, key, resource=None, **_):
        with self._lock:
            item = self._items.get(self._key(key, resource))
            if item is not None and item.is_stale():
                self._items.pop(self._key(key, resource)).delete()
                item = None
            if item is None:
                raise KeyError(key)
            return item.get()

    def get_or_else(
        self,
        key,
        function,
        for_version=None,
        timeout=None,
        ignore=frozenset(),
        cache_none=True,
        call_on_delete=None,
        evict_after_creation=0.0,
        evict_after_last_access=0.0,
        **kwargs,
    ):
        """What is kept under the key and the arguments, or else what the function returns."""
        seen = {name: value for name, value in kwargs.items() if name not in ignore}
        resource = seen.pop("resource", None)
        seen.pop("version", None)
        made_key = ",".join([key] + [repr((name, seen[name])) for name in sorted(seen)])
        with self._lock:
            try:
                return self.find(made_key, resource)
            except KeyError:
                value = function(**kwargs)
            if cache_none or value is not None:
                self.cache_value(
                    made_key,
                    value,
                    resource,
                    timeout,
                    call_on_delete,
                    for_version,
                    evict_after_creation,
                    evict_after_last_access,
                )
            return value
