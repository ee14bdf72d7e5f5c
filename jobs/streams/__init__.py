"""Live logs of a job: events and audio chunks, their wire form and a back end in memory (docs/streams.md is public).

Events are written by the truth, in the same move that changes it; audio is written by workers. The back end on Redis is
`jobs.truth.redis_streams`.
"""
