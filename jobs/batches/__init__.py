"""Files and batches of speech requests, in the shapes of OpenAI's API. Knows no HTTP.

A batch is a named set of ordinary JSONL jobs: what it has done is read from them, so nothing is counted twice and
nothing is lost with the server that took it.
"""
