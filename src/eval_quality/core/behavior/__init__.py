"""Behavioural evidence for skills: every decision of spec 11, without a file, a clock or a process.

    words       the closed vocabularies: conditions, thresholds, templates, words that would give an answer away
    config      `.skill-evidence.json` (17.3)                 manifest, profile   what a skill folder declares (1, 17.1)
    scenario    scenario files to families, with every finding (2)
    generator   the five conditions (17.4)                    plan                cases, opaque ids, digests (3, 4)
    frame       bundles as a provider sees them (5.1, 6)      leak, attack        what must never leave
    score       answers against oracles (7)                   evidence, freshness loading with recomputation (9, 17.8)
    maturity    slices, levels, status (10)                   battery             answers that read nothing
    intervals   Clopper-Pearson, McNemar, binomial tails      provenance          receipt, sidecar, ledger (17.7)

The answer side and the question side meet only in `plan`, `score` and `evidence`; `frame` never imports them.
"""
