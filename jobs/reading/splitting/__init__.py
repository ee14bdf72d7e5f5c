"""Where a paragraph may be divided: ends of sentences, cuts in long ones, short ones joined. Pure; knows no source."""
