def word(hub):
    return "two"
