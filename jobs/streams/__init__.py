"""Live logs of a job: events and audio chunks, and their back end in memory; that on Redis is `jobs.truth.redis_streams`.

Events are written by the truth, in the same move that changes it; audio is written by workers. docs/streams.md is public.
"""
