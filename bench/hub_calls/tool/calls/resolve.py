def path(hub, ref, context):
    if ref.endswith("nothing"):
        return None

    async def call(ctx, *args, **kwargs):
        return {"result": True, "ret": [ref, context, list(args), kwargs]}

    return call
