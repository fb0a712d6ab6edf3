"""Pre-flight: does the environment behave as the contract claims? (spec 06)"""
