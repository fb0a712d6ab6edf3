"""What the two selection examples share: contracts, probes and an evaluator about "which items does a case select".

A case asks two things of a reply, because either alone is trivial to satisfy: it names every item the rules mandate
(a reply that names everything does), and it names none of the items they exclude (an empty reply does).
"""

from command_chain import FORBIDDEN_INPUTS, defect_finding, digest, lineage, observe, reference, selector

INTERFACE = "skill-runner"
OPERATION = "run-skill"
EMPTY = {"requiredKeys": [], "permittedKeys": [], "types": {}}
MAX_ITEMS = 40


def selected(step_id):
    return f"/interactions/{step_id}/stdout/selected"


def inputs(skill, case, prompt):
    """What one leg sends."""
    return {
        "argument": {},
        "option": {"skill": skill, "case": case},
        "environment": {},
        "stdin": {"kind": "json", "value": {"prompt": prompt}},
    }


def names(step_id, items):
    """The reply names every one of `items`."""
    return {"op": "containment", "operands": [{"pointer": selected(step_id)}, {"literal": items}]}


def names_any(step_id, items):
    """The reply names at least one of `items`."""
    member = {"op": "set-membership", "operands": [{"pointer": "@/"}, {"literal": items}]}
    return {"op": "for-any", "collection": {"pointer": selected(step_id)}, "predicate": member}


def interface(skill, witness_cases, prompt):
    first, second = (f"witness-{case}" for case in witness_cases)
    return {
        "logicalId": INTERFACE,
        "kind": "cli",
        "operations": [
            {
                "operationId": OPERATION,
                "invocation": {"executable": INTERFACE, "subcommandPath": []},
                "stateChangeMarker": False,
                "requestShape": {
                    "argument": EMPTY,
                    "option": {
                        "requiredKeys": ["skill", "case"],
                        "permittedKeys": ["skill", "case"],
                        "types": {"skill": "string", "case": "string"},
                    },
                    "environment": EMPTY,
                    "stdin": {"requiredKeys": ["prompt"], "permittedKeys": ["prompt"], "types": {"prompt": "string"}},
                },
                "artifacts": [],
                "descriptorChannel": {"kind": "stream", "channel": "stdout"},
                "responseDescriptor": {
                    "requiredKeys": ["selected"],
                    "permittedKeys": ["selected"],
                    "types": {"selected": "array"},
                    "successIndicator": "/selected",
                    "channelRoles": {"/selected": "collection"},
                    "collectionLocations": [
                        {
                            "pointer": "/selected",
                            "expectedCardinality": {"mode": "at-most", "max": MAX_ITEMS},
                            "referenceSet": None,
                        }
                    ],
                },
                "volatilePointers": [],
                "sensitivityWitness": {
                    "witnessId": "the-selection-follows-the-case",
                    "channel": "option",
                    "legs": [
                        {"legId": f"witness-{case}", "inputs": inputs(skill, case, prompt)} for case in witness_cases
                    ],
                    "relation": {
                        "op": "not",
                        "operands": [
                            {
                                "op": "deep-equality",
                                "operands": [{"pointer": selected(first)}, {"pointer": selected(second)}],
                            }
                        ],
                    },
                },
            }
        ],
    }


def oracle(number, check, relation, step_id, scope, negative_domain):
    return {
        "id": f"O-{number:03}",
        "direction": {
            "evidenceTargets": [selected(step_id)],
            "relation": relation,
            "polarity": "expects-hold",
            "scope": scope,
            "negativeDomain": negative_domain,
        },
        "check": check,
        "polarity": "expects-hold",
        "commentary": None,
    }


def behavior(number, skill, description):
    return {
        "id": f"B-{number:03}",
        "description": description,
        "severity": "material",
        "observableSuccessCriterion": "The list that the run prints.",
        "requirementLinks": [{"scheme": "skill", "id": skill}],
        "riskLinks": [],
        "oracles": [f"O-{number:03}"],
    }


def contract(contract_id, skill, cases, prompt, sibling_groups):
    """One behaviour with one oracle for each half of each case; `cases` says what each must and must not name."""
    behaviors, oracles, plan = [], [], []
    for position, (case, wanted) in enumerate(cases.items()):
        step_id = f"{case}-case"
        inclusion, exclusion = 2 * position + 1, 2 * position + 2
        listed, banned = ", ".join(wanted["include"]), ", ".join(wanted["exclude"])
        behaviors.append(behavior(inclusion, skill, f"The selection for {case} names every mandated item."))
        behaviors.append(behavior(exclusion, skill, f"The selection for {case} names no excluded item."))
        oracles.append(
            oracle(
                inclusion,
                names(step_id, wanted["include"]),
                "containment",
                step_id,
                f"Every item returned for {case}.",
                f"A selection that lacks one of {listed}.",
            )
        )
        oracles.append(
            oracle(
                exclusion,
                {"op": "not", "operands": [names_any(step_id, wanted["exclude"])]},
                "not",
                step_id,
                f"Every item returned for {case}.",
                f"A selection that carries one of {banned}.",
            )
        )
        binding = {"argument": None, "option": {"case": {"literal": case}}, "environment": None, "stdin": None}
        plan.append(
            {
                "stepId": step_id,
                "interfaceId": INTERFACE,
                "operationId": OPERATION,
                "inputBinding": binding,
                "after": None,
                "cardinality": "any",
            }
        )
    return {
        **lineage(7),
        "contractId": contract_id,
        "sourceSpecDigest": None,
        "behaviors": behaviors,
        "oracles": oracles,
        "rubrics": [],
        "waivers": [],
        "permittedInterfaces": [interface(skill, list(cases)[:2], prompt)],
        "referenceSets": None,
        "siblingGroups": sibling_groups,
        "interactionPlan": plan,
        "scopedResources": None,
        "forbiddenInputs": list(FORBIDDEN_INPUTS),
        "testData": {"setup": None, "cleanup": None, "principals": None, "resources": None},
        "budgets": {"maxToolCalls": 20, "maxWallClockMinutes": 5, "maxCostUsd": "0"},
        "safetyLimits": [],
        "requiredEvidence": [],
        "probeStepBound": None,
        "fixtureReset": None,
    }


