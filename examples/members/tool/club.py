"""What stands for a service on the other side of a network: a file, and a token that it checks."""

import hashlib
import json
import os


def token(hub, word):
    return "token-" + hashlib.sha256(word.encode()).hexdigest()[:16]


def members(hub, ctx):
    """All members, by their ids."""
    if ctx.acct.token != hub.tool.club.token("open sesame"):
        raise PermissionError(f"the club does not know the token {ctx.acct.token}")
    if not os.path.exists(ctx.acct.place):
        return {}
    with open(ctx.acct.place) as file:
        return json.load(file)


def keep(hub, ctx, all_members):
    with open(ctx.acct.place, "w") as file:
        json.dump(all_members, file, indent=2)
