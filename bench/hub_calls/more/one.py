def word(hub):
    return "one"
