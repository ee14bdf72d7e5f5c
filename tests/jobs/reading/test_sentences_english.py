"""Where sentences of English end: each line is a paragraph, `|` stands where a sentence ends."""

import pytest

from jobs.reading.splitting.sentences import sentence_spans

PARAGRAPHS = r"""
Mr. Harlow and Mrs. Penrose met Ms. Day.|Dr. Amal smiled.
Prof. Lindqvist asked Rev. Green and Hon. Smith.|Nobody spoke.
Gen. Lee, Col. Mustard, Capt. Ahab and Lt. Dan sat down.
Sgt. Pepper saluted Maj. Tom.|Gov. Brown and Sen. Clay voted.|Rep. Waters did not.|Pres. Lincoln spoke.
Fr. Brown, Sr. Agnes and Messrs. Hale met Mme. Bovary and Mlle. Claire.
MR. SMITH met DR. WHO.
Martin Luther King Jr. spoke.|King Jr. Day is in January.
He was Sammy Davis Jr.|Then he was not.
John Smith Esq. wrote it.|She read it.
J. R. R. Tolkien wrote it.|J.R.R. Tolkien slept.
Edgar F. Codd met A. B. Tandy.
George W. Bush and John F. Kennedy met.|Samuel L. Jackson left.
It was plan B.|Then he left.
She takes vitamin C.|It helps.
We chose option C.|Everyone cheered.
See appendix A.|Smith wrote it.
So did I.|John left.
You and I.|We left.
It was Elizabeth I.|She ruled long.
After World War I.|Germany fell.
The U.S. Navy kept no record.|The U.S. Government did.
J. R. Whitcombe sailed to the U.S. in May.
Was it the U.S.?|It was.
He left the U.S.|She stayed.
He moved to the U.K.|There he taught.
“I left the U.S.”|“Why?” she asked.
She holds a Ph.D. from Oxford.|She has a Ph.D.|He does not.
It opens at 9 a.m. sharp.|It opens at 9 a.m.|Sarah came.
They met at 5 p.m. Monday.|It was 5 p.m. EST then.
At 5 p.m. we left.|At 6 P.M.|They came.
He works for Brook Inc. and likes it.|She works for Acme Inc. USA.
They sold Acme Inc.|He was sad.
Hale & Co. of Leeds failed.|He joined Hale & Co.|It failed.
Smith Ltd. won.|He sued Smith Ltd.|They lost.
Bring pears, etc. for us.|They had pears, plums, etc.|They ate.
Fruits (pears, etc.) are good.|Boats, cars, etc.|Nobody cared.
They spoke for an hour, i.e. far too long.|Fruit, e.g. Pears, is good.
See cf. Smith for more.|It is man vs. Machine.|Roe v. Wade was old.
Smith et al. [2004] showed it.|Smith et al. (2004) did too.|Smith et al. showed it.
As in Smith et al.|This was new.
It costs approx. 5 pounds.|It was built ca. 1850.
No. 9 is here.|She said no.|He left.
No.|He left.
See p. 44ff. and more.|See p. 44ff.|He did.
See pp. 3-5 and vol. 2 and ch. 3.|Fig. 2 shows it.|Vol. II is lost.|Fig. A is here.
On Jan. 5 it rained.|It was cold in Dec.|Sarah left.
On Mon. morning it rained.|They met Mon. Jan. 5 at noon.
He sat.|The sun.|It rose.
The cat sat.|Sarah left.
Mt. Etna and Ft. Worth are far.|St. Bride's is near.
He lives on Main St.|Then he moved.
It is 98.6 degrees.|It is 37,0 or 1.000,50 in all.
Use v2.0.1.|Then rest.
Use version 2.0.1 or 192.168.0.1.|It works.
They met at 9.30.|It was 3.4.2021.|Pi is 3.14.
It was 1984.|Winston wept.
Visit example.net.|Then rest.
Write to kit.lowe@example.org or open https://www.example.com/a/b_c?x=1&y=2.|Sarah did.
Go to www.example.org/a.b/c.html. then stop.
The file notes.v2.txt is in C:\data\old.|It is big.
Wait... are you sure?|She paused… then ran.
He stopped...|Then he ran.|Well... no.
I don't know....|Maybe.|Yes…
“Wait…” she said.|“Wait…”|She left.
“Stop!” he said.|He ran.
“Stop!”|He left.
“Stop!” John said.|He ran.
“Stop!” Mr. Jones cried.
"Stop!" Mary shouted.|"Go!" I said.
“Yes?” Aunt Mary asked.|“No.”
“Moths? Here?”|“Yes!” he shouted.
“Not yet,” she said.|“Come.”
“He told me, ‘Not yet.’”|She left.
‘Stop!’ he said.|‘Go!’|She went.
He said "fine."|Then (as if asleep.) he nodded.
(He slept.)|Then it rained.
[Not so.]|Yes.
It was (see above!) odd.|It was odd (very.)|He left.
He called it a “success” (!) in May.|John (?) left.
What?!|No!!!|Yes.
Really?!?|Yes!
1. First step of all
1. First step.|2. Second step.
a) b is here.|A. First point is this.
I. The Gate
IV. The Well
XII. John's Tale
- Who is it?|- Me.
– Who is it?|– Me.
Speed rose to 30 km/h.|A loss of 5 is fine.
He ran 5 km.|Then he slept.|It was 10 ft.|He jumped.
It weighs 5 lb. net.|It took 30 min.|Sarah waited.
He came.[1]|She left.
The deed is dated 12 March 1884.|It was copied on 2024-05-06 at 14:30.
It cost $5.30, then £1,200, then €3.5 million.|The rope is 12 m long.
Oh! how I wish it.|Ah! my dear, come.
i went home.|then i slept.|ok?
I bought it.|iPhone sales fell.
St. Paul's and St. John met at St. Mary.
He studied at M.I.T. in May.|It is the F.B.I.|They know.
In 44 B.C. he died.|It was 44 B.C.|Rome wept.
The D.C. area is wet.|It is in Washington, D.C.|He lives there.
He is the C.E.O. of it.|She is the C.E.O.|But he left.
It is No. 5.|It is number five.
Dr. J. Smith, M.D., came.|Dr. No left.
Well, well.|How are you, Mr. Fox?|Fine.
She works in the Dept. of State.|He left the Dept.|She stayed.
The gov. said no.|All is lost.
Did he say “yes.”?|He did.
He asked why.|“Because.”
He asked “Why?” and left.
“Why?”|“Because I said so.”|Nobody moved.
It was late.”|He left.
The end.
No end here
Yes, 5.|No, 6.
Call 555.1234 now.|Thanks.
He scored 5.|6 others did not.
It was the year 2000.|People danced.
He has three children.|Tom is 12.|Ann is 9.
She said, “I am Dr. Day.”|He nodded.
Thomas A. Edison invented it.|Mr. T.|He pitied them.
E. coli is bad.|So is H. pylori.
S. Smith et al., 2004, said so.
“Is it?” he asked.|Mr. Jones said (not at once.) that it was.
The D.A. told her.|“O.K.,” he said.
Yours truly, A. N. Other.|P.S. Bring milk.
The word “end.” is here.
He came home c. 1900.|She (b. 1900) left.
It is 20 °C.|Water is warm.
He was born on Feb. 29, 1904.|She was not.
Turn left onto Elm Ave. and stop.|He lives on Elm Ave.|She does too.
This is Lt. Col. Smith.|Maj. Gen. Brown is here.
Vols. 3 and 4 are lost.|Nos. 5 and 6 remain.
And then – silence.|Nothing.
He knew—or thought he knew.|Nothing moved.
He was in the navy (U.S. Navy).|She left.
The answer is yes.|No. 5 is alive.
Dr. Strange vs. Dr. Doom is on.|It is good.
“I saw Mr. Day.”|“Did you?”
“Oh, no. He is gone,” she said.|Then silence.
He said, "Wait... He is here."|She ran.
"Is it you?"|"Yes."|He nodded.
He wrote 'Stop.'|She read it.
It was a no.|Everyone knew.
It was 5 o'clock.|Tom slept.
Why not?|Because.|I see!|Good.
Mr. and Mrs. Smith, of St. Louis, Mo., came.
Ask Mr. Brown.|He knows.
This is Section 3.|The rest is Section 4.
See Sec. 3 and Art. 5, para. 2.
At 3.30 p.m. on Sat. Nov. 5 he left.
The price (approx. $5.) was low.|He paid.
In the year A.D. 79 it fell.
They are from N.Y. and L.A. respectively.|He is from L.A.|She isn't.
His name is Robert Downey, Jr.|He acts.
The firm, Widgets Co., Ltd., failed.
It works, i.e., it runs.|E.g., this one.
I met Wm. Shakespeare and Chas. Dickens.
Let x = 2.5.|Then y = 3.5.
File a.txt.|File b.txt.
He typed “ls -l.”|It listed files.
Open C:\data\old.|Then D:\new\x.txt.|Done.
Go to https://example.org.|It is good.
Mail a.b@example.org.|He answers.
He said: “Go.”|They went.
‘I know,’ he said.|‘It is late.’
The Dr. was in.|The Rev. Mr. Hale came.
It is J. P. Morgan's.|So is A.A. Milne's.
“Ready?”|The captain nodded.
Lord Jim.|By Joseph Conrad.
He saw “Jaws.”|It was good.
Then he... well... he fell.
What a day…!|Good night…?|Yes.
He left at 5.|Sarah left at 6.
Chapter 2.|The Storm
He saw Messrs. Black and White.|They (i.e. the two) left.
She is a.k.a. Big Sue.|He isn't.
He was a corporal, Cpl. Jones.|She was Pvt. Benjamin.
Open b.py.|Close c.py.
The No. 1 hit.|Track no. 5 plays.|Is it No. 10?|Yes.
He took vitamin B. and slept.
He had two B.A.s and a B.Sc. in physics.|She had an M.A.|It hung there.
Signed, J.|He left.
The A.M. broadcast.|He called at 8:00 A.M. and left.
It ended in a draw (0-0).|Nobody cheered.
The year was 1999.|2000 came next.
“You?”|“Me.”|“Oh.”
‘You?’|‘Me.’
She asked, “Who’s there?”|No answer came.
“What did you—”|“Nothing.”
He was—well—gone.|So was she.
Read chap. 3.|Then rest.
At 98.6 °F.|He is ill.
Is it 3.5?|No, 4.5!
He said, “I’m from the U.S.”|She laughed.
He said “U.S.”|She said “U.K.”
I.e. this is it.
He met Prof. Dr. Klein.|All was well.
“But, Mr. Fox!” cried Ann.|“Sir!”
It is *very* old.|_Very_ old.
He ate.|“Good.”|She ate.|(Twice.)|They left.
It was the boys' room.|Tom left.|It was the girls' turn.
HE CAME HOME.|THEN HE SLEPT.|NO.|HE DID NOT.
It was 6' 2" tall.|Tom said so.|It was 5" wide.
“I thought—” he began.|“What?”
"I—"|"No."|He ran.
He read ‘Emma.’|Then ‘Persuasion.’|All good.
Rock 'n' roll.|It's Tom's.|Ann's too.
It was Feb.|The snow fell.|In Mar. 1984 it stopped.
He lives on 5th St. N.W. in town.
“I . . . don't know.”|She paused . . . then left.
N.B. This is odd.|P.S. I love you.
“Go!”|“Stay!”|“Why?” the man asked.
Lt. Gov. Smith, Asst. Prof. Jones, Vice Pres. Brown.
The Rt. Hon. J. Smith, M.P., spoke.|He is an M.P.|She isn't.
(1) First thing.|(2) Second thing.
It sold for $1.5M.|The buyer was happy.
Line one.|'Tis the season.|’Twas night.
The train left at 10:15 a.m.|Passengers waited.
He won 3-2.|Fans cheered.
Prices rose 5%.|Wages fell.
He paid $5.|She paid €7.
He met Tom and R. Jones.|A. Miller and E. Brown met.
Marx and F. Engels lasted.|Lennon and P. McCartney sang.|Curie and H. Becquerel won.
A. Poe, B. Lee, and C. Roe met.|Tom or S. Lee came.|We saw A and B.|Tom left.
Taller than R. Jones he was.|In 1914 W. Churchill left.
At 7 a.m. Mr. Smith left.|At 9 a.m. Tom ate.|By 5:30 p.m. John was there.|At 7 a.m. I left.
He came at 9 a.m.|Tom ate.|It was after 9 a.m.|Tom ate.
ASK DR. SMITH AT 5 P.M. OR CALL THE FBI.|THE U.S. AND CANADA SIGNED.
We sailed past St. Lucia on Mon. 4 June.|On Tues. 5 May we met.|It was Sun. 3 June.|On Mon. June 4 we met.
He came on Mon.|May was late.|They left on Fri.|12 men stayed.
He was in LA.|Mark did it.|It runs on 12 V.|Add 250 ml.|Turn to Room B.|Turn left.
Sony Corp.|Shares fell.|Ask the Dr.|He knows.|Ask the Dr. Smith of old.
The bell rang.*|It was noon.†|All rose.
“You can’t—”|He did.|“You can’t—” John said.
On the floor A. Smith lay.|In the war E. Hall died.|Use plan B.|Tom left.
He was 1905th in line.|c. 1450 it was new.
"""
NO_ABBREVIATIONS = ("app", "chapter", "yes", "later", "sat", "mar", "sun", "fig", "art", "sec", "may", "in", "am", "no")


