"""Sealing: what a blinded evaluator is told, and nothing else (spec 04 part B).

brief.seal_contract             a parsed contract in, its brief out
audit.audit_brief_scripting     whether a brief scripts more than its bound
entry.seal_value                the boundary: any JSON value in
"""
