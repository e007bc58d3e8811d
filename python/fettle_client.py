"""Asks a server of fettle: documents of its environments, over HTTP.

    from fettle import Client
    client = Client("http://127.0.0.1:9790", token="6f1d...")     # or Client(), by $FETTLE_SERVER or `fettle context use`
    for environment in client.environments():
        print(environment["name"], client.environments_environment_runs(environment=environment["name"])["runs"][:1])

    python3 -m fettle                                             # lists what can be asked
    python3 -m fettle environments_environment environment=shop

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


class Client:
    """`server`: an URL, or the name of a context of `fettle context ls`; without it $FETTLE_SERVER, else the context in use.

    `token`: else $FETTLE_TOKEN, unless it is another server's, else that of the context. `authority`: a file (PEM) with whom to trust for https, else
    $FETTLE_TLS_CA, else that of the context, else the system's. `timeout`: seconds for an answer."""

    def __init__(self, server=None, token=None, authority=None, timeout=60):
        named = server or os.environ.get("FETTLE_SERVER") or ""
        context = _context(named)
        self.url = (context.get("url") or named).rstrip("/")
        # The variable belongs to the server of the variable beside it.
        is_of_another = bool(os.environ.get("FETTLE_SERVER")) and os.environ["FETTLE_SERVER"] != named
        own, kept = os.environ.get("FETTLE_TOKEN"), context.get("token")
        self._token = token or (kept if is_of_another and kept else own or kept)
        self._timeout = timeout
        if not self.url.startswith(("http://", "https://")):
            raise Error(f"there is no server: {named or 'give an URL, or set $FETTLE_SERVER, or `fettle context use NAME`'}")
        if not self._token:
            raise Error(f"no token is known for {self.url}: give one, or put it into $FETTLE_TOKEN")
        authority = authority or os.environ.get("FETTLE_TLS_CA") or context.get("authorities")
        self._tls = None
        if self.url.startswith("https://"):
            is_text = (authority or "").startswith("-----BEGIN")
            self._tls = ssl.create_default_context(cadata=authority) if is_text else ssl.create_default_context(cafile=authority or None)
        self._known = None

    def operations(self):
        """What can be asked: the operations of the OpenAPI document by their names."""
        if self._known is None:
            paths = self._get("/api/openapi.json")["paths"]
            self._known = {operation["operationId"]: (path, operation)
                           for path, methods in paths.items() for operation in methods.values()}
        return {name: operation for name, (_, operation) in self._known.items()}

    def call(self, name, **parameters):
        """The document (or, of /metrics, the text) that an operation answers by. Error: it refuses, or is not known."""
        if name not in self.operations():
            raise Error(f"the server has no operation `{name}`; it has {', '.join(sorted(self._known))}")
        path, operation = self._known[name]
        query = []
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
        return self._get(path + ("?" + urllib.parse.urlencode(query) if query else ""))

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.operations():
            raise AttributeError(name)
        return lambda **parameters: self.call(name, **parameters)

    def _get(self, path):
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"Bearer {self._token}"})
        try:
            with urllib.request.urlopen(request, timeout=self._timeout, context=self._tls) as reply:
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
    except FileNotFoundError:
        return {}
    wanted = named.rstrip("/") or document.get("used")
    return next((one for one in document.get("contexts", []) if wanted in (one.get("name"), one.get("url", "").rstrip("/"))), {})


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
                names = " ".join(f"{one['name']}=" if one["required"] else f"[{one['name']}=]" for one in operation.get("parameters", []))
                print(f"{name} {names}".rstrip() + f"\n    {operation['summary']}")
            return 0
        wrong = [word for word in words[1:] if "=" not in word]
        if wrong:
            raise Error(f"expected NAME=VALUE, not `{wrong[0]}`")
        answer = client.call(words[0], **dict(word.split("=", 1) for word in words[1:]))
        print(answer if isinstance(answer, str) else json.dumps(answer, indent=2, ensure_ascii=False))
        return 0
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if 400 <= error.status < 500 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
