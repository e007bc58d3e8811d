async def pre_logged(hub, ctx):
    ctx.get_argument("log").append("pre_logged named " + ctx.ref + " " + ctx.__name__)


def post_logged(hub, ctx):
    if isinstance(ctx.ret, dict):
        ctx.ret["ret"].append("post_logged named")


def pre_plain(hub, ctx):
    ctx.get_arguments()["log"].append("pre_plain named")


def post_plain(hub, ctx):
    ctx.ret["ret"].append("post_plain named")


def call_instead(hub, ctx):
    return {"result": True, "ret": "instead named"}
