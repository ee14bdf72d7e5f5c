"""From text as it is written to text as it is spoken: numbers, dates, money, abbreviations, a user's own words.

speaker = Speaker(SpeakingOptions(), vocabulary=words)
replacements = speaker.replacements("It cost $5.30.", "en-US")    # [Replacement(8, 13, "five dollars thirty", MONEY)]

Works sentence by sentence on clean text; knows no source, plan, model or queue.
"""
