"""Qwen3-TTS (12 Hz): a talker that draws a frame of 16 codes a step; speakers of its own, designed or cloned ones."""
