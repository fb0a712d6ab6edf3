"""The three probes of this example, built from what the captures showed."""

import hashlib

OLD_TITLE = "Groceries"
CHANNELS = ("path", "query", "header", "body", "argument", "option", "environment", "stdin", "arguments")


def digest(data):
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def reference(path, data):
    return {"storage": "public", "path": path, "privateRef": None, "digest": digest(data)}


def lineage(version):
    return {"schemaVersion": version, "parentDigest": None, "revisionCount": 0}


def signature():
    """How the defect shows: a read of the changed note still has the old title."""
    selector = dict.fromkeys(CHANNELS)
    return {
        "interfaceKind": "api",
        "method": "GET",
        "pathTemplate": "/notes/{id}",
        "observableChannel": "response-body",
        "condition": {
            "selector": {"inputBinding": {**selector, "path": {"id": {"literal": "n-1"}}}},
            "predicate": {
                "op": "equality",
                "operands": [
                    {"pointer": "/interactions/observed/response-body/note/title"},
                    {"literal": OLD_TITLE},
                ],
            },
        },
    }


def witness(stored_version):
    """True exactly when a change of the third note left its stored version as it was."""
    return {
        "legId": "change-dentist",
        "interfaceId": "notes-api",
        "operationId": "change-note",
        "inputs": {
            "path": {"id": "n-3"},
            "query": {},
            "header": {},
            "body": {"kind": "json", "value": {"title": "Dentist on Monday"}},
        },
        "relation": {
            "op": "equality",
            "operands": [
                {"pointer": "/interactions/change-dentist/response-body/version"},
                {"literal": stored_version},
            ],
        },
    }


def probe_documents(source, damaged, mutation, reply, captures, stored_version):
    """The planted defect, the clean control and the gameability probe.

    `source` and `damaged` are the service's two texts, `mutation` and `reply` the bytes of the files that describe the
    other two arms, `captures` maps an arm to the reference of its capture.
    """

    def probe(number, probe_class, behavior, implementation, artifact, rationale, rest):
        return {
            **lineage(6),
            "probeId": f"P-00{number}",
            "probeClass": probe_class,
            "behaviorId": behavior,
            "systemId": "notes-api",
            "implementationDigest": digest(implementation),
            "artifactDigest": digest(artifact),
            "commitDigest": digest(source.encode()),
            "rationale": rationale,
            **rest,
        }

    defect = probe(
        1,
        "defect",
        "B-001",
        damaged.encode(),
        mutation,
        "An accepted change is answered with the new title, and the store keeps the old one.",
        {
            "qualification": {
                "route": "controlled-mutation",
                "mutationSource": "mutations/forgets-changes.toml",
                "mutationOperator": "drop-the-write",
                "targetArtifact": reference("service/notes_api.py", source.encode()),
                "expectedObservableFailure": "the read after an accepted change shows the old title",
                "baselinePassEvidence": captures["clean"],
                "mutatedFailEvidence": captures["forgets-changes"],
                "rollbackVerified": True,
            },
            "expectedClean": False,
            "defects": [
                {
                    "defectId": "D-001",
                    "behaviorId": "B-001",
                    "summary": "Changes are answered and not kept.",
                    "severity": "critical",
                    "oracleEvidence": [captures["forgets-changes"]],
                    "source": "controlled-mutation",
                    "manifestationWitness": witness(stored_version),
                }
            ],
            "defectSignature": signature(),
        },
    )
    control = probe(
        2,
        "zero-action",
        "B-001",
        source.encode(),
        source.encode(),
        "The sound service: whoever reports a defect here reports one that is not there.",
        {
            "qualification": {
                "route": "clean-control",
                "baselinePassEvidence": captures["clean"],
                "revisionCommitDigest": digest(source.encode()),
                "noKnownDefectStatement": "The four calls of the plan satisfy every oracle.",
            },
            "expectedClean": True,
            "defects": [],
        },
    )
    gameability = probe(
        3,
        "gameability",
        "B-001",
        reply,
        reply,
        "A reply that pleases whoever looks at answers alone: O-002 holds, O-001 does not.",
        {
            "qualification": {
                "route": "gameability",
                "degenerateResponse": "Every change is acknowledged with the title that was sent, and none is made.",
                "naiveOracleSatisfiedEvidence": captures["canned"],
                "disciplinedOracleRejectedEvidence": captures["canned"],
            },
            "expectedClean": False,
            "defects": [],
            "defectSignature": signature(),
        },
    )
    return [defect, control, gameability]
