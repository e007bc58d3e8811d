"""`hub.acct` and `hub.crypto`: credentials, and the plugins that make them.

acct/PROVIDER/NAME.py has a `gather`, which is given the profiles of its provider and answers others:
with a token that it fetched, say. acct/backend/NAME.py has an `unlock`, which answers profiles of all
providers; a profile below `acct-backends` asks for it.

The file of credentials is the host's. It tells the profiles of those providers that plugins here
make something of; all others are found by the host itself.
"""

import asyncio
import base64
import os
import re
import tempfile

from fettle_plugins import contracts
from fettle_plugins.maps import SafeNamespaceDict, update
from fettle_plugins.modules import add_module

BACKENDS = "acct-backends"
_PARTS = ("exec", "states", "tool", "esm", "source")


def add(hub):
    acct = hub._sub("acct")
    acct.PROFILES, acct.UNLOCKED, acct.DEFAULT = SafeNamespaceDict(), False, "default"
    acct.BACKEND_KEY, acct.SERIAL_PLUGIN = BACKENDS, "msgpack"
    _add_init(hub)
    _add_backend(hub)
    _add_crypto(hub)


def providers_of(hub, path):
    """The providers that a function's part says, or None: its first word stands for them."""
    name = path.split(".")[1 if path.split(".")[0] in ("exec", "states", "esm") else 0]
    found = {}
    for part in _PARTS:
        told = _told(hub, f"{part}.{name}")
        found.update(dict.fromkeys([told] if isinstance(told, str) else told or ()))
    return list(found) or None


def _told(hub, path):
    part = hub._parts.get(path.split(".")[0])
    for name in path.split(".")[1:]:
        part = part._parts.get(name) if part is not None else None
    if part is None:
        return None
    known = part._known("ACCT")
    init = part._parts.get("init")
    return known if known is not None or init is None else init._known("ACCT")


def makes_profiles(hub, providers):
    """Whether plugins have a say about the profiles of providers."""
    acct = hub._parts["acct"]
    has_backends = any(name not in ("init", "contracts") for name in _modules(acct, "backend"))
    return has_backends or any(_modules(acct, provider) for provider in providers)


def _modules(acct, name):
    part = acct._parts.get(name)
    return {} if part is None else part._loaded


async def profile_of(hub, providers, name, profiles, is_declared):
    """The profile of a name, as plugins make it. Error: none of the providers has it."""
    found = await hub.acct.init.gather(providers, name, profiles=profiles, hard_fail=True)
    demand(found, providers, name, profiles, is_declared)
    return found


def demand(found, providers, name, profiles, is_declared):
    """Error: none of the providers has the profile of a name.

    A module that declares no providers may need no credentials: it goes without if there are none.
    """
    if found or not name:
        return
    known = sorted({one for provider in providers for one in profiles.get(provider, {})})
    if known:
        raise ConnectionError(f"there is no profile `{name}`, only {', '.join(map(str, known))}")
    if is_declared:
        raise ConnectionError(f"no profiles are found for {', '.join(providers)}")


def _failed(hub, text, error, is_hard):
    hub.log.error("%s: %s: %s", text, type(error).__name__, error)
    if is_hard:
        raise error


