"""One folder and one registry row per model: text front ends, programs, weights.

Turns the spoken text of a segment into an `engine.Request` and says what the model is (`models.card`).
Knows no queue, no store and no job.
"""
