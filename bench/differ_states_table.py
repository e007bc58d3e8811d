"""What is known to differ between fettle and Idem 25 in the results of states, row by row of the table in `docs/states.md`, and what follows
from it, for `differ_states.py`.

A row is as exact as the files allow: it names the state whose own arguments and requisites make the difference. What follows is worked out
from results that really differ: of what a state needs, in the same run, or of what it left in a run before.
"""
import json
import re

REQUISITES = ("require", "watch", "onchanges", "onfail", "require_any", "listen")
RULES = ("Changes from ", "Result of require ")
TO_COME = "_value_known_after_applying"
WATCHED = ("watched", "Watch ran!")

INVERTED = "with --invert, only needs between states that have an inverse are turned"
UNDONE = "with --invert, what is undone gets the arguments that its inverse has"
LISTENS = "what listens needs a state, and not what listens for it"
IN_ORDER = "what listens is called in the order of the file"
TRIED_AGAIN = "a change that was not answered, or that a failure may have made, calls in the next run"

EQUAL_ELEMENTS = "two equal elements of a list break the difference of Idem"
NUMBERED_AGAIN = "a state that a loop calls again keeps its number"
NOT_ASKED_AGAIN = "in a loop, only require is found in the second round of Idem"
LISTENS_AGAIN = "in a loop, what listens gets a listener of its own in each round of Idem"
CALLED_AGAIN = "in a loop, Idem also calls what a pending state needs"

# The arguments that the inverse of a function has.
INVERSE_TAKES = {"differ.present": {"resource_id"}, "differ.absent": {"resource_id", "size", "tags", "made", "result", "told", "again"},
                 "test.present": {"new_state", "result"}, "test.absent": {"new_state", "result"}}


def needs_of(states):
    """By ID the IDs that its state names, in requisites and references."""
    needs = {}
    for id, (_, arguments) in states.items():
        named = [one for argument in arguments for key, value in argument.items() if key in REQUISITES for one in value]
        needs[id] = {target for one in named for target in one.values()} | set(re.findall(r"\$\{[\w.]+:(\w+)[:\[]", json.dumps(arguments)))
    return needs


def has_inverse(states, id):
    return states[id][0].rsplit(".", 1)[1] in ("present", "absent")


def id_of(tag):
    """The one of the file, also of what listens for it."""
    id = tag.split("_|-")[1] if "_|-" in tag else tag
    return re.sub("(_listen)+$", "", id)


def lines_of(entry):
    comment = (entry or {}).get("comment")
    return comment if isinstance(comment, str) else "\n".join(map(str, comment or []))


def shapes_differ(before, after):
    """Whether a list stands somewhere in the place of a dictionary."""
    if isinstance(before, dict) and isinstance(after, dict):
        return any(shapes_differ(before[key], after[key]) for key in before if key in after)
    return isinstance(before, (dict, list)) and isinstance(after, (dict, list)) and type(before) is not type(after)


def breaks_difference(before, after):
    """Whether Idem's `recursive_diff`, without order, removes an element of a list that it has removed already: equal ones, more than one."""
    if isinstance(before, dict) and isinstance(after, dict):
        return any(breaks_difference(before[key], after[key]) for key in before if key in after)
    if not isinstance(before, list) or not isinstance(after, list):
        return False
    if any(breaks_difference(one, other) for one in before for other in after):
        return True
    return any(sum(same(one, other) for other in after) > 1 for one in before) or any(sum(same(one, other) for one in before) > 1 for other in after)


