"""Sentences of our own that a recogniser writes otherwise than they stand in a text: names, numbers, short answers."""

from __future__ import annotations

SENTENCES = tuple(
    """Dr. Hargreaves paid $45.50 for the lamp on 12 March 1884.
"I can't," said Oliver; "I won't, and you shouldn't have asked."
The colour of the harbour was grey, and our neighbour's favourite jewellery lay in the travelling case.
Everyone knew that every one of the twenty-five sailors could not swim.
Mrs. Abernathy lives at 221 Cromwell Avenue, next to St. Bartholomew's.
It was half past seven when Leonora Vasquez knocked at the door.
Yes.
No, thank you.
Not yet.
Who?
He whispered, "Run."
Mr. Tolliver and Miss Pemberton were married on the third of June, 1921.
The Prime Minister travelled to Edinburgh at 9:45 a.m. with J. R. Whitcombe.
About 3,500 people live in Kirkwall, 12% more than in 1990.
Chapter 4 begins on page 112 and ends on page 139.
Gudrun Eriksson sold her boat, the Valkyrie, to a man from Reykjavik.
"Very, very good," he said, "very good indeed."
No, no, no, I told you that we are not going there.
The 2nd Battalion marched 15 miles on 7 September and lost 3 men.
O'Malley's well-known half-brother never re-entered the so-called clubhouse.
Aunt Philippa put the marmalade on the mantelpiece and forgot it.
We had been waiting there for nearly three quarters of an hour.
"Where's Thaddeus?" asked Beatrix. "He's gone to fetch the constable."
The apothecary measured out two ounces of quicksilver and a pinch of saffron.
In 2005 the company had 1,200 workers; by 2010 it had none.
Professor Lindqvist's lecture on Thucydides lasted two and a half hours.
The temperature fell to -5 °C that night, and the pump froze.
Would you mind if I opened the window a little?
She had not expected the letter to be so short.
They could have gone by train, but Captain Ashworth preferred the river.
At the corner of Fifth Avenue and 42nd Street stood a newspaper seller.
Cordelia read the first sentence aloud: it made no sense at all.
The ship's manifest listed tea, indigo, cinnamon, and 40 barrels of rum.
I, for one, do not believe a word of what Mortimer says.
The boy ate 3 apples, 2 pears and a great many plums.
Nothing in his long experience as a magistrate had prepared him for the Dunwoody sisters.
"Hush," said Nan.
The wolves were nearer now, and the horses knew it.
Ezekiel Farnsworth was buried beside his wife in the churchyard at Little Wickham.
It cost £5, which was more than he earned in a week.
There were 1,001 steps to the top, and he had counted 998.
Somebody had left a bicycle leaning against the blacksmith's wall.
All right, all right, I am coming as fast as I can.
We sailed from Portsmouth on a Tuesday and reached Valparaiso in 94 days.
The judge looked over his spectacles, coughed twice, and adjourned the hearing until Monday.
Her grandfather, who was born in 1799, remembered the comet.
"What on earth," cried Lord Peverell, "is that infernal noise?"
Ten minutes later the whole street was awake.
Take two of these every four hours, and call me in the morning.
It is eighteen miles from Oxenholme to Grange-over-Sands.
The old woman, whose name was Ottoline, never spoke of her brother.
Why did nobody tell me that the Wilkinsons had already left?
By the time the fire engine arrived, the barn had burned to the ground.
He had learnt Greek, Latin, Hebrew and a little Sanskrit before he was sixteen.
Jasper threw the rope to Ignatius, who missed it.
A quarter of the crop was lost, and prices rose by 8.5 per cent.
The door opened. Nobody came in. The door closed again.
Mind the step!
I suppose so.
Good heavens, no.
"Twenty-three, twenty-four, twenty-five," counted the nurse.
The lighthouse keeper's daughter rowed out alone through the storm to save nine strangers.
After the war Major Pritchard kept bees and wrote to The Times every week.
It was the best of plans; it was, in fact, the only plan they had.
The inspector found a button, a ticket to Crewe, and half a biscuit.
When Theodora laughed, which was seldom, the whole table fell silent to listen.
We are told that Kublai's physicians knew of 32 kinds of fever.
There's no such thing as a free lunch, my dear Reginald.
The river had risen by six feet since Sunday and was still rising.
He looked at me, and I looked at him, and neither of us said anything for a very long time.
""".splitlines()
)
