"""What a state is known by: `state_|-id_|-id_|-function`, whose third part is the name of one of `names`."""

SEPARATOR = "_|-"


def parts(tag):
    """`(state, id, third part, function)`; of something else as many as there are."""
    found = str(tag).split(SEPARATOR)
    return tuple(found + [""] * (4 - len(found)))[:4]


def memory_tag(chunk):
    name = chunk.get("resource_name") or chunk["__id__"]
    return SEPARATOR.join((chunk["state"], chunk["__id__"], name, ""))