def _add_init(hub):
    async def profiles_(
        hub,
        acct_file,
        acct_key=None,
        crypto_plugin="fernet",
        render_pipe="yaml",
        allowed_backend_profiles=None,
        hard_fail=False,
    ):
        """What is in a file, with what backends add to it."""
        found = await hub.crypto.init.decrypt_file(
            crypto_plugin=crypto_plugin,
            acct_file=acct_file,
            acct_key=acct_key,
            render_pipe=render_pipe,
        )
        found = found or {}
        more = await hub.acct.backend.init.unlock(
            profiles=found, allowed_backend_profiles=allowed_backend_profiles, hard_fail=hard_fail
        )
        return update(found, more)

    async def unlock(
        hub, acct_file, acct_key=None, crypto_plugin="fernet", render_pipe="yaml", hard_fail=False
    ):
        """Keeps what is in a file as `hub.acct.PROFILES`."""
        if hub.acct.UNLOCKED:
            return
        found = await hub.acct.init.profiles(
            acct_file, acct_key, crypto_plugin, render_pipe=render_pipe, hard_fail=hard_fail
        )
        hub.acct.BACKEND_KEY = found.pop("backend_key", hub.acct.BACKEND_KEY)
        hub.acct.DEFAULT = found.pop("default", hub.acct.DEFAULT)
        update(hub.acct.PROFILES, found)
        hub.acct.UNLOCKED = True

    async def unlock_blob(
        hub,
        acct_file_contents,
        acct_key,
        crypto_plugin="fernet",
        backend_key=None,
        default_profile=None,
        allowed_backend_profiles=None,
        hard_fail=False,
    ):
        found = await hub.crypto.init.decrypt(
            plugin=crypto_plugin, data=acct_file_contents, key=acct_key
        )
        backend_key = backend_key or found.get("backend_key", hub.acct.BACKEND_KEY)
        default_profile = default_profile or found.get("default", hub.acct.DEFAULT)
        more = await hub.acct.backend.init.unlock(
            profiles=found,
            backend_key=backend_key,
            allowed_backend_profiles=allowed_backend_profiles,
            hard_fail=hard_fail,
        )
        return SafeNamespaceDict(
            default_profile=default_profile,
            backend_key=backend_key,
            profiles=update(found, more),
            sub_profiles=None,
        )

    async def single(hub, profile_name, subs, sub_profiles=None, profiles=None):
        found = {}
        for sub in subs or ():
            known = (profiles or {}).get(sub, {})
            if profile_name not in known:
                continue
            if found:
                raise ValueError(f"several of {', '.join(subs)} have a profile `{profile_name}`")
            found = SafeNamespaceDict(known[profile_name])
        return found

    async def gather(
        hub,
        subs,
        profile,
        profiles=None,
        sub_profiles=None,
        allowed_backend_profiles=None,
        hard_fail=False,
    ):
        if profiles is None:
            profiles = hub.acct.PROFILES if hub.acct.UNLOCKED else {}
        more = await hub.acct.backend.init.unlock(
            profiles, allowed_backend_profiles=allowed_backend_profiles, hard_fail=hard_fail
        )
        update(profiles, more)
        update(profiles, (hub.OPT.get("acct") or {}).get("overrides") or {})
        update(profiles, await hub.acct.init.process(subs, profiles, hard_fail=hard_fail))
        return await hub.acct.init.single(profile_name=profile, subs=subs, profiles=profiles)

    async def process(hub, subs, profiles, hard_fail=False):
        """What the plugins of providers make of the profiles of these."""
        made, waited = SafeNamespaceDict(), []
        for sub in subs:
            modules = _modules(hub.acct, sub)
            if not modules:
                continue
            made[sub] = {}
            for name in sorted(modules):
                function = modules[name]._funcs.get("gather")
                if function is not None:
                    waited.append(_gathered(hub, sub, name, function, profiles, hard_fail))
        for sub, found in await asyncio.gather(*waited):
            made[sub].update(found or {})
        return made

    add_module(
        hub,
        "acct.init",
        __file__,
        {"profiles_": "profiles"},
        profiles_=profiles_,
        unlock=unlock,
        unlock_blob=unlock_blob,
        single=single,
        gather=gather,
        process=process,
    )


async def _gathered(hub, sub, name, function, profiles, is_hard):
    arguments = {}
    if "profiles" in function.signature.parameters:
        wanted = re.compile(f"{re.escape(sub)}(\\.{re.escape(name)})?$")
        arguments["profiles"] = {key: one for key, one in profiles.items() if wanted.match(key)}
    try:
        return sub, await contracts.unwrapped(function(**arguments))
    except Exception as error:
        _failed(hub, f"profiles of acct.{sub}.{name}", error, is_hard)
        return sub, {}


def _add_backend(hub):
    async def unlock(
        hub, profiles, backend_key=None, allowed_backend_profiles=None, hard_fail=False
    ):
        backend_key = backend_key or profiles.get("backend_key", hub.acct.BACKEND_KEY)
        found = {}
        for backend, told in (profiles.get(backend_key) or {}).items():
            if backend not in _modules(hub.acct, "backend"):
                raise LookupError(f"there is no backend `{backend}` of credentials")
            for name, arguments in told.items():
                if allowed_backend_profiles and name not in allowed_backend_profiles:
                    continue
                try:
                    answer = hub.acct.backend[backend].unlock(**arguments)
                    update(found, await contracts.unwrapped(answer) or {})
                except Exception as error:
                    _failed(hub, f"the backend `{backend}`", error, hard_fail)
        return found

    add_module(hub, "acct.backend.init", __file__, unlock=unlock)

    async def gather(hub, profile, providers, hard_fail=False):
        for provider in providers:
            if provider not in _modules(hub.acct, "metadata"):
                continue
            try:
                return await contracts.unwrapped(hub.acct.metadata[provider].gather(profile))
            except Exception as error:
                _failed(hub, f"metadata of `{provider}`", error, hard_fail)
        return {}

    add_module(hub, "acct.metadata.init", __file__, gather=gather)


