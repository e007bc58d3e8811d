def word(hub):
    return "one"


class Word:
    pass
