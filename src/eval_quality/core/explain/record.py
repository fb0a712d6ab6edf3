"""The shape of a catalogue entry.

An example is a base document and two patches: `failing` shows the code, `mended` does not. What "shows" means depends
on the subject:

    contract      compiling the contract raises the code
    brief         sealing it works and auditing the brief raises the code
    coverage      the contract has exactly that coverage gap
    probe         qualifying the probe reports exactly that reason
    preflight     pre-flight over contract, probes and observations fails exactly that check
    text          reading the text raises the code
    evaluation    resolving the check over the observed body raises the code
    manifest      checking the resolved text against the declared digest raises the code
    target        asking the target policy about the request raises the code
    port          calling the described port raises the code
    aggregation   aggregating the evidence artifact, against itself or with a second one, raises the code
"""

from typing import Literal, NamedTuple, TypeAlias

from eval_quality.core.explain.patch import Edit

Subject: TypeAlias = Literal[
    "contract",
    "brief",
    "coverage",
    "probe",
    "preflight",
    "text",
    "evaluation",
    "manifest",
    "target",
    "port",
    "aggregation",
]
Family: TypeAlias = Literal[
    "structural failure",
    "runtime fault",
    "aggregation refusal",
    "coverage rule",
    "pre-flight check",
    "qualification reason",
]


class Explanation(NamedTuple):
    """One code: what it means, why it matters, and one example that fails and is mended.

    `path` is the artifact path of the failing example, where it has one; `also` names the codes that the example shows
    after its own because one cannot be had without the other.
    """

    code: str
    family: Family
    means: str
    matters: str
    subject: Subject
    failing: tuple[Edit, ...]
    mended: tuple[Edit, ...] = ()
    path: str = ""
    also: tuple[str, ...] = ()