def _write_private(file, data):
    """Whole or not at all: what is there may be the only copy. Nobody else can read it."""
    file = os.path.realpath(file)
    number, beside = tempfile.mkstemp(dir=os.path.dirname(file), prefix=".acct-")
    try:
        with open(number, "wb") as out:
            out.write(data)
        os.replace(beside, file)
    except BaseException:
        os.unlink(beside)
        raise


def _cryptography(name):
    try:
        import cryptography.fernet
        import cryptography.hazmat.primitives.ciphers.aead as ciphers

        return {"fernet": cryptography.fernet, "aead": ciphers}[name]
    except ImportError:
        raise ImportError("`hub.crypto` needs the Python package `cryptography`") from None


def _add_crypto(hub):
    async def generate_key(hub, plugin):
        return await contracts.unwrapped(hub.crypto[plugin].generate_key())

    async def encrypt(hub, plugin, data, key):
        return await contracts.unwrapped(hub.crypto[plugin].encrypt(data, key))

    async def decrypt(hub, plugin, data, key):
        return await contracts.unwrapped(hub.crypto[plugin].decrypt(data, key))

    async def encrypt_file(
        hub, crypto_plugin, acct_file, acct_key=None, output_file=None, render_pipe="yaml"
    ):
        data = await hub.rend.init.parse(acct_file, pipe=render_pipe)
        if acct_key is None:
            acct_key = await hub.crypto.init.generate_key(plugin=crypto_plugin)
        encrypted = await hub.crypto.init.encrypt(plugin=crypto_plugin, data=data, key=acct_key)
        file = output_file or f"{acct_file}.{crypto_plugin}"
        _write_private(file, encrypted)
        return acct_key

    async def decrypt_file(hub, crypto_plugin, acct_file, acct_key=None, render_pipe=None):
        if acct_key:
            with open(acct_file, "rb") as file:
                raw = file.read()
            return await hub.crypto.init.decrypt(plugin=crypto_plugin, data=raw, key=acct_key)
        found = await hub.rend.init.parse(acct_file, pipe=render_pipe)
        return SafeNamespaceDict(found) if isinstance(found, dict) else found

    def dump(hub, data):
        return _msgpack().packb(_plain(data), use_bin_type=True)

    def load(hub, raw):
        found = _msgpack().unpackb(raw, raw=False, strict_map_key=False)
        return SafeNamespaceDict(found) if isinstance(found, dict) else found or {}

    add_module(
        hub,
        "crypto.init",
        __file__,
        generate_key=generate_key,
        encrypt=encrypt,
        decrypt=decrypt,
        encrypt_file=encrypt_file,
        decrypt_file=decrypt_file,
        dump=dump,
        load=load,
    )
    _add_ciphers(hub)


def _add_ciphers(hub):
    def generate_key(hub):
        return _cryptography("fernet").Fernet.generate_key().decode()

    def encrypt(hub, data, key):
        return _cryptography("fernet").Fernet(key).encrypt(hub.crypto.init.dump(data))

    def decrypt(hub, data, key):
        return hub.crypto.init.load(_cryptography("fernet").Fernet(key).decrypt(data))

    add_module(
        hub, "crypto.fernet", __file__, generate_key=generate_key, encrypt=encrypt, decrypt=decrypt
    )

    def generate_gcm_key(hub):
        return base64.b64encode(os.urandom(32)).decode()

    def encrypt_gcm(hub, data, key):
        nonce = os.urandom(12)
        cipher = _cryptography("aead").AESGCM(base64.b64decode(key))
        return nonce + cipher.encrypt(nonce, hub.crypto.init.dump(data), None)

    def decrypt_gcm(hub, data, key):
        cipher = _cryptography("aead").AESGCM(base64.b64decode(key))
        return hub.crypto.init.load(cipher.decrypt(data[:12], data[12:], None))

    aliases = {
        "generate_gcm_key": "generate_key",
        "encrypt_gcm": "encrypt",
        "decrypt_gcm": "decrypt",
    }
    add_module(
        hub,
        "crypto.aesgcm256",
        __file__,
        aliases,
        generate_gcm_key=generate_gcm_key,
        encrypt_gcm=encrypt_gcm,
        decrypt_gcm=decrypt_gcm,
    )


def _msgpack():
    try:
        import msgpack

        return msgpack
    except ImportError:
        raise ImportError("`hub.crypto` needs the Python package `msgpack`") from None


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value


def scalars(value):
    """Every text and number in a profile: these are its secrets."""
    if isinstance(value, dict):
        for one in value.values():
            yield from scalars(one)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for one in value:
            yield from scalars(one)
    elif isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield str(value)


