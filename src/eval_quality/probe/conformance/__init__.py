"""The conformance suite for ports (spec 07 §7.7). Its public face is `eval_quality.conformance`."""
