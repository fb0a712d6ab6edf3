"""The contract of the release-notes agent, and its probes; `capture.py` writes them down."""

from command_chain import FORBIDDEN_INPUTS, digest, lineage, reference, selector

AGENT = "release-notes-agent"
OPERATION = "summarize-changes"
EMPTY = {"requiredKeys": [], "permittedKeys": [], "types": {}}


def options(name):
    return {"input": f"fixtures/{name}.diff", "out": "notes.json"}


def inputs(name):
    """What one leg sends."""
    return {"argument": {}, "option": options(name), "environment": {}, "stdin": {"kind": "absent"}}


def step(step_id, value):
    binding = {"argument": None, "option": {"input": value}, "environment": None, "stdin": None}
    return {
        "stepId": step_id,
        "interfaceId": AGENT,
        "operationId": OPERATION,
        "inputBinding": binding,
        "after": None,
        "cardinality": "any",
    }


def at(step_id, tail):
    return f"/interactions/{step_id}/{tail}"


def equality(pointer, value):
    return {"op": "equality", "operands": [{"pointer": pointer}, {"literal": value}]}


def oracle(number, check, relation, targets, scope, negative_domain, commentary=None):
    return {
        "id": f"O-00{number}",
        "direction": {
            "evidenceTargets": targets,
            "relation": relation,
            "polarity": "expects-hold",
            "scope": scope,
            "negativeDomain": negative_domain,
        },
        "check": check,
        "polarity": "expects-hold",
        "commentary": commentary,
    }


def behavior(number, description, severity, criterion):
    return {
        "id": f"B-00{number}",
        "description": description,
        "severity": severity,
        "observableSuccessCriterion": criterion,
        "requirementLinks": [{"scheme": "req", "id": f"release-notes-{number}"}],
        "riskLinks": [],
        "oracles": [f"O-00{number}"],
    }


def interface():
    alpha, beta = at("leg-alpha", "artifact/notes/entries"), at("leg-beta", "artifact/notes/entries")
    return {
        "logicalId": AGENT,
        "kind": "cli",
        "operations": [
            {
                "operationId": OPERATION,
                "invocation": {"executable": AGENT, "subcommandPath": ["summarize"]},
                "stateChangeMarker": True,
                "requestShape": {
                    "argument": EMPTY,
                    "option": {
                        "requiredKeys": ["input", "out"],
                        "permittedKeys": ["input", "out"],
                        "types": {"input": "string", "out": "string"},
                    },
                    "environment": EMPTY,
                    "stdin": EMPTY,
                },
                "artifacts": ["notes"],
                "descriptorChannel": {"kind": "artifact", "artifactId": "notes"},
                "responseDescriptor": {
                    "requiredKeys": ["summary", "entries"],
                    "permittedKeys": ["summary", "entries"],
                    "types": {"summary": "string", "entries": "array"},
                    "successIndicator": "/summary",
                    "channelRoles": {"/summary": "success-indicator", "/entries": "collection"},
                    "collectionLocations": [
                        {
                            "pointer": "/entries",
                            "expectedCardinality": {"mode": "at-most", "max": 200},
                            "referenceSet": None,
                        }
                    ],
                },
                "volatilePointers": [],
                "sensitivityWitness": {
                    "witnessId": "notes-follow-the-diff",
                    "channel": "option",
                    "legs": [
                        {"legId": "leg-alpha", "inputs": inputs("alpha")},
                        {"legId": "leg-beta", "inputs": inputs("beta")},
                    ],
                    "relation": {
                        "op": "not",
                        "operands": [{"op": "deep-equality", "operands": [{"pointer": alpha}, {"pointer": beta}]}],
                    },
                },
            }
        ],
    }