def same(one, other):
    """Equal to `recursive_diff`: lists without order, and of each place a dictionary has. A dictionary beside a list is one of its keys."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (dict, list)) and isinstance(other, (dict, list)):
        return len(one) == len(other) and all(any(same(a, b) for b in other) for a in one) and all(any(same(a, b) for a in one) for b in other)
    return one == other


class Row:
    """One state's results in one run, with what its file says of it."""

    def __init__(self, run, tag, mine, other, owes):
        self.states, self.words, self.tag, self.id = run["states"], run["words"], tag, id_of(tag)
        self.is_in_loop = run["loop"] != "none" and "--test" not in run["words"]
        self.mine, self.other, self.owes = mine, other, owes
        self.ref, self.arguments = self.states.get(self.id, ("", []))
        self.given = {key for argument in self.arguments for key in argument}
        self.needs = needs_of(self.states).get(self.id, set()) & self.states.keys()
        self.says, self.other_says = lines_of(mine), lines_of(other)
        self.is_inverted = "--invert" in self.words and self.id in self.states
        self.is_listener = "_listen_|-" in tag

    def crosses_inversion(self):
        return self.is_inverted and any(has_inverse(self.states, self.id) != has_inverse(self.states, one) for one in self.needs)

    def waits_for_what_failed(self):
        """Whether fettle does not undo this one because one that needs it, and is undone before, failed."""
        if not self.is_inverted or not has_inverse(self.states, self.id) or not self.says:
            return False
        after = {id for id, named in needs_of(self.states).items() if self.id in named and has_inverse(self.states, id)}
        failed = [re.fullmatch(r'Result of require (\S+) is "False", not "\[True, None\]"', line) for line in self.says.split("\n")]
        return all(one and id_of(one[1]) in after for one in failed)

    def rest_of_rules(self, is_known):
        """What Idem says of requisites without the lines that are known; none: it says nothing else."""
        return "\n".join(line for line in self.other_says.split("\n") if not is_known(line))

    def is_only(self, is_known):
        """Whether these lines are all that keeps Idem from calling what fettle calls, or are missing among fettle's."""
        rest = self.rest_of_rules(is_known)
        return any(line.startswith(RULES) for line in self.other_says.split("\n")) and rest != self.other_says and (rest == self.says if rest else not self.says.startswith(RULES))

    def reason_of_loop(self, field):
        """The same of what Idem's own loop leaves, which calls differently here."""
        if field == "__run_num" and self.mine and self.other and self.mine["__run_num"] < self.other["__run_num"]:
            return NUMBERED_AGAIN
        if self.is_listener:
            return LISTENS_AGAIN
        if "Invalid requisite '" in self.other_says or re.search("^Requisite require .* not found in ESM", self.other_says, re.M):
            return NOT_ASKED_AGAIN
        is_needed = "listen" in self.given or any(self.id in named for named in needs_of(self.states).values())
        if is_needed and self.mine and not self.mine["re_runs_count"] and field in ("changes", "comment"):
            return CALLED_AGAIN
        return None

    def was_called_unheard(self):
        """Whether Idem, for which what was not needed has failed, called it in a round before the last: memory has what it left."""
        return self.is_in_loop and "Invalid requisite 'onfail" in self.other_says and "was not needed, which is not a failure" in self.says

    def reason(self, field):
        """The row of the manual's table that a difference belongs to; none: it is a fault, or follows from another."""
        if field == "__run_num" and self.is_listener:
            return IN_ORDER
        if self.is_in_loop and (reason := self.reason_of_loop(field)):
            return reason
        if self.is_listener and any("listen" in argument for one in self.needs for argument in self.states[one][1]):
            return LISTENS
        if self.crosses_inversion():
            return INVERTED
        if self.waits_for_what_failed():
            return "with --invert, what is undone stays while what needs it cannot be undone"
        if self.is_inverted and has_inverse(self.states, self.id) and self.needs and self.given & INVERSE_TAKES[self.ref]:
            return UNDONE
        if "onfail" in self.given and "was not needed, which is not a failure" in self.says:
            return "what was not needed has not failed"
        if "watch" in self.given and self.mine and self.mine["result"] is False and self.other_says in WATCHED:
            return "mod_watch is not called for a state that failed"
        if "watch" in self.given and self.says in WATCHED and self.ref.endswith(".present"):
            return "what mod_watch says of a present is told"
        if "--test" in self.words and self.is_only(lambda line: line.endswith(' is "None", not "True"')):
            return "with --test, what is None would have changed"
        if "onchanges" in self.given and self.owes and self.is_only(lambda line: line.startswith("Changes from ")):
            return TRIED_AGAIN
        if "watch" in self.given and self.owes and self.says in WATCHED and not self.other_says.startswith(RULES):
            return TRIED_AGAIN
        words = (json.dumps(self.mine).count(TO_COME), json.dumps(self.other).count(TO_COME))
        if "--test" in self.words and 0 < words[0] < words[1] and field in ("changes", "new_state"):
            return "with --test, one word stands for what a reference does not find in a list"
        if field == "changes" and self.mine and shapes_differ(self.mine.get("old_state"), self.mine.get("new_state")):
            return "changes of a list that was a dictionary are both"
        # In a loop, what the round before left is compared as well.
        lefts = [self.mine[key] for key in ("old_state", "new_state")[: 1 + self.is_in_loop] if self.mine and key in self.mine]
        if "ValueError: list.remove(x): x not in list" in self.other_says and any(breaks_difference(left, self.mine.get("new_state")) for left in lefts):
            return EQUAL_ELEMENTS
        return None


