"""What a brief cannot be built from although it compiles (spec 04 §8.4)."""


class PreconditionError(Exception):
    """A contract, or a direction handed to the renderer, lacks what sealing presupposes.

    Never leaves the package: sealing turns it into a `schema-parse-failure`.
    """
