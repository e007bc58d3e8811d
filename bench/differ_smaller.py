"""What can be left out of a model, for differ_pair.py. A block is a line that ends with a colon, up to its `end`."""
import re


def blocks(lines):
    """For each line where its block ends: at its `end`, or itself."""
    ends = []
    for at, line in enumerate(lines):
        last, pad = at, len(line) - len(line.lstrip())
        if line.rstrip().endswith(":"):
            for other in range(at + 1, len(lines)):
                if lines[other] == " " * pad + "end":
                    last = other
                    break
        ends.append(last)
    return ends


def without_block(lines):
    """For each block, or line that is none, where it begins and the model without it; the numbers of the other lines stay."""
    ends = blocks(lines)
    for at in range(len(lines) - 1, -1, -1):
        if lines[at].strip() not in ("end", "else:"):
            yield at, lines[:at] + [""] * (ends[at] + 1 - at) + lines[ends[at] + 1:]


def without_argument(lines):
    """For each `name=value` of a constructor, its line and the model without it."""
    for at, line in enumerate(lines):
        words = re.findall(r"\"[^\"]*\"|'[^']*'|\w+=(?!=)|.", line)
        for begin, word in enumerate(words):
            if not re.fullmatch(r"\w+=", word) or begin == 0:
                continue
            depth, end = 0, begin
            while end < len(words) and (depth > 0 or words[end] not in (",", ")")):
                depth += (words[end] in ("(", "[", "{")) - (words[end] in (")", "]", "}"))
                end += 1
            yield at, lines[:at] + ["".join(words[:begin] + words[end + 2 if words[end:end + 1] == [","] else end:])] + lines[at + 1:]


def without_lines(lines):
    """Models with fewer lines: without a run of whole blocks, without a block, without the frame of a block."""
    ends = blocks(lines)
    tops = [at for at, line in enumerate(lines) if not line.startswith(" ") and not line.startswith(("end", "el"))]
    size = len(tops) // 2
    while size > 1:
        for begin in range(0, len(tops), size):
            last = tops[begin + size] if begin + size < len(tops) else len(lines)
            yield lines[:tops[begin]] + lines[last:]
        size //= 2
    for at in range(len(lines) - 1, -1, -1):
        yield lines[:at] + lines[ends[at] + 1:]
        if ends[at] > at and lines[at].lstrip().startswith(("if ", "for ")):
            body = [line[4:] if line.startswith("    ") else line for line in lines[at + 1:ends[at]]]
            yield lines[:at] + body + lines[ends[at] + 1:]


def without_words(lines):
    """Models of which a line has fewer words and signs."""
    for at in range(len(lines) - 1, -1, -1):
        words = re.findall(r"\s+|\w+|\"[^\"]*\"|'[^']*'|.", lines[at])
        for size in (24, 16, 12, 9, 7, 6, 5, 4, 3, 2, 1):
            for begin in range(len(words) - size, -1, -1):
                gone = "".join(words[begin:begin + size])
                if gone.strip() and all(gone.count(a) == gone.count(b) for a, b in ("()", "[]", "{}")):
                    yield lines[:at] + ["".join(words[:begin] + words[begin + size:])] + lines[at + 1:]
