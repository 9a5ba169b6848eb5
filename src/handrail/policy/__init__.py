"""The judgement: pure functions from what was asked to a verdict. No I/O, time as an argument."""
