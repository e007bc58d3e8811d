"""Runs the examples that packages of Idem document (`ecosystems_examples.py`) with `--test`, by Idem and by fettle, and compares state by state.

What asks for a service gets one of this file's: it answers logins, and knows of nothing else that anybody asks for.
"""
import http.server
import json
import os
import re
import subprocess
import tempfile
import threading

# Functions of exec that may change something are not called with `--test` here, but are in Idem; so what they do is compared without it.
LOOKS = ("get", "list")
# Mistakes in an example, all of which are named here before anything runs; in Idem they are warnings, or failures in the middle of a run.
MISTAKE = re.compile(r"invalid keyword argument|missing required argument|Could not find function|No function declared|matches several states|not formed as|Too many functions|must be a dictionary|there is no exec function")
KEPT = ("result", "comment", "changes", "old_state", "new_state")


class Service(http.server.BaseHTTPRequestHandler):
    """A cloud in which nothing exists."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def date_time_string(self, timestamp=None):
        return "now"

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.split("?")[0]
        is_login = path.endswith(("/login", "/token"))
        body = {"access_token": "token", "expires_in": 3600, "version": {"Version": "22.1.3"}} if is_login else {"message": "not found", "errors": []}
        data = b"" if self.command == "HEAD" else json.dumps(body).encode()
        self.send_response(200 if is_login else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if is_login:
            self.send_header("Set-Cookie", "sessionid=session")
            self.send_header("Set-Cookie", "csrftoken=token")
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_CONNECT = answer


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 512  # coroutines come all at once


def profiles(url, folder):
    """Credentials of each provider, for that cloud."""
    cluster = {"name": "here", "cluster": {"server": url}}
    context = {"name": "context-17", "context": {"cluster": "here", "user": "me"}}
    config = {"apiVersion": "v1", "kind": "Config", "clusters": [cluster], "contexts": [context], "users": [{"name": "me", "user": {"token": "t"}}]}
    with open(os.path.join(folder, "kube.yml"), "w") as out:
        json.dump({**config, "current-context": "context-17"}, out)
    kube = {"kube_config_path": os.path.join(folder, "kube.yml"), "context": "context-17"}
    azure = {"client_id": "client-17", "secret": "secret-of-azure", "subscription_id": "number-17", "tenant": "tenant-17", "endpoint_url": url}
    return {
        "aws": {"default": {"id": "AKIAEXAMPLE", "key": "secret-of-aws", "region": "eu-west-1", "endpoint_url": url}},
        "avilb": {"default": {"username": "user-17", "password": "secret-of-avi", "endpoint_url": url, "tenant": "tenant-17"}},
        "azure": {"default": azure},
        "gitlab": {"default": {"token": "secret-of-gitlab", "endpoint_url": url}},
        "helm": {"default": kube},
        "k8s": {"default": kube},
        "spotinst": {"default": {"account_id": "account-17", "token": "secret-of-spotinst"}},
        "vault": {"default": {"address": url, "token": "secret-of-vault", "version": "v1"}},
    }


class Example:
    def __init__(self, package, number, where, count, text):
        self.package, self.where = package, where
        self.text = re.sub(rf"\be{number}-", f"{package}-{number}-", text)
        self.mark = f"{package}-{number}-"
        self.count = count
        called = re.findall(r"^ +- path: (\S+)", text, re.M) if "exec.run:" in text else []
        self.is_tested = all(path.split(".")[-1] in LOOKS for path in called)


class Runs:
    """Runs of one program. `answers` has, by example, its results by tag, or what was said instead."""

    def __init__(self, program, folder, environment):
        self.program, self.folder, self.environment = program, folder, environment
        self.answers, self.count = {}, 0

    def run(self, examples):
        """In one file; if that is refused, without those that are named, or else by halves."""
        if not examples:
            return
        results, said = self._one(examples)
        if results is not None:
            for example in examples:
                self.answers[example] = {tag: ret for tag, ret in results.items() if example.mark in tag}
            return
        named = self._named(examples, said)
        if named:
            self.answers.update(named)
            return self.run([example for example in examples if example not in named])
        if len(examples) == 1:
            self.answers[examples[0]] = " ".join(said.strip().split("\n")[-3:])[:600]
            return
        self.run(examples[: len(examples) // 2])
        self.run(examples[len(examples) // 2 :])

    def _named(self, examples, said):
        """What was said of which example, by its line or its name."""
        found, end = {}, 0
        for example in examples:
            begin, end = end, end + example.text.count("\n") + 1
            lines = [f"{line}:{text}" for line, text in re.findall(r"\.sls:(\d+):(.*)", said) if begin < int(line) <= end]
            lines = [line for line in lines if "has no effect" not in line]  # a warning
            lines = lines or [line for line in said.split("\n") if example.mark in line]
            if lines:
                found[example] = " ".join(dict.fromkeys(re.sub(r"^[\d: ]+|\\n.*", "", line).strip() for line in lines))[:600]
        return found

    def _one(self, examples):
        """(results, what else was said); no results: it did not run."""
        self.count += 1
        file = os.path.join(self.folder, f"examples{self.count}.sls")
        with open(file, "w") as out:
            out.write("\n".join(example.text for example in examples))
        words = [self.program, "state", file, "--acct-file", os.path.join(self.folder, "acct.yml"), "--run-name", f"bench{self.count}", "--root-dir"]
        words += [os.path.join(self.folder, "root"), "--reconciler", "none", "--output", "json", *(["--test"] if examples[0].is_tested else [])]
        try:
            run = subprocess.run(words, capture_output=True, text=True, timeout=900, cwd=self.folder, env=self.environment)
        except subprocess.TimeoutExpired:
            return None, "no answer within 15 minutes"
        try:
            found = json.loads(run.stdout[run.stdout.index("{") :])
            found = {tag: ret for tag, ret in found.items() if isinstance(ret, dict) and "_|-" in tag}
        except ValueError:
            found = None
        return found or None, run.stdout + run.stderr


def worded(text):
    """A comment without what each program says in its own words: the function that failed, the trace, a link to a profile."""
    if re.match(r"(?:idem|fettle) exec \S", text):
        return None  # a command for people to run again
    if text.startswith("Result of require "):  # in any order, here each once
        return "\n".join(sorted(set(text.split("\n"))))
    text = re.sub(r"No profiles found for '.*'|no profiles are found for .*", "no profiles", text)
    if text.startswith("Traceback"):
        text = text.strip().split("\n")[-1]
    text = re.sub(r"(\[Errno \d+\] [^:]+): '.*'$", r"\1", text)  # another loop of Python names the file
    text = re.sub(r"^`?(?:states|exec)\.[\w.]+`?: ", "", text)
    text = re.sub(r"^(?:BindError: missing a|TypeError: \w+\(\) missing 1) required (?:positional )?argument: ", "missing ", text)
    text = text.replace("fettle_plugins.data.NamespaceDict", "dict")
    return text.split("\n  File ")[0]


def told(ret, mark):
    """What of an answer is to be alike: not what is new in each run, nor the forms of a list."""
    kept = json.dumps({key: plain(ret.get(key)) for key in KEPT}, sort_keys=True, default=str)
    kept = re.sub(r"0x[0-9a-f]{6,}", "0x…", kept).replace(mark, "")
    kept = json.loads(re.sub(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)?", "now", kept))
    # A text with a secret in it is hidden as a whole here, except in comments.
    return {key: one if key == "comment" else json.loads(re.sub(r'"[^"]*\*{8}[^"]*"', '"********"', json.dumps(one))) for key, one in kept.items()}


def plain(value):
    if isinstance(value, str):
        return [worded(value)]
    if isinstance(value, list):
        return [kept for one in value if (kept := worded(one) if isinstance(one, str) else plain(one)) is not None] or None
    if isinstance(value, dict):
        return {key: found for key, one in value.items() if (found := plain(one)) not in (None, {}, [])} or None
    return value


def difference(one, other, mark):
    """(tag, field, there, here) of the first thing that differs; None: nothing."""
    for tag in one:
        if tag not in other:
            return tag, "state", "there", "missing"
        there, here = told(one[tag], mark), told(other[tag], mark)
        if "generate_random" in str(one[tag].get("comment")):
            for key in ("changes", "new_state"):
                there[key] = here[key] = None
        # In Idem, changes of a preview are what the function says; here, those of its states if it says nothing.
        if there["changes"] is None and there["old_state"] != there["new_state"]:
            here["changes"] = None
        for key in KEPT:
            if there[key] != here[key]:
                return tag, key, there[key], here[key]
    return None


def is_mistake(answer):
    return isinstance(answer, str) and MISTAKE.search(answer)


def judged(example, there, here):
    """(kind, text) of an example: "alike", "fails alike", "refused", "not in Idem", "differs"."""
    if is_mistake(here):
        return "refused", here
    if not isinstance(there, dict) or len(there) != example.count:
        return "not in Idem", there if isinstance(there, str) else f"{len(there)} of {example.count} states have answers"
    if not isinstance(here, dict):
        return "differs", here
    if "name_prefix" in example.text:  # here, a name is never made up
        there, here = ({tag: {**ret, "comment": None, "new_state": None, "changes": None} for tag, ret in one.items()} for one in (there, here))
    found = difference(there, here, example.mark)
    if found is None:
        return ("fails alike" if any(ret.get("result") is False for ret in there.values()) else "alike"), ""
    text = f"{found[0].split('_|-')[0]}.{found[0].split('_|-')[-1]}, {found[1]}: Idem {found[2]}, fettle {found[3]}"
    return ("refused" if MISTAKE.search(str(found[3])) else "differs"), text


def run_all(program, examples, environment):
    server = Server(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as folder:
        known = profiles(url, folder)
        with open(os.path.join(folder, "acct.yml"), "w") as out:
            json.dump(known, out)
        # What has a fixed address of the world outside finds nobody there, at once.
        runs = Runs(program, folder, {**environment, "HTTPS_PROXY": url, "https_proxy": url, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"})
        for part in (True, False):
            runs.run([example for example in examples if example.is_tested is part])
    server.shutdown()
    text = json.dumps({example.mark: answer for example, answer in runs.answers.items()})
    text = text.replace(f"{url}/api", "********")  # what a plugin makes of an address
    for secret in sorted({one for found in known.values() for one in found["default"].values() if len(one) >= 4}, key=len, reverse=True):
        text = text.replace(secret, "********")  # here, all of a profile is secret
    text = text.replace(url, "********").replace(f"port={server.server_port}", "port=PORT")
    found = json.loads(text.replace(folder, "FOLDER"))
    return {example: found[example.mark] for example in runs.answers}


def documented(python, site, packages):
    """What `ecosystems_examples.py` finds."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ecosystems_examples.py")
    run = subprocess.run([python, script, site, *packages], capture_output=True, text=True, check=True)
    return json.loads(run.stdout.strip().split("\n")[-1])


