"""From sealed run records to a verdict (spec 08 §3 to §13, spec 09 §2).

entry.run_score     every input parsed, scored and emitted (spec 10 §7.6)
stage.score         the pure stage over validated trials (spec 08 §7)
ladder              the two verdict ladders (spec 09 §2)
consistency         whether a recorded reduction follows from what is recorded (spec 08 §12)
"""
