"""Mastering: what is done to joined audio before it is encoded, and what is measured of a finished file.

profiles (what is aimed at) → loudness (measure) → settle (which gain) → limiter and room_tone (do it, in blocks);
figures and acx (what a finished file measures, and whether ACX takes it). Knows samples and files; no takes, no queue.
"""
