"""The generated prose of a direction: how a brief speaks of evidence without giving the plan away (spec 04 §7).

Compile needs the same renderer to find out whether two steps can be told apart at all (spec 03 §15).
"""
