"""SharedStreams: `jobs.protocols.Streams` for many readers in one process over one reading connection.

Two hundred listeners that each ask the broker twenty times a second are four thousand calls; one thread that reads
for all of them is twenty. What it reads is kept for each job as long as somebody listens to it.
"""