def compare(folder, fettle, found):
    """`{package: (counts by kind, [(where, difference)])}` of what `ecosystems_examples.py` found; `folder` is the environment of Python."""
    environment = {**os.environ, "VIRTUAL_ENV": folder, "PATH": os.path.join(folder, "bin") + os.pathsep + os.environ["PATH"]}
    examples = [Example(package, number, *one) for package, said in found.items() for number, one in enumerate(said["examples"])]
    here = run_all(fettle, examples, environment)
    # A mistake stops Idem for all examples of a file, and each start takes it many seconds.
    there = run_all(os.path.join(folder, "bin", "idem"), [one for one in examples if not is_mistake(here[one])], environment)
    rows = {package: ({}, []) for package in found}
    for example in examples:
        kind, text = judged(example, there.get(example), here[example])
        counts, differences = rows[example.package]
        counts[kind] = counts.get(kind, 0) + 1
        if text:
            differences.append((kind, example.where, text))
    return rows


KINDS = ("alike", "fails alike", "refused", "not in Idem", "differs")


def table_of(rows):
    """The table of the manual: how many examples of each package have which end."""
    lines = ["| package | examples | as in Idem | fail as in Idem | mistakes are named | Idem stops | differ |", "|---|---|---|---|---|---|---|"]
    for package, (counts, _) in rows.items():
        if counts:
            ends = [str(counts.get(kind, 0)) for kind in KINDS]
            lines.append(f"| {package} | {sum(counts.values())} | {' | '.join(ends)} |")
    return "\n".join(lines)


def reason_of(row):
    """Why the examples of a package fall short; nothing: they do not."""
    wrong = [f"{where}: {text}" for kind, where, text in row[1] if kind == "differs"]
    return f"{len(wrong)} of its examples differ: {wrong[0]}" if wrong else ""
