"""Stands around the functions of `member.py`: nobody becomes a member without an address."""


def pre_create(hub, ctx):
    if "@" not in ctx.get_argument("email"):
        return False, f"`{ctx.get_argument('email')}` is no address"
