def _decoded(value):
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, dict):
        return decode_dict(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_decoded(item) for item in value)
    return value


def decode_dict(data):
    """The dict with texts for bytes."""
    return {_decoded(key): _decoded(value) for key, value in data.items()}
