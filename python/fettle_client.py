"""Asks a server of fettle over HTTP: documents of its environments, and commands.

    from fettle import Client
    client = Client("http://127.0.0.1:9790", token="6f1d...")     # or Client(), by $FETTLE_SERVER or `fettle context use`
    for environment in client.environments():
        print(environment["name"], client.environments_environment_runs(environment=environment["name"])["runs"][:1])

    end = client.commands(words=["run", ".", "-e", "shop"], folder="/shop", files={"main.star": "def run(plan): pass"})
    print(end["code"], end["output"])                             # status `running` and no code: it goes on as end["run"]

    python3 -m fettle                                             # lists what can be asked
    python3 -m fettle environments_environment environment=shop
    python3 -m fettle commands words='["enclave", "ls"]'

One file, standard library only. The functions are those of the server's OpenAPI document, so they are always those of
the server that is asked; each gives a document of docs/json.md. `Client.call` is the same with a name in a text.
"""
import json
import os
import ssl
import stat
import sys
import urllib.error
import urllib.parse
import urllib.request


class Error(Exception):
    """What was refused, with the status of HTTP, also where the server need not be asked for it; 0: it was not reached."""

    def __init__(self, message, status=400):
        super().__init__(message)
        self.status = status


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Whoever answers elsewhere would be told the token."""

    def redirect_request(self, *_):
        return None


class Client:
    """`server`: an URL, or the name of a context of `fettle context ls`; without it $FETTLE_SERVER, else the context in use.

    `token`: else $FETTLE_TOKEN, else that of the context. `authority`: a file (PEM) with whom to trust for https, else
    $FETTLE_TLS_CA, else what the context keeps, else the system's. Both variables belong to the server of $FETTLE_SERVER, if
    it is set. `timeout`: seconds for an answer. In clear text a server is asked on this machine only; proxies are not used."""

    def __init__(self, server=None, token=None, authority=None, timeout=60):
        named = server or os.environ.get("FETTLE_SERVER") or ""
        context = _context(named)
        self.url = _url(context.get("url") or named)
        is_of_another = bool(os.environ.get("FETTLE_SERVER")) and os.environ["FETTLE_SERVER"] != named
        own, kept = os.environ.get("FETTLE_TOKEN"), context.get("token")
        self._token = token or (kept if is_of_another and kept else own or kept)
        self._timeout = timeout
        if not self._token:
            raise Error(f"no token is known for {self.url}: give one, or put it into $FETTLE_TOKEN")
        handlers = [urllib.request.ProxyHandler({}), _NoRedirect()]
        if self.url.startswith("https://"):
            file = authority or (None if is_of_another else os.environ.get("FETTLE_TLS_CA"))
            handlers.append(urllib.request.HTTPSHandler(context=_trust(file, None if file else context.get("authorities"))))
        self._opener = urllib.request.build_opener(*handlers)
        self._known = None

    def operations(self):
        """What can be asked: the operations of the OpenAPI document by their names."""
        if self._known is None:
            paths = self._get("/api/openapi.json")["paths"]
            self._known = {operation["operationId"]: (path, method.upper(), operation)
                           for path, methods in paths.items() for method, operation in methods.items()}
        return {name: operation for name, (_, _, operation) in self._known.items()}

    def call(self, name, **parameters):
        """The document (or, of /metrics, the text) that an operation answers by. Error: it refuses, or is not known."""
        if name not in self.operations():
            raise Error(f"the server has no operation `{name}`; it has {', '.join(sorted(self._known))}")
        path, method, operation = self._known[name]
        query = []
        body = {one: parameters.pop(one) for one in _members(operation) if one in parameters}
        for one in operation.get("parameters", []):
            value = parameters.pop(one["name"], None)
            if one["in"] == "path":
                if value is None:
                    raise Error(f"`{name}` needs the parameter `{one['name']}`")
                path = path.replace("{" + one["name"] + "}", urllib.parse.quote(str(value), safe=""))
            elif value is not None:
                query.append((one["name"], value))
        if parameters:
            raise Error(f"`{name}` has no parameter `{sorted(parameters)[0]}`")
        # A server that waits as long as it was told answers a little later.
        patience = max(self._timeout, body.get("wait", 60) + 30) if "requestBody" in operation else self._timeout
        return self._ask(path + ("?" + urllib.parse.urlencode(query) if query else ""), method,
                         json.dumps(body).encode() if "requestBody" in operation else None, patience)

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.operations():
            raise AttributeError(name)
        return lambda **parameters: self.call(name, **parameters)

    def _get(self, path):
        return self._ask(path, "GET", None, self._timeout)

    def _ask(self, path, method, body, patience):
        headers = {"Authorization": f"Bearer {self._token}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self.url + path, data=body, headers=headers, method=method)
        try:
            with self._opener.open(request, timeout=patience) as reply:
                body = reply.read().decode()
                return json.loads(body) if reply.headers.get_content_type() == "application/json" else body
        except urllib.error.HTTPError as refusal:
            try:
                message = json.loads(refusal.read())["error"]["message"]
            except (ValueError, KeyError, TypeError):
                message = str(refusal)
            raise Error(message, refusal.code) from None
        except (OSError, ValueError) as failure:
            raise Error(f"{self.url}: {getattr(failure, 'reason', failure)}", 0) from None


def _schema(operation):
    """Of what is posted. Empty: nothing is."""
    return operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})


def _members(operation):
    return _schema(operation).get("properties", {})


def _posted(members, name, text):
    """A member as a command line writes it: a text, or JSON."""
    if name not in members or members[name].get("type") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise Error(f"`{name}` must be JSON, not `{text}`") from None


def _home():
    if os.environ.get("FETTLE_HOME"):
        return os.environ["FETTLE_HOME"]
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, "fettle")


def _context(named):
    """The context of this name or URL; without a name, the one in use. Empty: there is none."""
    path = os.path.join(_home(), "contexts.json")
    try:
        with open(path, encoding="utf-8") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise Error(f"others can read {path}, which has tokens; `chmod 600 {path}` closes it")
            document = json.load(file)
            contexts, used = document["contexts"], document["used"]
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as failure:
        raise Error(f"{path} cannot be read: {failure}") from None
    wanted = named or used
    return next((one for one in contexts if wanted and wanted in (one["name"], one["url"])), {})


def _url(text):
    """With its port, which is 9790 if it says none. Error: it is none, or it is in clear text and not of this machine."""
    try:
        parts = urllib.parse.urlsplit(text)
        scheme, host, port = parts.scheme, parts.hostname, parts.port or 9790
    except ValueError:
        scheme, host, port = "", "", 0
    if scheme not in ("http", "https") or not host:
        raise Error(f"there is no server: {text or 'give an URL, or set $FETTLE_SERVER, or `fettle context use NAME`'}")
    if scheme == "http" and host not in ("127.0.0.1", "localhost"):
        raise Error(f"{text} is in clear text and not at 127.0.0.1, so everybody between could read the token: call it by https://")
    if scheme == "http":
        host = "127.0.0.1"  # whatever names mean here
    return f"{scheme}://" + (f"[{host}]" if ":" in host else host) + f":{port}" + parts.path.rstrip("/")


def _trust(file, certificates):
    """Whom to believe: a file, or its text; the system's without both. One certificate alone may be the server's own."""
    try:
        tls = ssl.create_default_context(cafile=file, cadata=certificates)
    except (OSError, ValueError) as failure:
        raise Error(f"{file or 'the certificates of the context'}: {failure}") from None
    if file or certificates:
        tls.verify_flags |= getattr(ssl, "VERIFY_X509_PARTIAL_CHAIN", 0x80000)  # Python 3.9 does not name it
    return tls


def main(words):
    """The exit code: 2 if what was asked for is wrong, 1 if the server does not answer."""
    server = None
    if words[:1] == ["--server"] and len(words) > 1:
        server, words = words[1], words[2:]
    if words and words[0] in ("-h", "--help"):
        print("usage: python3 -m fettle [--server URL|CONTEXT] [OPERATION [NAME=VALUE ...]]")
        return 0
    try:
        client = Client(server)
        if not words:
            for name, operation in sorted(client.operations().items()):
                parts = [(one["name"], one["required"]) for one in operation.get("parameters", [])]
                parts += [(one, one in _schema(operation)["required"]) for one in _members(operation)]
                names = " ".join(f"{one}=" if is_required else f"[{one}=]" for one, is_required in parts)
                print(f"{name} {names}".rstrip() + f"\n    {operation['summary']}")
            sys.stdout.flush()
            return 0
        wrong = [word for word in words[1:] if "=" not in word]
        if wrong:
            raise Error(f"expected NAME=VALUE, not `{wrong[0]}`")
        members = _members(client.operations().get(words[0], {}))
        given = dict(word.split("=", 1) for word in words[1:])
        answer = client.call(words[0], **{name: _posted(members, name, text) for name, text in given.items()})
        print(answer if isinstance(answer, str) else json.dumps(answer, indent=2, ensure_ascii=False), flush=True)
        return 0
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if 400 <= error.status < 500 else 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nobody reads the rest
        return 141
    except OSError as failure:
        print(f"error: cannot write to standard output: {failure.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
