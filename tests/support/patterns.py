"""Random patterns and texts for comparing regular-expression engines."""

import random

GRIN = "\U0001f600"

ATOMS = (
    "a", "b", ".", r"\w", r"\W", r"\d", r"\s", "[ab]", "[^a]", r"[\d-z]", "[a-c]", r"[\u0000-\uffff]", r"[^\ud83d]",
    r"[\ud800-\udbff]", r"[\uDC00-\uFFFF]", GRIN, f"[{GRIN}]", f"[^{GRIN}b]", r"\ud83d", r"\ude00", "(a)",
    "(?:a|b)", "(?:a|ab)", "(?:|b)", "(?:a|^b)", r"(?:\b|a)", r"\B",
    "(?=a)", "(?!b)", r"\1", "(?<=a)", "(?<!b)", "|", "]", "}", r"\x61", r"\141", r"\cA", "(?<n>a)", "$", "^",
    r"[\b-\r]", "[a-]", "[-a]", r"[\-a]", r"[\c!]", "{", "[]", "[^]", r"\0", r"[\w-\ud83d]",
)  # fmt: skip
TEXTS = (
    "",
    "a",
    "b",
    "ab",
    "ba",
    "aa",
    "a\n",
    GRIN,
    GRIN + "a",
    "\ud83d",
    "\ude00",
    "-",
    "\\",
    "!",
    "\x01",
    "z",
    "]{}",
    "\0",
)


def random_pattern(draw: random.Random) -> str:
    parts = [
        draw.choice(ATOMS) + draw.choice(("", "", "", "*", "+?", "{2}", "{1,2}", "?"))
        for _ in range(draw.randint(1, 4))
    ]
    return "^" + "".join(parts) + "$"
