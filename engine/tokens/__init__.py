"""The token lane: autoregressive programs over paged KV, whole steps as graphs, a codec lane beside them."""