def contract():
    entries = at("read-alpha", "artifact/notes/entries")
    complete = {
        "op": "all",
        "operands": [
            equality(at("read-alpha", "artifact/notes/summary"), "2 files changed, 5 lines"),
            {
                "op": "count-tolerance",
                "operands": [{"pointer": entries}],
                "expected": 2,
                "tolerance": 0,
                "relative": False,
            },
            {
                "op": "for-all",
                "collection": {"pointer": entries},
                "predicate": {
                    "op": "set-membership",
                    "operands": [{"pointer": "@/file"}, {"literal": ["app.py", "README.md"]}],
                },
            },
        ],
    }
    return {
        **lineage(7),
        "contractId": "release-notes",
        "sourceSpecDigest": None,
        "behaviors": [
            behavior(1, "The notes list every changed file.", "material", "Each file of the diff has one entry."),
            behavior(
                2, "A diff that cannot be read is refused.", "material", "The exit code of a malformed diff is not 0."
            ),
            behavior(3, "An input that is no file name is refused.", "low", "The exit code is not 0."),
        ],
        "oracles": [
            oracle(
                1,
                complete,
                "all",
                [at("read-alpha", "artifact/notes/summary"), entries],
                "The notes written for a diff of two files.",
                "A changed file without an entry, an entry without a changed file.",
            ),
            oracle(
                2,
                {"op": "not", "operands": [equality(at("read-malformed", "exit-code"), 0)]},
                "not",
                [at("read-malformed", "exit-code")],
                "The exit code for a file that is no unified diff.",
                "Exit code 0.",
                "The notes cannot carry the signature: a written file's identifier is local to one contract.",
            ),
            oracle(
                3,
                {"op": "not", "operands": [equality(at("read-number", "exit-code"), 0)]},
                "not",
                [at("read-number", "exit-code")],
                "The exit code for an input that is a number.",
                "Exit code 0.",
            ),
        ],
        "rubrics": [],
        "waivers": [],
        "permittedInterfaces": [interface()],
        "referenceSets": None,
        "siblingGroups": {"operations": [], "parameters": []},
        "interactionPlan": [
            step("read-alpha", {"literal": "fixtures/alpha.diff"}),
            step("read-malformed", {"literal": "fixtures/malformed.diff"}),
            step("read-number", {"matcher": "type-violating"}),
        ],
        "scopedResources": None,
        "forbiddenInputs": list(FORBIDDEN_INPUTS),
        "testData": {"setup": None, "cleanup": None, "principals": None, "resources": None},
        "budgets": {"maxToolCalls": 20, "maxWallClockMinutes": 5, "maxCostUsd": "0"},
        "safetyLimits": [],
        "requiredEvidence": [],
        "probeStepBound": None,
        "fixtureReset": None,
    }


def signature(predicate, channel):
    """Where the planted defect shows, for a call that reads the malformed diff."""
    return {
        "interfaceKind": "cli",
        "invocation": {"executable": AGENT, "subcommandPath": ["summarize"]},
        "observableChannel": channel,
        "condition": {
            "selector": selector(option={"input": {"literal": "fixtures/malformed.diff"}}),
            "predicate": predicate,
        },
    }


def probes(source, damaged, mutation, captures):
    """The planted defect; the same with its signature on the written file, which is refused; a clean control."""
    clean, faulty = captures["clean"], captures["empty-on-malformed"]
    empty = {"op": "count-tolerance", "expected": 0, "tolerance": 0, "relative": False}
    exit_code = signature(equality(at("observed", "exit-code"), 0), "exit-code")
    written = signature({**empty, "operands": [{"pointer": at("observed", "artifact/notes/entries")}]}, "exit-code")

    def probe(number, probe_class, implementation, rationale, rest):
        return {
            **lineage(6),
            "probeId": f"P-00{number}",
            "probeClass": probe_class,
            "behaviorId": "B-002",
            "systemId": AGENT,
            "implementationDigest": digest(implementation.encode()),
            "artifactDigest": digest(implementation.encode()),
            "commitDigest": digest(source.encode()),
            "rationale": rationale,
            **rest,
        }

    def seeded(leg_id, defect_signature):
        return {
            "qualification": {
                "route": "controlled-mutation",
                "mutationSource": "agent/release_notes.py",
                "mutationOperator": "swallow-the-error",
                "targetArtifact": reference("mutations/empty-on-malformed.toml", mutation),
                "expectedObservableFailure": "empty notes are written for a malformed diff, and the agent exits 0",
                "baselinePassEvidence": clean,
                "mutatedFailEvidence": faulty,
                "rollbackVerified": True,
            },
            "expectedClean": False,
            "defects": [
                {
                    "defectId": "D-001",
                    "behaviorId": "B-002",
                    "summary": "A diff that cannot be read becomes empty notes, and the agent exits 0.",
                    "severity": "material",
                    "oracleEvidence": [faulty],
                    "source": "controlled-mutation",
                    "manifestationWitness": {
                        "legId": leg_id,
                        "interfaceId": AGENT,
                        "operationId": OPERATION,
                        "inputs": inputs("malformed"),
                        "relation": {**empty, "operands": [{"pointer": at(leg_id, "artifact/notes/entries")}]},
                    },
                }
            ],
            "defectSignature": defect_signature,
        }

    control = {
        "qualification": {
            "route": "clean-control",
            "baselinePassEvidence": clean,
            "revisionCommitDigest": digest(source.encode()),
            "noKnownDefectStatement": "The agent as it stands refuses what it cannot read.",
        },
        "expectedClean": True,
        "defects": [],
    }
    return [
        probe(
            1,
            "defect",
            damaged,
            "An agent that swallows a parse error looks healthy to anyone who reads its exit code.",
            seeded("manifest-empty-notes", exit_code),
        ),
        probe(
            2,
            "defect",
            damaged,
            "The same defect, described by the file it leaves behind: what a signature may not do.",
            seeded("manifest-empty-notes-2", written),
        ),
        probe(3, "zero-action", source, "The agent without the defect: nothing may be reported.", control),
    ]
