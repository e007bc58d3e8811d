"""The club wants a token, which it gives to whoever knows the word."""


async def gather(hub, profiles):
    made = {}
    for name, profile in profiles.get("club", {}).items():
        made[name] = {"place": profile["place"], "token": hub.tool.club.token(profile["word"])}
    return made