def excluded_everywhere(cases):
    """The items that no case may name: what a reply that names everything always gets wrong."""
    first, *others = (wanted["exclude"] for wanted in cases.values())
    return [item for item in first if all(item in other for other in others)]


def signature(skill, case, excluded, predicate=None):
    """The reply names something the rules exclude; `case` is the case it is asked, None for any."""
    return {
        "interfaceKind": "cli",
        "invocation": {"executable": INTERFACE, "subcommandPath": []},
        "observableChannel": "stdout",
        "condition": {
            "selector": selector(
                option={"skill": {"literal": skill}, "case": {"matcher": "any"} if case is None else {"literal": case}}
            ),
            "predicate": predicate or names_any("observed", excluded),
        },
    }


def probe(probe_id, probe_class, behavior_id, system, implementation, source, rationale, rest):
    """One probe about `implementation`, the text that ran, of the revision `source`."""
    return {
        **lineage(6),
        "probeId": probe_id,
        "probeClass": probe_class,
        "behaviorId": behavior_id,
        "systemId": system,
        "implementationDigest": digest(implementation.encode()),
        "artifactDigest": digest(implementation.encode()),
        "commitDigest": digest(source.encode()),
        "rationale": rationale,
        **rest,
    }


def gameability(probe_id, behavior_id, system, reply, source, evidence, defect_signature):
    """The reply that names everything: satisfied by the inclusion half, rejected by the exclusion half."""
    return probe(
        probe_id,
        "gameability",
        behavior_id,
        system,
        reply,
        source,
        "Naming everything costs nothing and satisfies every inclusion oracle; only an exclusion oracle rejects it.",
        {
            "qualification": {
                "route": "gameability",
                "degenerateResponse": "The reply names every item that any rule mentions, whatever the case.",
                "naiveOracleSatisfiedEvidence": evidence,
                "disciplinedOracleRejectedEvidence": evidence,
            },
            "expectedClean": False,
            "defects": [],
            "defectSignature": defect_signature,
        },
    )


def clean_control(probe_id, behavior_id, system, source, evidence):
    """The rules as they stand: nothing may be reported."""
    return probe(
        probe_id,
        "zero-action",
        behavior_id,
        system,
        source,
        source,
        "The rules as they stand; whoever reports a defect here reports a false one.",
        {
            "qualification": {
                "route": "clean-control",
                "baselinePassEvidence": evidence,
                "revisionCommitDigest": digest(source.encode()),
                "noKnownDefectStatement": "Every case of the rules was run, and each selection is the one they state.",
            },
            "expectedClean": True,
            "defects": [],
        },
    )


def follow_plan(agent, skill, cases, prompt):
    """One call per case, in plan order."""
    return [
        observe(number, INTERFACE, OPERATION, agent, {"skill": skill, "case": case}, {"prompt": prompt})
        for number, case in enumerate(cases, 1)
    ]


def judge(cases, seen, probe_id):
    """What the evaluator says about each oracle; one defect a case whose reply names an excluded item."""
    verdicts, findings = [], []
    for position, (observation, (case, wanted)) in enumerate(zip(seen, cases.items(), strict=True)):
        inclusion, exclusion = 2 * position + 1, 2 * position + 2
        chosen = observation["stdout"]["value"]["selected"]
        wrong = [item for item in chosen if item in wanted["exclude"]]
        verdicts.append((f"O-{inclusion:03}", set(wanted["include"]) <= set(chosen), [observation]))
        verdicts.append((f"O-{exclusion:03}", not wrong, [observation]))
        if wrong:
            findings.append(
                defect_finding(
                    len(findings) + 1,
                    f"O-{exclusion:03}",
                    f"B-{exclusion:03}",
                    probe_id,
                    "material",
                    f"The selection for {case} names {', '.join(wrong)}, and the run exits {observation['exitCode']}.",
                    observation,
                    [("stdout", f'"{wrong[0]}"'), ("exit-code", str(observation["exitCode"]))],
                )
            )
    return verdicts, findings


__all__ = [
    "INTERFACE",
    "OPERATION",
    "clean_control",
    "contract",
    "excluded_everywhere",
    "follow_plan",
    "gameability",
    "inputs",
    "judge",
    "names_any",
    "probe",
    "reference",
    "signature",
]
