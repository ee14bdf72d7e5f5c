"""Assembly: takes become chapters, books and a report. Everything is counted in samples; each file is encoded once.

timeline (pure: where every segment stands) → join (int16 blocks) → encode (files) → packets (m4b of chapter files);
chapters and book say what is made.
Knows takes and stores; knows no queue, no model and no Redis.
"""
