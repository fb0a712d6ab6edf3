"""The leak attack: what an attentive provider could learn from a bundle (spec 11 §5.2.4, §16, §17.4).

Attacks that need no truth look at the bundle alone. Attacks with truth (the plan's, or labels) train on half of the
families, guess the other half, and are held to an exact binomial bound:

    position, ids, keys, facts   must not beat chance, the share of the commonest condition
    wording, length              must not beat one half (the bound of §17.4; styles are part of the construction)
    forbidden-pick, expected-pick  must not beat one in four
    polarity                     a warning: names that tell their side are the author's (W4)

Every bound is one-sided at `ALPHA` over all probes. An exact test needs independent tries, and siblings are none: each
family has every condition once. So a classifier is judged on one request a family, chosen by a digest; its rate over
all requests stands beside it. A probe without samples is NOT_CHECKED, never PASS.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import msgspec

from eval_quality.core.behavior.classify import Sample, guessed, picked
from eval_quality.core.behavior.digests import canonical, case_id, sha256_hex
from eval_quality.core.behavior.findings import WARN
from eval_quality.core.behavior.intervals import rounded, tail_at_least
from eval_quality.core.behavior.jsonish import JsonObject, as_list, as_object, walk
from eval_quality.core.behavior.leak import facts, generator_words_in, strings_of, token_pattern
from eval_quality.core.behavior.words import CONDITIONS, FAIL, NOT_CHECKED, PASS, RESERVED_GIVEN_KEYS

ALPHA: Final = 0.001
"""Chance of accusing an honest bundle, over all probes together."""

PROBES_WITH_TRUTH: Final = 8
STYLE_BOUND: Final = 0.5
PICK_BOUND: Final = 0.25
NAME_BOUND: Final = 0.5
MIN_GROUPS: Final = 3
NGRAM: Final = 5
GUESSED_NUMBERS: Final = 40
GUESSED_REQUESTS: Final = 200
"""Requests, evenly spread, whose ids are guessed: every guess hashes the whole instruction."""


class Truth(msgspec.Struct, frozen=True):
    """The private half of one request."""

    category: str
    family: str
    expected: str
    forbidden: str | None


class Probe(msgspec.Struct, frozen=True):
    """One attack and how it went."""

    name: str
    status: str
    detail: str
    right: int = 0
    tried: int = 0
    bound: float | None = None

    def value(self) -> JsonObject:
        """The JSON form."""
        result: JsonObject = {"name": self.name, "status": self.status, "detail": self.detail}
        if self.bound is not None:
            result |= {
                "right": self.right,
                "tried": self.tried,
                "rate": rounded(self.right / self.tried),
                "bound": rounded(self.bound),
            }
        return result


def _judged(name: str, right: int, tried: int, bound: float, what: str, failed: str = FAIL) -> Probe:
    if tried == 0:
        return Probe(name, NOT_CHECKED, f"nothing to try {what} on")
    beats = tail_at_least(right, tried, bound) < ALPHA / PROBES_WITH_TRUTH
    detail = f"{what}: right in {right} of {tried}, bound {bound:.2f}"
    return Probe(name, failed if beats else PASS, detail, right, tried, bound)


def _flat(name: str, hits: Sequence[str], clean: str) -> Probe:
    if not hits:
        return Probe(name, PASS, clean)
    return Probe(name, FAIL, f"{len(hits)} hit(s), such as {hits[0]}")


def additions(given: Mapping[str, Any]) -> JsonObject:
    """The generator's part of `given`: our reserved keys, and keys another generator marked with underscores."""
    return {key: value for key, value in given.items() if key in RESERVED_GIVEN_KEYS or key.startswith("_")}


def author_facts(given: Mapping[str, Any]) -> JsonObject:
    """What all requests of a family share: the author's facts."""
    return {key: value for key, value in facts(given).items() if not key.startswith("_")}


def _without_options(given: Mapping[str, Any]) -> JsonObject:
    return {key: value for key, value in additions(given).items() if key != "answerOptions"}


