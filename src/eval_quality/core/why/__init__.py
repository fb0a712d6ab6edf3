"""Why a verdict is what it is, from its evidence artifact (spec 09 §2)."""
