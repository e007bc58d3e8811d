def pre_plain(hub, ctx):
    ctx.get_arguments()["log"].append("pre_plain above")


def post_plain(hub, ctx):
    ctx.ret["ret"].append("post_plain above")
