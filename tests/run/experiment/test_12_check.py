"""Every structural problem of an experiment has a code and a place: spec 12 §12.3-12.8, §12.27."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from ruamel.yaml import YAML

from eval_quality.errors import RuntimeFault, StructuralFailure
from eval_quality.run.errors import AuthoringProblem, ExperimentFailure, RunFault
from eval_quality.run.plan.execute import execution_order
from eval_quality.run.plan.values import plan_steps
from support.experiments import write_experiment
from support.runs import edit, place, planned, write_json

FILE = "experiment.toml"
MUTATION = "mutations/forgets.toml"
DEFECT, CLEAN = "probes/p-001.json", "probes/p-002.json"
SERVER = (
    '[interface.store.start]\ncommand = ["python3", "-B", "store.py"]\n[interface.store.start.ready]\nkind = "tcp"\n'
)
EVALUATOR = '\n[[evaluator]]\nid = "{id}"\nkind = "command"\ncommand = ["true"]\n'

Change = Callable[[Path], Any]
Expected = tuple[str, str, str]
"""Code, file, and the text the problem points at (empty: the beginning of the file)."""


def in_file(*replacements: tuple[str, str], file: str = FILE) -> Change:
    return lambda folder: edit(folder / file, *replacements)


def whole(file: str, text: str) -> Change:
    return lambda folder: (folder / file).write_text(text)


def in_json(file: str, change: Callable[[Any], Any]) -> Change:
    def apply(folder: Path) -> None:
        value = json.loads((folder / file).read_text())
        change(value)
        write_json(folder / file, value)

    return apply


def subject_entry(make: Callable[[Path], Any]) -> Change:
    return lambda folder: make(folder.parent / "subject" / "entry")


ANSWER = {"exitCode": 0, "stdout": {"kind": "text", "value": "x"}, "stderr": {"kind": "absent"}, "artifacts": {}}


def reply(*answers: dict[str, Any]) -> Change:
    return lambda folder: write_json(folder / "replies" / "r.json", {"id": "r", "answers": list(answers)})


def answer(operation: str, interface: str = "store", **members: Any) -> dict[str, Any]:
    return {"interface_id": interface, "operation_id": operation, "observation": {**ANSWER, **members}}


LOCATED: dict[str, tuple[str, Change, list[Expected]]] = {
    "unknown keys of later parts": (
        "cli",
        in_file(
            ('system_id = "store"\n', 'system_id = "store"\nwritable = true\n'),
            ("", '[judge]\nkind = "none"\n[cache]\nmode = "off"\n[held_out]\nroot = "x"\n[baseline]\nalpha = 0.1\n'),
        ),
        [
            ("author-unknown-key", FILE, "writable"),
            ("author-unknown-key", FILE, "[judge]"),
            ("author-unknown-key", FILE, "[cache]"),
            ("author-unknown-key", FILE, "[held_out]"),
            ("author-unknown-key", FILE, "[baseline]"),
        ],
    ),
    "fields of a table that later parts bring": (
        "mcp",
        in_file(
            ("[run]\n", '[run]\nreleases = "x"\n'),
            ('kind = "mcp"\n', 'kind = "mcp"\ntransport = "http"\nprotocol = "auto"\n'),
            ("", '[budget]\nmax_cost_usd = "1"\n[limits]\nhost = 3\n'),
        ),
        [
            ("author-unknown-key", FILE, "releases"),
            ("author-unknown-key", FILE, "transport"),
            ("author-unknown-key", FILE, "protocol"),
            ("author-unknown-key", FILE, "max_cost_usd"),
            ("author-unknown-key", FILE, "host = 3"),
        ],
    ),
    "an evaluator of a later kind": (
        "cli",
        in_file(("", '[[evaluator]]\nid = "m"\nkind = "agent"\ncommand = ["x"]\n')),
        [("author-type-mismatch", FILE, 'kind = "agent"')],
    ),
    "a mutation of a later kind": (
        "cli",
        whole(MUTATION, 'id = "forgets"\nkind = "prompt"\nfile = "a"\nwith = "b"\n'),
        [("author-type-mismatch", MUTATION, "kind")],
    ),
    "a release arm": (
        "cli",
        in_file(('"mutation": "forgets"', '"release": "r1"'), file=DEFECT),
        [("author-unknown-key", DEFECT, '"release"')],
    ),
    "a held-out draft": (
        "cli",
        in_file(('"rationale"', '"partition": "held-out", "rationale"'), file=DEFECT),
        [("author-unknown-key", DEFECT, '"partition"')],
    ),
    "values of another type": (
        "cli",
        in_file(("[run]\n", '[run]\ntrials = "8"\nseed = 1.5\n'), ('target_args = ["-B"', 'target_args = [3, "-B"')),
        [
            ("author-type-mismatch", FILE, "trials"),
            ("author-type-mismatch", FILE, "seed"),
            ("author-type-mismatch", FILE, "target_args"),
        ],
    ),
    "numbers out of their domain": (
        "cli",
        in_file(("", "[qualify]\nrepeats = 26\nclean_min_pass = 1.5\n[retry]\nlaunch = -1\n")),
        [
            ("author-number-out-of-domain", FILE, "repeats"),
            ("author-number-out-of-domain", FILE, "clean_min_pass"),
            ("author-number-out-of-domain", FILE, "launch"),
        ],
    ),
    "a missing key": (
        "cli",
        in_file(('system_id = "store"\n', "")),
        [("author-missing-key", FILE, "[subject]")],
    ),
    "another header": (
        "cli",
        in_file(('"experiment/1"', '"experiment/2"')),
        [("author-type-mismatch", FILE, "evalQuality")],
    ),
    "the contract outside the folder": (
        "cli",
        in_file(('id = "store-cli"\n', 'id = "store-cli"\ncontract = "../c.json"\nfloors = "/f.json"\n')),
        [("experiment-path-escape", FILE, "contract"), ("experiment-path-escape", FILE, "floors")],
    ),
    "no draft": (
        "cli",
        in_file(('id = "store-cli"\n', 'id = "store-cli"\nprobes = "none/*"\n')),
        [("experiment-reference-unresolved", FILE, "probes")],
    ),
    "evaluator names": (
        "cli",
        in_file(
            ("[run]\n", '[run]\nevaluators = ["a", "nobody", "a"]\n'),
            ("", EVALUATOR.format(id="deterministic") + EVALUATOR.format(id="a") + EVALUATOR.format(id="a")),
            ("", 'workspace = "../outside"\n'),
        ),
        [
            ("author-reserved-prefix", FILE, 'id = "deterministic"'),
            ("author-id-collision", FILE, "#second a"),
            ("experiment-path-escape", FILE, "workspace"),
            ("experiment-reference-unresolved", FILE, "evaluators"),
            ("author-id-collision", FILE, "evaluators"),
        ],
    ),
    "a binding under another name": (
        "cli",
        in_file(("[interface.store]", "[interface.shop]"), ("interface.store.", "interface.shop.")),
        [
            ("binding-missing", FILE, "[interface.shop]"),
            ("experiment-reference-unresolved", FILE, "[interface.shop]"),
        ],
    ),
    "a binding of another kind": (
        "cli",
        in_file(('kind = "cli"', 'kind = "mcp"')),
        [
            ("binding-kind-mismatch", FILE, 'kind = "mcp"'),
            ("author-unknown-key", FILE, "[interface.store.executable.store]"),
            ("author-missing-key", FILE, "[interface.store]"),
        ],
    ),
    "fields of another kind": (
        "cli",
        in_file(
            (
                'kind = "cli"',
                'kind = "cli"\ncommand = ["x"]\nlifetime = "trial"\ncwd = "../x"\nenvironment = { PATH = "/bin" }',
            )
        ),
        [
            ("author-unknown-key", FILE, "command"),
            ("author-type-mismatch", FILE, "lifetime"),
            ("experiment-path-escape", FILE, "cwd"),
            ("author-pattern-mismatch", FILE, "environment"),
        ],
    ),
    "a service that is started and addressed": (
        "api",
        in_file(("", '[interface.store.address]\nurl = "http://127.0.0.1:9"\naddresses = ["127.0.0.1"]\n')),
        [("author-missing-key", FILE, "[interface.store]")],
    ),
    "a service per call, ready by a line nobody describes": (
        "api",
        in_file(('kind = "api"\n', 'kind = "api"\nlifetime = "call"\n'), ('kind = "tcp"', 'kind = "line"')),
        [
            ("author-type-mismatch", FILE, "lifetime"),
            ("author-missing-key", FILE, "[interface.store.start]"),
        ],
    ),
    "addresses of a class nobody admitted": (
        "api",
        lambda folder: (
            edit(
                folder / FILE,
                (
                    SERVER,
                    '[interface.store.address]\nurl = "http://x"\naddresses = ["169.254.169.254", "10.0.0.1", "::1"]\n',
                ),
            ),
            (folder / MUTATION).unlink(),
            (folder / DEFECT).unlink(),
        ),
        [
            ("target-class-refused", FILE, "[interface.store.address]"),
            ("target-class-refused", FILE, "[interface.store.address]"),
        ],
    ),
    "an executable nobody bound": (
        "cli",
        in_file(("executable.store", "executable.other")),
        [("binding-missing", FILE, "[interface.store.executable.other]")],
    ),
    "placeholders and secrets": (
        "cli",
        in_file(
            (
                'kind = "cli"\n',
                'kind = "cli"\n[interface.store.environment]\nA = "{secret:NOPE}"\n'
                'B = "{what}"\nC = "{{ok}} {workspace}"\n',
            ),
            ('"-B"', '"{secret:X}"'),
        ),
        [
            ("author-pattern-mismatch", FILE, "target_args"),
            ("experiment-reference-unresolved", FILE, "A ="),
            ("author-pattern-mismatch", FILE, "B ="),
        ],
    ),
    "principals nobody declared": (
        "cli",
        in_file(("", '[principals.root.shop]\nenvironment = { A = "b" }\n')),
        [
            ("experiment-reference-unresolved", FILE, "[principals.root.shop]"),
            ("experiment-reference-unresolved", FILE, "[principals.root.shop]"),
        ],
    ),
    "values of nothing": (
        "cli",
        in_file(("", '[values.step.nope.option]\nkey = "a"\n[values.operation."store/nope".option]\nkey = "b"\n')),
        [
            ("experiment-reference-unresolved", FILE, "[values.step.nope.option]"),
            ("experiment-reference-unresolved", FILE, '[values.operation."store/nope".option]'),
        ],
    ),
    "a find that occurs often": (
        "cli",
        in_file(("find = '''    kept[key] = value\n'''", "find = 'kept'"), file=MUTATION),
        [("mutation-target-mismatch", MUTATION, "find")],
    ),
    "a find that never occurs": (
        "cli",
        in_file(("    kept[key] = value", "    kept[key]  = value"), file=MUTATION),
        [("mutation-target-mismatch", MUTATION, "find")],
    ),
    "a file that is not there": (
        "cli",
        in_file(("store.py", "nope.py"), file=MUTATION),
        [("mutation-target-mismatch", MUTATION, "find")],
    ),
    "a change that changes nothing": (
        "cli",
        whole(MUTATION, 'id = "forgets"\nkind = "replace"\nfile = "store.py"\nfind = "START ="\nreplace = "START ="\n'),
        [("mutation-target-mismatch", MUTATION, "find")],
    ),
    "no base64": (
        "cli",
        whole(
            MUTATION,
            'id = "forgets"\nkind = "replace"\nencoding = "base64"\nfile = "store.py"\nfind = "*"\nreplace = "x"\n',
        ),
        [("mutation-target-mismatch", MUTATION, "find")],
    ),
    "a launch change without its interface": (
        "cli",
        whole(MUTATION, 'id = "forgets"\nkind = "environment"\nfile = "x"\n'),
        [
            ("author-missing-key", MUTATION, ""),
            ("author-unknown-key", MUTATION, "file"),
            ("author-missing-key", MUTATION, ""),
        ],
    ),
    "a launch change of nothing": (
        "cli",
        whole(MUTATION, 'id = "forgets"\nkind = "environment"\ninterface = "nope"\nset = { PATH = "x" }\n'),
        [("experiment-reference-unresolved", MUTATION, "interface"), ("author-pattern-mismatch", MUTATION, "")],
    ),
    "an argument that is not there": (
        "cli",
        whole(MUTATION, 'id = "forgets"\nkind = "argument"\ninterface = "store"\nremove = [9]\n'),
        [("mutation-target-mismatch", MUTATION, "")],
    ),
    "two argument changes": (
        "cli",
        whole(MUTATION, 'id = "forgets"\nkind = "argument"\ninterface = "store"\nremove = [0]\nappend = ["x"]\n'),
        [("author-missing-key", MUTATION, "")],
    ),
    "an unset variable": (
        "cli",
        whole(MUTATION, 'id = "forgets"\nkind = "environment"\ninterface = "store"\nunset = ["NEVER"]\n'),
        [("mutation-target-mismatch", MUTATION, "")],
    ),
    "mutation files outside": (
        "cli",
        whole(MUTATION, 'id = "forgets"\nkind = "fixture"\nfile = "../a"\nwith = "/b"\n'),
        [("experiment-path-escape", MUTATION, "file"), ("experiment-path-escape", MUTATION, "with")],
    ),
    "one mutation twice": (
        "cli",
        lambda folder: (folder / "mutations" / "again.toml").write_text((folder / MUTATION).read_text()),
        [("author-id-collision", MUTATION, "id")],
    ),
    "a class the arm does not carry": (
        "cli",
        in_file(('"class": "defect"', '"class": "gameability"'), file=DEFECT),
        [("probe-arm-mismatch", DEFECT, '"class"')],
    ),
    "two arms": (
        "cli",
        in_file(('"arm": {', '"arm": {"clean": true, '), file=DEFECT),
        [("probe-arm-mismatch", DEFECT, '"arm"')],
    ),
    "references of a draft": (
        "cli",
        in_file(
            ('"behavior_id": "B-001"', '"behavior_id": "B-009", "designated_oracle": "O-777", "covers": ["O-003"]'),
            ('"mutation": "forgets"', '"mutation": "nope"'),
            file=DEFECT,
        ),
        [
            ("experiment-reference-unresolved", DEFECT, '"mutation"'),
            ("experiment-reference-unresolved", DEFECT, '"behavior_id"'),
            ("experiment-reference-unresolved", DEFECT, '"O-003"'),
            ("experiment-reference-unresolved", DEFECT, '"designated_oracle"'),
        ],
    ),
    "a clean control with a defect": (
        "cli",
        in_file(
            (
                '"no_known_defect"',
                '"defects": [{"defect_id": "D-001", "summary": "s", "severity": "low"}], "no_known_defect"',
            ),
            file=CLEAN,
        ),
        [("probe-arm-mismatch", CLEAN, "")],
    ),
    "what each arm needs": (
        "cli",
        lambda folder: (
            edit(folder / CLEAN, ('"no_known_defect"', '"degenerate_response"')),
            edit(folder / DEFECT, ('"expected_failure"', '"degenerate_response"'), ('"defect"', '"canary"')),
        ),
        [
            ("author-missing-key", DEFECT, ""),
            ("author-missing-key", DEFECT, ""),
            ("author-missing-key", CLEAN, ""),
        ],
    ),
    "one probe twice": (
        "cli",
        in_file(("P-002", "P-001"), file=CLEAN),
        [("author-id-collision", CLEAN, '"probe_id"')],
    ),
    "a damaged arm in production": (
        "cli",
        in_file(("[run]\n", '[run]\nmode = "production"\n')),
        [("probe-arm-mismatch", DEFECT, '"arm"')],
    ),
    "answers of a reply": (
        "cli",
        reply(answer("put", "nope"), answer("nope", exitCode="0"), answer("put"), answer("get")),
        [
            ("experiment-reference-unresolved", "replies/r.json", '"interface_id": "nope"'),
            ("experiment-reference-unresolved", "replies/r.json", '"operation_id": "nope"'),
            ("author-type-mismatch", "replies/r.json", '"exitCode": "0"'),
        ],
    ),
    "a reply that does not answer the plan": (
        "cli",
        reply(answer("put")),
        [("reply-incomplete", "replies/r.json", '"answers"')],
    ),
    "a plan pass without a plan": (
        "cli",
        in_json("contract.json", lambda contract: contract.update(interactionPlan=[])),
        [("probe-arm-mismatch", DEFECT, ""), ("probe-arm-mismatch", CLEAN, "")],
    ),
}


def failure(folder: Path, **options: Any) -> list[AuthoringProblem]:
    with pytest.raises(ExperimentFailure) as caught:
        planned(folder, **options)
    assert caught.value.exit_code == 4
    return list(caught.value.problems)


@pytest.mark.parametrize("name", LOCATED)
def test_s12_27_every_problem_at_once_each_at_its_place(name: str, tmp_path: Path) -> None:
    kind, change, expected = LOCATED[name]
    folder = write_experiment(tmp_path, kind)
    change(folder)
    wanted: list[tuple[str, str, tuple[int, int]]] = []
    for code, file, marker in expected:
        text = (folder / file).read_text()
        if marker == "#second a":
            at = text.index('id = "a"', text.index('id = "a"') + 1)
            wanted.append((code, file, (text[:at].count("\n") + 1, 1)))
        else:
            wanted.append((code, file, place(text, marker) if marker else (1, 1)))
    found = [(problem.code, problem.file, (problem.line, problem.column)) for problem in failure(folder)]
    assert sorted(found) == sorted(wanted)


def test_s12_4_every_document_is_read_before_the_first_complaint(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "cli")
    edit(folder / MUTATION, ('operator = "', 'operater = "'))
    edit(folder / DEFECT, ('"rationale"', '"reason"'))
    edit(folder / CLEAN, ('"arm"', '"arms"'))
    found = {(problem.code, problem.file) for problem in failure(folder)}
    assert found == {
        ("author-unknown-key", MUTATION),
        ("author-unknown-key", DEFECT),
        ("author-missing-key", DEFECT),
        ("author-unknown-key", CLEAN),
        ("author-missing-key", CLEAN),
    }


ELSEWHERE: dict[str, tuple[Change, str, str]] = {
    "two experiment files": (whole("experiment.yaml", "id: x\n"), "author-unreadable-source", "Experiment"),
    "no experiment file": (lambda folder: (folder / FILE).unlink(), "author-unreadable-source", "Experiment"),
    "two contracts": (whole("contract.yaml", "a: 1\n"), "experiment-reference-unresolved", "Experiment"),
    "no policy": (
        lambda folder: (folder / "policy.json").unlink(),
        "experiment-reference-unresolved",
        "Experiment",
    ),
    "rubrics without a judge": (
        in_json(
            "contract.json",
            lambda contract: contract["rubrics"].append(
                {"id": "R-001", "scaleLevels": None, "failureModePenalties": None, "maxLength": None, "criteria": []}
            ),
        ),
        "judge-missing",
        "EvalContract.rubrics",
    ),
    "fewer calls than the plan makes": (
        in_json("contract.json", lambda contract: contract["budgets"].update(maxToolCalls=1)),
        "budget-forbids-action",
        "EvalContract.budgets",
    ),
    "no minute": (
        in_json("contract.json", lambda contract: contract["budgets"].update(maxWallClockMinutes=0)),
        "budget-forbids-action",
        "EvalContract.budgets",
    ),
    "no subject": (in_file(("../subject", "../nope")), "experiment-reference-unresolved", "Experiment.subject.source"),
    "a link out of the folder": (
        lambda folder: (folder / "probes" / "p-003.json").symlink_to(folder.parent / "subject" / "store.py"),
        "experiment-path-escape",
        "Experiment/probes/p-003.json",
    ),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_s12_27_problems_of_the_folder_itself(name: str, tmp_path: Path) -> None:
    change, code, path = ELSEWHERE[name]
    folder = write_experiment(tmp_path, "cli")
    change(folder)
    assert [(problem.code, problem.artifact_path) for problem in failure(folder)] == [(code, path)]


def test_s12_3_the_plain_experiment_file_wins_over_named_ones(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "cli")
    for name in ("other", "third"):
        whole(f"{name}.experiment.yaml", "id: x\n")(folder)
    assert planned(folder) is not None
    (folder / FILE).unlink()
    (problem,) = failure(folder)
    assert (problem.code, problem.artifact_path) == ("author-unreadable-source", "Experiment")
    assert problem.detail.endswith("found: other.experiment.yaml, third.experiment.yaml")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda entry: entry.symlink_to("/etc/passwd"), "workspace-link-escape"),
        (lambda entry: entry.symlink_to("../experiment/contract.json"), "workspace-link-escape"),
        (os.mkfifo, "workspace-unsupported-entry"),
        (lambda entry: entry.write_bytes(b"x" * 3000), "workspace-too-large"),
    ],
)
def test_s12_27_what_a_subject_tree_may_hold(change: Change, code: str, tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "cli")
    edit(folder / FILE, ('system_id = "store"\n', 'system_id = "store"\nmax_bytes = "3KiB"\n'))
    subject_entry(change)(folder)
    with pytest.raises(RunFault) as caught:
        planned(folder)
    assert [(problem.code, problem.artifact_path.split("/")[0]) for problem in caught.value.problems] == [
        (code, "SubjectTree")
    ]
    assert caught.value.exit_code == 5


def test_s12_4_a_canonical_artifact_keeps_its_own_codes(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "cli")
    edit(folder / "contract.json", ('"schemaVersion": 7', '"schemaVersion": 6'))
    with pytest.raises(RuntimeFault) as caught:
        planned(folder)
    assert (caught.value.code, caught.value.artifact_path) == ("schema-version-mismatch", "EvalContract.schemaVersion")
    edit(folder / "contract.json", ('"schemaVersion": 6', '"schemaVersion": 7'), ('"contractId"', '"contractID"'))
    with pytest.raises(RuntimeFault) as caught:
        planned(folder)
    assert caught.value.code == "schema-parse-failure"


def test_s12_10_a_contract_that_does_not_compile_ends_before_anything_starts(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "cli")
    edit(folder / "contract.json", ('"/interactions/read-back/stdout/value"', '"/interactions/nowhere/stdout/value"'))
    with pytest.raises(StructuralFailure):
        planned(folder)


def test_s12_13_2_a_value_that_cannot_be_sent(tmp_path: Path) -> None:
    def change(contract: Any) -> None:
        operation = contract["permittedInterfaces"][0]["operations"][0]
        operation["requestShape"]["environment"] = {
            "requiredKeys": [],
            "permittedKeys": ["LEVEL"],
            "types": {"LEVEL": "number"},
        }
        contract["interactionPlan"][0]["inputBinding"]["environment"] = {"LEVEL": {"literal": 3}}

    folder = write_experiment(tmp_path, "cli")
    in_json("contract.json", change)(folder)
    assert [(problem.code, problem.artifact_path) for problem in failure(folder)] == [
        ("step-not-executable", "EvalContract.interactionPlan[stepId=write]")
    ]


def test_s12_5_5_a_principal_nobody_mapped(tmp_path: Path) -> None:
    def change(contract: Any) -> None:
        contract["testData"]["principals"] = {"root": {"kind": "user"}}
        contract["interactionPlan"][0]["inputBinding"]["option"]["key"] = {"principal": "root"}

    folder = write_experiment(tmp_path, "cli")
    in_json("contract.json", change)(folder)
    assert [(problem.code, problem.artifact_path) for problem in failure(folder)] == [
        ("binding-missing", "Experiment.principals.root")
    ]


def test_s12_13_1_steps_that_wait_for_each_other(tmp_path: Path) -> None:
    prepared = planned(write_experiment(tmp_path, "cli"))
    write, read = plan_steps(prepared.contract, None)
    waits = write._replace(step=msgspec.structs.replace(write.step, after="read-back"))
    with pytest.raises(ExperimentFailure) as caught:
        execution_order((waits, read))
    assert [problem.code for problem in caught.value.problems] == ["step-not-executable"] * 2


YAML_EXPERIMENT = """\
evalQuality: experiment/1
id: store-cli
run: {}
subject:
  system_id: store
  source: ../subject
