def unlock(hub, **kwargs):
    return {"calls": {"kept": {"key": kwargs["word"]}}}