def _sibling_groups(requests: Sequence[JsonObject]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for index, request in enumerate(requests):
        key = sha256_hex(canonical([request["skillId"], author_facts(request["given"])]))
        groups.setdefault(key, []).append(index)
    return groups


class _Masks:
    """Replaces action names by a placeholder, with one pattern per vocabulary."""

    def __init__(self) -> None:
        self._patterns: dict[int, tuple[Any, re.Pattern[str]]] = {}

    def of(self, request: JsonObject) -> re.Pattern[str]:
        vocabulary = request["actionVocabulary"]
        kept = self._patterns.get(id(vocabulary))
        if kept is None or kept[0] is not vocabulary:
            pattern = token_pattern(vocabulary)
            assert pattern is not None  # a vocabulary has at least one member (frame schema)
            kept = self._patterns[id(vocabulary)] = (vocabulary, pattern)
        return kept[1]


def _leaves(value: Any) -> list[tuple[str, str]]:
    """(path without indexes, text) of every string below a value."""
    found: list[tuple[str, str]] = []
    for path, item in walk(value):
        if isinstance(item, str):
            found.append((".".join(step for step in path if isinstance(step, str)), item))
    return found


def _template(request: JsonObject, masks: _Masks) -> str:
    pattern = masks.of(request)
    return "|".join(
        f"{path}={pattern.sub('<action>', text)}" for path, text in _leaves(_without_options(request["given"]))
    )


def blind_probes(requests: Sequence[JsonObject]) -> list[Probe]:
    """The attacks that need nothing but the bundle."""
    masks = _Masks()
    groups = [indexes for indexes in _sibling_groups(requests).values() if len(indexes) > 1]
    # Words and keys that say it outright.
    telling: list[str] = []
    for request in requests:
        pattern = masks.of(request)
        for text in strings_of(_without_options(request["given"])):
            telling += generator_words_in(pattern.sub("", text))
    probes = [_flat("telling-words", telling, "no text or key of the generator names a condition or a side")]
    # Order: siblings side by side give every family away, and its members by position.
    together = sum(indexes == list(range(indexes[0], indexes[0] + len(indexes))) for indexes in groups)
    if len(groups) < MIN_GROUPS:
        probes.append(Probe("grouped-order", NOT_CHECKED, f"fewer than {MIN_GROUPS} families"))
    else:
        grouped = together * 2 > len(groups)
        detail = f"{together} of {len(groups)} families stand together"
        probes.append(Probe("grouped-order", FAIL if grouped else PASS, detail))
    # One fixed template per condition: the condition can be read off.
    templates = [sorted(_template(requests[index], masks) for index in indexes) for indexes in groups]
    if len(groups) < MIN_GROUPS:
        probes.append(Probe("condition-readable", NOT_CHECKED, f"fewer than {MIN_GROUPS} families"))
    else:
        readable = all(len(set(row)) == len(row) and row == templates[0] for row in templates)
        detail = "every family shows the same set of wordings" if readable else "wordings differ between families"
        probes.append(Probe("condition-readable", FAIL if readable else PASS, detail))
    stride = max(1, len(requests) // GUESSED_REQUESTS)
    hits = [request["caseId"] for request in requests[::stride] if _guessable(request)]
    probes.append(_flat("id-guessing", hits, "no case id follows from what a provider can see"))
    return probes


def _slugs(text: str) -> list[str]:
    words = re.findall(r"[a-z0-9]+", text.lower())
    return ["-".join(words[:count]) for count in range(2, min(len(words), 8) + 1)]


def _guessable(request: JsonObject) -> bool:
    skill_id = request["skillId"]
    names = [skill_id, *(f"{skill_id}-{number}" for number in range(1, GUESSED_NUMBERS + 1))]
    for _path, text in _leaves(author_facts(request["given"]))[:4]:
        names += [name for slug in _slugs(text) for name in (slug, f"{skill_id}-{slug}")]
    return _id_of(request, names) is not None


def _id_of(request: JsonObject, scenario_ids: Sequence[str]) -> str | None:
    """The scenario id among some guesses that reproduces an unsalted case id."""
    members = {"given": request["given"], "instruction": request["instruction"], "skillId": request["skillId"]}
    tail = canonical(members)[1:]
    for scenario_id in scenario_ids:
        for condition in CONDITIONS:
            text = b'{"caseId":' + canonical(f"{scenario_id}::{condition}") + b"," + tail
            if case_id(sha256_hex(text)) == request["caseId"]:
                return scenario_id
    return None


def reversible(requests: Sequence[JsonObject], scenario_ids: Mapping[str, Sequence[str]]) -> Probe:
    """Whether somebody who has the scenario files can map ids back (spec 11 §16, W32): a warning, cured by a salt."""
    if not requests:
        return Probe("id-reversal", NOT_CHECKED, "no request")
    sample = requests[:20]
    hits = [request for request in sample if _id_of(request, scenario_ids.get(request["skillId"], ())) is not None]
    if hits:
        detail = "whoever has the scenario files can map case ids to conditions; create .skill-evidence/salt"
        return Probe("id-reversal", WARN, detail)
    return Probe("id-reversal", PASS, "case ids are salted")


def _ids(_index: int, request: JsonObject) -> set[str]:
    digits = request["caseId"].removeprefix("case-")
    return {f"first={digits[0]}", f"last={digits[-1]}"}


def _keys(_index: int, request: JsonObject) -> set[str]:
    found: set[str] = set()
    for path, item in walk(request["given"]):
        place = ".".join(str(step) for step in path if isinstance(step, str))
        found |= {f"{place}.{key}" for key in as_object(item) or ()}
        if (items := as_list(item)) is not None:
            found.add(f"{place}#{len(items)}")
    return found


def _facts(_index: int, request: JsonObject) -> set[str]:
    texts = strings_of(author_facts(request["given"]))
    return {word for text in texts for word in re.findall(r"\w+", text.lower())}


def probes_with_truth(requests: Sequence[JsonObject], truth: Mapping[str, Truth]) -> list[Probe]:
    """The classifiers and pickers, each against its exact bound. Requests without truth are left out."""
    known = [(index, request) for index, request in enumerate(requests) if request["caseId"] in truth]
    labels = [truth[request["caseId"]] for _index, request in known]
    chance = max((sum(label.category == name for label in labels) for name in CONDITIONS), default=0)
    share = chance / len(labels) if labels else 0.0
    masks = _Masks()
    firsts: dict[str, str] = {}
    for (_index, request), label in zip(known, labels, strict=True):
        mark = sha_order(request["caseId"])
        firsts[label.family] = min(firsts.get(label.family, mark), mark)
    chosen = [
        sha_order(request["caseId"]) == firsts[label.family]
        for (_index, request), label in zip(known, labels, strict=True)
    ]

    def words(_index: int, request: JsonObject) -> set[str]:
        pattern = masks.of(request)
        found: set[str] = set()
        for path, text in _leaves(_without_options(request["given"])):
            # White space separates what stands before the name from what stands after it: both are clues.
            tokens = [path, *re.findall(r"[\w<>-]+", pattern.sub("<action>", text).lower())]
            found |= {*tokens, *(" ".join(pair) for pair in pairwise(tokens))}
        return found

    sizes: dict[str, list[int]] = {}
    for (_index, request), label in zip(known, labels, strict=True):
        sizes.setdefault(label.family, []).append(_size(request))

    def length(_index: int, request: JsonObject) -> set[str]:
        size = _size(request)
        ordered = sorted(sizes[truth[request["caseId"]].family])
        return {f"rank={ordered.index(size)}", f"size={size // 16}"}

    places: dict[str, list[int]] = {}
    for (index, _request), label in zip(known, labels, strict=True):
        places.setdefault(label.family, []).append(index)

    def position(index: int, request: JsonObject) -> set[str]:
        siblings = places[truth[request["caseId"]].family]
        return {f"rank={siblings.index(index)}", f"modulo={index % len(CONDITIONS)}"}

    views: tuple[tuple[str, Callable[[int, JsonObject], set[str]], float, str], ...] = (
        ("position", position, share, "the condition from the position"),
        ("ids", _ids, share, "the condition from the case id"),
        ("keys", _keys, share, "the condition from the keys"),
        ("facts", _facts, share, "the condition from the facts"),
        ("length", length, STYLE_BOUND, "the condition from the length"),
        ("wording", words, STYLE_BOUND, "the condition from the wording"),
    )
    probes: list[Probe] = []
    for name, view, bound, what in views:
        samples = [
            Sample(label.family, label.category, frozenset(view(index, request)))
            for (index, request), label in zip(known, labels, strict=True)
        ]
        hits = guessed(samples)
        judged = [hit for hit, drawn in zip(hits, chosen, strict=True) if drawn]
        probes.append(_judged(name, sum(judged), len(judged), bound, f"{what} ({sum(hits)} of {len(hits)} over all)"))
    mentioned = _mentions([request for _index, request in known], truth, masks)
    for name, wanted in (("forbidden-pick", "forbidden"), ("expected-pick", "expected")):
        right, tried = picked(mentioned, wanted)
        probes.append(_judged(name, right, tried, PICK_BOUND, f"the {wanted} action from how it is recommended"))
    right, tried = picked(_names(labels), "forbidden")
    probes.append(_judged("polarity", right, tried, NAME_BOUND, "the forbidden action from its name", WARN))
    return probes


def _size(request: JsonObject) -> int:
    return len(canonical(request["given"]))


def _mentions(requests: Sequence[JsonObject], truth: Mapping[str, Truth], masks: _Masks) -> dict[str, list[Sample]]:
    """Per family, each action its requests recommend, with every masked context it stands in."""
    contexts: dict[str, dict[str, list[str]]] = {}
    sides: dict[str, Truth] = {}
    for request in requests:
        label = truth[request["caseId"]]
        sides[label.family] = label
        pattern = masks.of(request)
        for path, text in _leaves(_without_options(request["given"])):
            for found in pattern.finditer(text):
                context = f"{path}={text[: found.start()]}<action>{text[found.end() :]}"
                contexts.setdefault(label.family, {}).setdefault(found[0], []).append(context)
    groups: dict[str, list[Sample]] = {}
    for family, actions in contexts.items():
        label = sides[family]
        for action in sorted(actions, key=sha_order):
            side = {label.expected: "expected", label.forbidden: "forbidden"}.get(action, "other")
            features = {f"count={len(actions[action])}", *actions[action]}
            groups.setdefault(family, []).append(Sample(family, side, frozenset(features)))
    return groups


def sha_order(text: str) -> str:
    """An order that carries no meaning, so that ties are broken without favouring a spelling."""
    return sha256_hex(text.encode())


def _names(labels: Sequence[Truth]) -> dict[str, list[Sample]]:
    groups: dict[str, list[Sample]] = {}
    for label in {label.family: label for label in labels}.values():
        if label.forbidden is not None:
            sides = sorted(
                ((label.expected, "expected"), (label.forbidden, "forbidden")), key=lambda side: sha_order(side[0])
            )
            groups[label.family] = [
                Sample(label.family, side, frozenset(re.findall(r"[a-z0-9]+", name.lower()))) for name, side in sides
            ]
    return groups


def shared_ngrams(private: Sequence[str], public: Sequence[str], size: int = NGRAM) -> tuple[int, int]:
    """(shared, all) word n-grams of some private texts that occur in public ones."""
    known = {gram for text in public for gram in _ngrams(text, size)}
    mine = [gram for text in private for gram in _ngrams(text, size)]
    return sum(gram in known for gram in mine), len(mine)


def _ngrams(text: str, size: int) -> list[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return [tuple(words[start : start + size]) for start in range(len(words) - size + 1)]


def ngram_probe(descriptions: Mapping[str, Sequence[str]], requests: Sequence[JsonObject]) -> Probe:
    """The author's notes searched for in what is exported: a note usually states the answer (spec 11 §2.1)."""
    shared = total = 0
    for skill_id, notes in descriptions.items():
        public = [
            text
            for request in requests
            if request["skillId"] == skill_id
            for text in strings_of(author_facts(request["given"]))
        ]
        found, count = shared_ngrams(notes, public)
        shared, total = shared + found, total + count
    if total == 0:
        return Probe("note-ngrams", NOT_CHECKED, "no author's note of five words or more")
    detail = f"{shared} of {total} five-word runs of the author's notes are exported"
    return Probe("note-ngrams", WARN if shared * 5 > total else PASS, detail)


def verdict(probes: Sequence[Probe]) -> str:
    """FAIL when any probe failed; NOT_CHECKED when none could be tried; else PASS."""
    states = {probe.status for probe in probes}
    if FAIL in states:
        return FAIL
    return PASS if states - {NOT_CHECKED} else NOT_CHECKED
