async def pre_logged(hub, ctx):
    ctx.get_argument("log").append("pre_logged init " + ctx.ref + " " + ctx.__name__)


def post_logged(hub, ctx):
    if isinstance(ctx.ret, dict):
        ctx.ret["ret"].append("post_logged init")


def pre_plain(hub, ctx):
    ctx.get_arguments()["log"].append("pre_plain init")


def post_plain(hub, ctx):
    ctx.ret["ret"].append("post_plain init")


def call_instead(hub, ctx):
    return {"result": True, "ret": "instead init"}
