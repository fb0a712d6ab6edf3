"""`run_score` with a corpus port: one checked call for each private reference (spec 10 §7.6, §7.7)."""

from typing import Any

import pytest

import eval_quality
from eval_quality.errors import RuntimeFault
from eval_quality.value.digest import digest_bytes
from support import judgment as j

DATA = {"manifest": b"an isolation manifest", "entry": b"an entry"}


class Corpus:
    """A port over bytes held in memory; answers with its own mapping, so that it can answer wrongly."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def resolve(self, request: Any, signal: Any) -> Any:
        assert signal.aborted is False
        self.asked.append(request.private_ref)
        if self.answer is not None:
            return self.answer(request)
        return {"privateRef": request.private_ref, "bytes": DATA[request.private_ref]}


def private_inputs(**over: Any) -> dict[str, Any]:
    record = j.record(isolationManifestArtifact=j.private("manifest", digest_bytes(DATA["manifest"])))
    entry = {
        "privateRef": "entry",
        "digest": digest_bytes(DATA["entry"]),
        "artifactKind": "other",
        "publicSafeRunId": None,
        "sanitizationPolicy": None,
    }
    private_manifest = {"schemaVersion": 1, **j.LINEAGE, "entries": [entry]}
    return {**j.inputs(record=record, private_manifest=private_manifest), **over}


def test_s7_6_private_references_are_resolved_through_the_port_entries_first() -> None:
    corpus = Corpus()
    result = eval_quality.run_score(port=corpus, **private_inputs())
    assert result.artifact is not None
    assert corpus.asked == ["entry", "manifest"]


def test_s7_6_without_private_references_no_port_is_called() -> None:
    corpus = Corpus()
    assert eval_quality.run_score(port=corpus, **j.inputs()).artifact is not None
    assert corpus.asked == []
    assert eval_quality.run_score(**j.inputs()).artifact is not None


def test_s7_6_a_private_reference_without_a_port_is_a_programming_error() -> None:
    with pytest.raises(TypeError, match="corpus port"):
        eval_quality.run_score(**private_inputs())


def test_s7_7_an_aborted_signal_stops_before_the_call() -> None:
    controller = eval_quality.AbortController()
    controller.abort()
    corpus = Corpus()
    with pytest.raises(RuntimeFault) as raised:
        eval_quality.run_score(port=corpus, signal=controller.signal, **private_inputs())
    assert (raised.value.code, raised.value.artifact_path) == ("aborted", "CorpusResolveRequest")
    assert corpus.asked == []


def refuse(_: Any) -> Any:
    raise RuntimeFault("port-failure", "CorpusResolveRequest", "outside the corpus")


def explode(_: Any) -> Any:
    raise OSError("disk gone")


@pytest.mark.parametrize(
    ("answer", "code", "path"),
    [
        (lambda request: {"privateRef": request.private_ref}, "port-contract-violation", "CorpusResolveResponse"),
        (lambda _: {}, "port-contract-violation", "CorpusResolveResponse"),
        (refuse, "port-failure", "CorpusResolveRequest"),
        (explode, "port-failure", "CorpusResolveResponse"),
        (
            lambda request: {"privateRef": request.private_ref, "bytes": b"other"},
            "digest-mismatch",
            "PrivateArtifactManifest.entries[0]",
        ),
    ],
)
def test_s7_7_what_a_port_may_do_wrong(answer: Any, code: str, path: str) -> None:
    corpus = Corpus(answer)
    with pytest.raises(RuntimeFault) as raised:
        eval_quality.run_score(port=corpus, **private_inputs())
    assert (raised.value.code, raised.value.artifact_path) == (code, path)
