"""Rating studies of explanations of PixelHumor's comics: sections 5.3 and 5.4, appendix C."""

from __future__ import annotations

from punchline.benchmarks.study import BEST, Question, Study, text_rows

_COMICS = "Some comics are dark or sarcastic. Leave out whatever you would rather not look at: go on to the next."

STUDIES = {
    "explanations": Study(
        title="What is funny about this comic?",
        feeds=(),  # the texts are rated first
        tasks={"Q6": ""},
        questions={"": (Question("", "Explain what is funny about this comic."),)},
        intro=(
            "You see a comic. Explain in your own words what is funny about it, as you would to somebody who does not "
            "get it: what happens, what the words and the pictures do together, and what one has to know.",
            _COMICS,
        ),
        writes=True,
        overlap=1,
        file="explanations.csv",
        rows=text_rows,
    ),
    "relevance": Study(
        title="Does the explanation fit the comic?",
        feeds=("table5", "table6", "figure3"),
        tasks={"Q6": ""},
        questions={"": (Question("", "The explanation says what is funny about this comic."),)},
        intro=(
            "You see a comic and one explanation of its humour. Say how far you agree that the explanation is right: "
            "from 1, strongly disagree, to 7, strongly agree.",
            "In your reasons name the words of the explanation that are right or wrong, what it leaves out, and what "
            "it has understood between the lines.",
            _COMICS,
        ),
        options=(("1", "strongly disagree"), *((str(value), "") for value in range(2, 7)), ("7", "strongly agree")),
        note="Your reasons",
    ),
    "preference": Study(
        title="Which explanation is the best?",
        feeds=("table7",),
        tasks={"Q6": ""},
        questions={"": (Question(BEST, "The best explanation of what is funny about this comic:"),)},
        intro=("You see a comic and several explanations of its humour. Choose the best one.", _COMICS),
        level="nominal",
    ),
}
