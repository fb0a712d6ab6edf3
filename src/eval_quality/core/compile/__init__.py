"""Type checking for evaluation design (spec 03).

    codes.FAILURE_CODES           the closed registry
    sequence.compile_contract     a parsed contract in, the same contract out, or the first failure raised
    entry.compile_value           the boundary: any JSON value in

One module a subject; each check takes a `survey.Survey` and answers its first violation or None.
"""
