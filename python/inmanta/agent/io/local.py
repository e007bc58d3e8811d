"""Files and commands of this machine."""

import grp
import hashlib
import os
import pwd
import shutil
import subprocess


class IOBase:
    def __init__(self, uri="local:", config=None):
        self.uri, self.config = uri, config or {}

    def is_remote(self):
        return False

    def close(self):
        pass


class LocalIO(IOBase):
    def hash_file(self, path):
        return hashlib.sha1(self.read_binary(path)).hexdigest()

    def run(self, command, arguments=(), env=None, cwd=None, timeout=None):
        """The output, the errors and the code of a command."""
        made_env = None if env is None else {**os.environ, **env}
        try:
            done = subprocess.run(
                [command, *arguments],
                env=made_env,
                cwd=cwd,
                timeout=timeout,
                stdin=subprocess.DEVNULL,
                capture_output=True,
            )
        except OSError as error:
            return "", f"{error}", 127
        return (
            done.stdout.decode(errors="replace").strip(),
            done.stderr.decode(errors="replace").strip(),
            done.returncode,
        )

    def file_exists(self, path):
        return os.path.lexists(path)

    def readlink(self, path):
        return os.readlink(path)

    def symlink(self, source, target):
        os.symlink(source, target)

    def is_symlink(self, path):
        return os.path.islink(path)

    def remove(self, path):
        os.remove(path)

    def file_stat(self, path):
        found = os.stat(path)
        return {
            "owner": _name_of(pwd.getpwuid, found.st_uid),
            "group": _name_of(grp.getgrgid, found.st_gid),
            "permissions": int(oct(found.st_mode)[-4:]),
        }

    def put(self, path, content):
        if isinstance(content, str):
            content = content.encode()
        with open(path, "wb") as file:
            file.write(content)

    def read_binary(self, path):
        with open(path, "rb") as file:
            return file.read()

    def read(self, path):
        return self.read_binary(path).decode()

    def chown(self, path, user=None, group=None):
        shutil.chown(path, user, group)

    def chmod(self, path, permissions):
        os.chmod(path, int(permissions, 8))

    def mkdir(self, path):
        os.mkdir(path)

    def rmdir(self, path):
        shutil.rmtree(path)


def _name_of(find, number):
    try:
        return find(number)[0]
    except KeyError:
        return str(number)
