"""Everything that touches an external evaluator (spec 12 §12.14-12.16).

The modules here take a `SealedView` and a way to act, and nothing else: none of them may import a contract, a probe,
the compiler, scoring, the store or the experiment (checked by the import rules of the repository). What an evaluator
can learn is therefore what these modules are given.
"""
