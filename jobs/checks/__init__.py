"""Checks of takes: what is measured in the samples, what is heard in them, and what follows for a segment.

measures (numpy, milliseconds) → free (a verdict on one take by itself) → rate (against the other takes of the voice) →
hearing (words a recogniser heard against the spoken text) → ruling (pure: which take wins, what is spoken again).
Knows takes and plans; knows no queue, no model and no recogniser.
"""
