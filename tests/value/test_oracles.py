"""Independent implementations to disagree with: the `rfc8785` package and Node's JSON (spec 01 §5)."""

import base64
import hashlib
import json
import random
import shutil
import subprocess
from typing import Any

import pytest
import rfc8785
from hypothesis import given

from eval_quality.errors import RuntimeFault
from eval_quality.value import canonical, precise
from eval_quality.value.canonical import canonicalize
from eval_quality.value.compare import json_equal
from eval_quality.value.digest import digest_value
from eval_quality.value.scan import scan
from eval_quality.value.text import js_number
from support.json_values import PIECES, random_value, spelled, values

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed: its JSON is not compared with ours")

CANONICAL_JS = """
const lines = require('fs').readFileSync(0, 'utf8').split('\\n').slice(0, -1);
const canon = (v) => Array.isArray(v) ? '[' + v.map(canon).join(',') + ']'
  : v !== null && typeof v === 'object'
  ? '{' + Object.keys(v).sort().map((k) => JSON.stringify(k) + ':' + canon(v[k])).join(',') + '}'
  : JSON.stringify(v);
for (const line of lines) {
  let out;
  try { out = canon(JSON.parse(line)); } catch { out = '!'; }
  process.stdout.write(Buffer.from(out, 'utf8').toString('base64') + '\\n');
}
"""
NUMBERS_JS = """
const lines = require('fs').readFileSync(0, 'utf8').split('\\n').slice(0, -1);
process.stdout.write(lines.map((line) => String(Number(line))).join('\\n') + '\\n');
"""


def fault_code(text: str) -> str | None:
    """The code of the fault in a text, or None."""
    try:
        scan(text, "Thing")
    except RuntimeFault as fault:
        return fault.code
    return None


def node(script: str, lines: list[str]) -> list[str]:
    assert NODE is not None
    text = "".join(line + "\n" for line in lines)
    done = subprocess.run([NODE, "-e", script], input=text.encode(), capture_output=True, check=True, timeout=120)
    return done.stdout.decode().splitlines()


@given(values)
def test_s5_against_rfc8785(value: Any) -> None:
    assert canonicalize(value, "Thing") == rfc8785.dumps(value)


@needs_node
def test_s5_against_node() -> None:
    random_ = random.Random(8785)
    texts = [spelled(random_value(random_), random_).replace("\n", " ") for _ in range(1500)]
    for text, answer in zip(texts, node(CANONICAL_JS, texts), strict=True):
        assert canonicalize(scan(text, "Thing"), "Thing") == base64.b64decode(answer), text


@needs_node
def test_s3_node_refuses_what_we_call_no_json() -> None:
    random_ = random.Random(7159)
    texts = ["".join(random_.choices(PIECES, k=random_.randrange(1, 8))) for _ in range(4000)]
    texts = [text for text in texts if "\n" not in text and "\ufeff" not in text]
    refused = 0
    for text, answer in zip(texts, node(CANONICAL_JS, texts), strict=True):
        is_json = base64.b64decode(answer) != b"!"
        code = fault_code(text)
        if code is None:
            assert canonicalize(scan(text, "Thing"), "Thing") == base64.b64decode(answer), text
        else:
            refused += 1
            # What Node reads and we refuse is outside the domain; what we call no JSON, Node does not read either.
            assert code == "non-canonicalizable-value" or not is_json, text
    assert refused > 1000


@needs_node
def test_s5_number_notation_against_node() -> None:
    random_ = random.Random(262)
    numbers = [random_.choice([-1, 1]) * random_.random() * 10.0 ** random_.randrange(-325, 309) for _ in range(4000)]
    numbers += [round(number, 2) for number in numbers[:500]] + [float(10**power) for power in range(30)]
    assert node(NUMBERS_JS, [repr(number) for number in numbers]) == [js_number(number) for number in numbers]


@pytest.mark.slow
def test_s5_a_hundred_thousand_documents_against_rfc8785() -> None:
    random_ = random.Random(20260801)
    large = 0
    for _ in range(100_000):
        value = random_value(random_)
        expected = rfc8785.dumps(value)
        assert canonicalize(value, "Thing") == expected
        assert canonical.write(value) == expected
        if isinstance(value, (dict, list)):
            quick = canonical._encode(value)
            assert quick in (None, expected)
            large += quick is not None
        assert digest_value(value, "Thing") == "sha256:" + hashlib.sha256(expected).hexdigest()
    assert large > 10_000


@pytest.mark.slow
def test_s3_a_hundred_thousand_documents_read_twice() -> None:
    random_ = random.Random(8259)
    for _ in range(100_000):
        value = random_value(random_)
        text = spelled(value, random_)
        found = scan(text, "Thing")
        assert json_equal(found, value)
        assert repr(found) == repr(precise.read(text, "Thing"))


@pytest.mark.slow
def test_s3_a_hundred_thousand_damaged_documents() -> None:
    random_ = random.Random(666)
    faults = 0
    for _ in range(100_000):
        text = spelled(random_value(random_, 2), random_)
        at = random_.randrange(len(text) + 1)
        text = (
            text[:at]
            + random_.choice(['"', ",", "}", "1", "\\", "\t", "", "\\ud800", "-"])
            + text[at + random_.randrange(3) :]
        )
        answers: list[Any] = []
        for read in (scan, precise.read):
            try:
                answers.append(repr(read(text, "Thing")))
            except RuntimeFault as fault:
                answers.append((fault.code, fault.detail))
        assert answers[0] == answers[1], text
        faults += isinstance(answers[0], tuple)
        if isinstance(answers[0], tuple) and answers[0][0] == "schema-parse-failure":
            with pytest.raises(ValueError):
                json.loads(text)
    assert faults > 50_000