class History:
    """What is carried from run to run of one set: of which states the memory differs, which failed, and which have not answered a change."""

    def __init__(self):
        self.differs, self.failed, self.owing = set(), set(), set()

    def owes(self, run, tag):
        """Whether a change is left to answer, or a target has succeeded now that failed before and may have changed something then."""
        return tag in self.owing or any(target in self.failed for target in self.targets(run, tag))

    @staticmethod
    def targets(run, tag):
        arguments = run["states"].get(id_of(tag), ("", []))[1]
        return {target for argument in arguments for key in ("onchanges", "watch") for named in argument.get(key, ()) for target in named.values()}

    def ended(self, run, ours, excused):
        """`excused`: by ID the fields that differ."""
        if "--test" in run["words"] or "error" in ours:
            return
        self.differs |= {id for id, fields in excused.items() if fields & {None, "result", "new_state"}}
        results = {tag: one for tag, one in ours.items() if "_listen_|-" not in tag}
        changed = {id_of(tag) for tag, one in results.items() if one["changes"] or (one["result"] is True and id_of(tag) in self.failed)}
        for tag, one in results.items():
            if one["result"] is True:
                self.owing.discard(tag)
            elif self.targets(run, tag) & changed:
                self.owing.add(tag)
        for tag, one in results.items():
            if one["result"] is False and not lines_of(one).startswith(RULES):
                self.failed.add(id_of(tag))
            elif one["result"] is not False:
                self.failed.discard(id_of(tag))


def what_follows(run, excused, history, differing):
    """IDs that differ because what they need does, in this run or in what memory says of it."""
    needs, found = needs_of(run["states"]), set(excused) | (history.differs & differing)
    remembered = {id for id in history.differs if id not in run["states"] or "--invert" in run["words"]}
    while True:
        more = {id for id in differing - found if needs.get(id, set()) & (found | remembered)}
        if not more:
            return found
        found |= more


def judged_run(run, ours, theirs, found, history):
    """The lines that are faults, and the rows of the others; `found`: tag, field and line of what differs."""
    entry = lambda of, tag: of.get(tag) if isinstance(of.get(tag), dict) else None
    rows = [Row(run, tag, entry(ours, tag), entry(theirs, tag), history.owes(run, tag)) for tag, _, _ in found]
    reasons = [row.reason(field) for row, (_, field, _) in zip(rows, found)]
    apart = {row.id for row, reason in zip(rows, reasons) if reason and reason not in (IN_ORDER, LISTENS, NUMBERED_AGAIN, LISTENS_AGAIN)}
    follows = what_follows(run, apart, history, {row.id for row in rows})
    is_inverted = "--invert" in run["words"]
    listens = any("listen" in argument for _, arguments in run["states"].values() for argument in arguments)
    is_other_order = is_inverted and (listens or any(Row(run, tag, None, None, False).crosses_inversion() for tag in ours))
    # What is not pending is merged in the first round, if that is the only one.
    is_other_round = run["loop"] != "none" and any(field in (None, "result") and row.id in follows for row, (_, field, _) in zip(rows, found))
    faults, excused = [], {}
    for row, reason, (_, field, line) in zip(rows, reasons, found):
        if reason or row.id in follows or (field == "__run_num" and is_other_order) or (field in ("changes", "comment") and is_other_round):
            excused.setdefault(row.id, set()).add(field)
        else:
            faults.append(line)
    history.ended(run, ours, excused)
    # Idem called it in the first round of its loop, and nothing is told of that.
    history.differs |= {row.id for row in rows if row.was_called_unheard()}
    return faults, {reason for reason in reasons if reason}
