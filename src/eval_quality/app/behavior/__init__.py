"""Behavioural evidence over files: skills, bundles, evidence, providers (spec 11 §17). Decides nothing itself."""
