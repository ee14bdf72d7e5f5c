"""The 12 Hz codec of Qwen3-TTS (Qwen3-TTS-Tokenizer-12Hz): 16 codes a frame, 1,920 samples, strictly causal."""
