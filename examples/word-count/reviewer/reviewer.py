"""A reviewer that works from the brief alone: it asks for a count, compares it with its own, and says what it saw.

The brief arrives on standard input. `/eq/bridge.py` is the way to act; what this program prints is its submission.
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.environ["EVAL_QUALITY_BRIDGE"]))
from bridge import ask

TEXT = "to be or not to be"


def main():
    brief = json.load(sys.stdin)
    oracle = brief["directions"][0]["oracleId"]
    answer = ask(
        "call",
        interfaceId="word-count",
        operationId="count",
        inputs={"option": {"unit": "words"}, "stdin": {"text": TEXT}},
    )
    evidence = answer["evidence"]["stdout"]
    cited = [answer["observationId"]]
    wrong = json.loads(evidence)["count"] != len(TEXT.split())
    findings = []
    if wrong:
        findings.append(
            {
                "findingType": "defect",
                "oracleId": oracle,
                "severity": "material",
                "summary": "the count is not the number of words",
                "confidence": 0.95,
                "observationIds": cited,
                "quotedEvidence": [{"quote": evidence, "channel": "stdout", "artifactId": None}],
            }
        )
    print(
        json.dumps(
            {
                "schemaVersion": 1,
                "recommendation": "FAIL" if wrong else "PASS",
                "dispositions": [
                    {"oracleId": oracle, "disposition": "violated" if wrong else "held", "observationIds": cited}
                ],
                "findings": findings,
            }
        )
    )


main()
