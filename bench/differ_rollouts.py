"""Random lives of workloads (tests/workloads/random_lives_test.cc) on all processors, beside what must always hold: no decision leaves
fewer pods available than allowed, and everything ends as it is wanted."""
import os
import re
import subprocess


def play(test, first, count):
    environment = dict(os.environ, FETTLE_LIFE=str(first), FETTLE_LIVES=str(count))
    return subprocess.Popen([test, "--gtest_filter=RandomLives*", "--gtest_brief=1"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def compare(test, count, seed):
    """Whether the lives `seed` to `seed + count - 1` kept the rules; of each part, the first that did not is told."""
    parts = min(os.cpu_count() or 1, count)
    edges = [seed + count * i // parts for i in range(parts + 1)]
    players = [play(test, first, after - first) for first, after in zip(edges, edges[1:])]
    good = True
    for player in players:
        text = player.communicate()[0]
        played = re.search(r"\[  PASSED  \] 1 test", text)
        if player.returncode != 0 or not played:
            good = False
            print(text[-4000:])
            for life in re.findall(r"FETTLE_LIFE=\d+", text)[:1]:
                print(f"the life again: {life} {test} --gtest_filter='RandomLives*'")
    print(f"rollouts: {count} lives, {'none' if good else 'some'} of them less available than allowed or unfinished", flush=True)
    return good