interface:
  store:
    kind: cli
    executable:
      store:
        target: python3
        target_args: ["-B", store.py]
"""


def test_s12_4_one_experiment_in_three_notations_is_one_plan(tmp_path: Path) -> None:
    plans = []
    for notation in ("toml", "yaml", "json"):
        folder = write_experiment(tmp_path / notation, "cli")
        if notation != "toml":
            (folder / FILE).unlink()
            value = YAML(typ="safe").load(YAML_EXPERIMENT)
            (folder / f"experiment.{notation}").write_text(YAML_EXPERIMENT if notation == "yaml" else json.dumps(value))
            contract = json.loads((folder / "contract.json").read_text())
            if notation == "yaml":
                (folder / "contract.json").unlink()
                with (folder / "contract.yaml").open("w") as file:
                    YAML(typ="safe").dump(contract, file)
        prepared = planned(folder)
        plans.append(
            (
                prepared.contract_digest,
                prepared.brief_digest,
                prepared.view.digest,
                prepared.clean.digest,
                [(plan.probe_id, plan.arm.digest) for plan in prepared.probes],
                prepared.items,
            )
        )
    assert plans[0] == plans[1] == plans[2]


def test_s12_2_a_selection_names_what_is_declared(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, "cli")
    assert [plan.probe_id for plan in planned(folder, probes=("P-002",)).probes] == ["P-002"]
    for options in ({"probes": ("P-009",)}, {"evaluators": ("nobody",)}):
        assert [problem.code for problem in failure(folder, **options)] == ["experiment-reference-unresolved"]
