"""The fake voice: one tone per word, deterministic, numpy only. It ships: demos, load tests and fault drills use it.

The pitch of a tone names the word and its length the number of letters, so `models.fake.hearing` can read back which
words were said, in which order, without speech recognition. Marks in the text (`models.fake.faults`) make it fail.
"""