@pytest.mark.parametrize("line", PARAGRAPHS.strip().split("\n"))
def test_sentences_end_where_they_should(line):
    text = line.replace("|", " ")
    assert [text[start:end].strip() for start, end in sentence_spans(text, "en")] == line.split("|")


@pytest.mark.parametrize("word", NO_ABBREVIATIONS)
@pytest.mark.parametrize("following", ["He left.", "Then it rained.", "The end.", "She’s here.", "“Why?” he asked."])
def test_words_that_look_like_abbreviations_end_a_sentence(word, following):
    text = f"It was the {word}. {following}"
    spans = sentence_spans(text, "en")
    assert text[slice(*spans[0])].strip() == f"It was the {word}."


@pytest.mark.parametrize("language", ["en", "en-GB", "en_US", "EN"])
def test_a_tag_is_its_language(language):
    text = "He met Dr. Day at 5 p.m. sharp. She left."
    assert [text[start:end] for start, end in sentence_spans(text, language)][1:] == ["She left."]


@pytest.mark.parametrize(
    "title", ["Mr", "Mrs", "Ms", "Dr", "Prof", "Rev", "Gen", "Col", "Capt", "Lt", "Sgt", "MR", "Messrs"]
)
@pytest.mark.parametrize("name", ["Smith", "O’Neill", "de Vries", "J. Smith", "Will Day"])
def test_no_sentence_ends_after_a_title(title, name):
    text = f"They met {title}. {name} in the hall."
    assert sentence_spans(text, "en") == [(0, len(text))]
