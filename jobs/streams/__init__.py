"""Live logs of a job: events and audio chunks. One back end on Redis streams, one in memory; docs/streams.md is public.

Events are written by the truth, in the same move that changes it; audio is written by workers.
"""
