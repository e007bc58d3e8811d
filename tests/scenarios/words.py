#!/usr/bin/env python3
"""Calls what the table of a page says that scripts call, and compares with what it says.

    words.py PAGE ENCLAVE

The table is the first one with the columns `call`, `exit code` and `prints`. Its rows are called in their order in
this folder, where `kurtosis` is a link to the program. What `prints` has in backquotes must come in this order on
either stream: `…` is any text of a line, blanks are one or more blanks. ENCLAVE stands for the environment. Prints
what differs and ends with 1, else prints how many calls do what the page says.
"""
import re
import subprocess
import sys

COLUMNS = ["call", "exit code", "prints"]


def rows(text):
    """The cells of each row of the table."""
    found = None
    for line in text.splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if found is None and cells[:3] == COLUMNS:
            found = []
        elif found is not None and not cells:
            return found
        elif found is not None and not cells[0].startswith("---"):
            found.append(cells)
    return found or []


def expression(text):
    parts = [" +".join(re.escape(word) for word in part.split(" ")) for part in text.split("…")]
    return re.compile("[^\n]*".join(parts))


def main():
    page, enclave = sys.argv[1:]
    wrong, calls = [], rows(open(page, encoding="utf-8").read())
    for call, code, prints, *_ in calls:
        command = re.fullmatch("`(.*)`", call).group(1).replace("ENCLAVE", enclave)
        done = subprocess.run(["bash", "-c", 'PATH="$PWD:$PATH"; ' + command], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, check=False)
        if done.returncode != int(code):
            wrong.append(f"$ {command}\nends with {done.returncode}, not {code}:\n{done.stdout}")
            continue
        at = 0
        for wanted in re.findall("`([^`]*)`", prints):
            match = expression(wanted.replace("ENCLAVE", enclave)).search(done.stdout, at)
            if match is None:
                wrong.append(f"$ {command}\nprints no `{wanted}` behind {done.stdout[:at]!r}:\n{done.stdout[at:]}")
                break
            at = match.end()
    print("\n".join(wrong) if wrong or not calls else f"{len(calls)} calls do what the page says")
    sys.exit(1 if wrong or not calls else 0)


main()
