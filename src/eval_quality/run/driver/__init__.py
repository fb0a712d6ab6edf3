"""Driving a subject of each kind through the environment-probe ports (spec 12 §12.8).

A driver turns a binding into a derived target policy and a `Unit`: the started interface of one trial. The policies are
parsed by the published parsers, and the subject is reached only through the adapters of spec 07.
"""
