"""Who judges an arm: the built-in deterministic evaluator, or an external one that sees nothing but the sealed view."""
