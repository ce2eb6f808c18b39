"""How fast are trials? 64 drawn replays of a crawl of 3.6 s, on one thread and on two: seconds, and the same verdict.

Every motor has gear play, so that its encoder is read every 2 ms. Threshold: 30 s on two cores that do nothing else.

Run: python benchmarks/how_fast_are_trials.py [TRIALS]
"""

from __future__ import annotations

import sys
import time

import bunraku
from bunraku.verification.trials.run import run_trials
from bunraku.verification.verify import judge_of

MOST_SECONDS = 30.0


def main(words: list[str]) -> int:
    count = int(words[0]) if words else 64
    performance = bunraku.perform("walker", "crawl", performer="locomotion")
    judge, seen = judge_of(performance), []
    run_trials(judge, 1)
    for threads in (1, 2):
        wall, cpu = time.perf_counter(), time.process_time()
        trials = run_trials(judge, count, seed=1, threads=threads)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        seen.append([trial.as_json for trial in trials.trials])
        print(f"{count} trials of {performance.duration:g} s, {threads} threads: {wall:6.1f} s, CPU {cpu:6.1f} s; "
              f"{trials.held} hold; {trials.hurts_most}; worst {trials.worst.draw.number}")  # fmt: skip
    same = seen[0] == seen[1]
    print("the same draws and the same verdict" if same else "THE VERDICTS DIFFER")
    return 0 if same and wall <= MOST_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
