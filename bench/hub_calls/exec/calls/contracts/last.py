__order__ = -1
async def pre_logged(hub, ctx):
    ctx.get_argument("log").append("pre_logged last " + ctx.ref + " " + ctx.__name__)


def post_logged(hub, ctx):
    if isinstance(ctx.ret, dict):
        ctx.ret["ret"].append("post_logged last")


def pre_plain(hub, ctx):
    ctx.get_arguments()["log"].append("pre_plain last")


def post_plain(hub, ctx):
    ctx.ret["ret"].append("post_plain last")


def call_instead(hub, ctx):
    return {"result": True, "ret": "instead last"}
