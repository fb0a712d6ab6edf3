"""The seven coverage rules (spec 04 part A): which disciplines a contract owes, and which it keeps.

rules.DISCIPLINE_RULES          the rules as data, in order
evaluate.coverage_gaps          the published gap records
evaluate.assess                 per rule: why it is relevant, what satisfies it or what is missing
"""
