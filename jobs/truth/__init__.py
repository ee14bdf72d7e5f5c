"""The queue's truth: where every job, segment and worker is. One back end in Redis, one in memory, same semantics.

`rules` has what both share; `lua` and `scripts/` are the atomic moves of the Redis one. Knows no stores and no torch.
"""
