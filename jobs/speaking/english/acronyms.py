"""How English says what is written in capitals: as words, by letters, or as ordinary words. Pure data.

What is in no list is decided by whether it can be pronounced (`capitals.py`).
"""

from __future__ import annotations

from jobs.speaking.letters import word_set

AS_WORDS = word_set(
    "NASA NATO UNESCO UNICEF AIDS OPEC FIFA UEFA LASER RADAR SONAR SCUBA SARS COVID NAFTA ASEAN INTERPOL EUROPOL"
    " FEMA OSHA SWAT SIM RAM ROM PIN ZIP GIF JPEG ASCII BASIC COBOL FORTRAN UNIX NAND GUI WASP YUPPIE NIMBY TASER"
    " CERN NOAA DARPA SETI MENSA OXFAM IKEA FIAT NABISCO NASDAQ MERS AWOL GESTAPO GULAG WYSIWYG CAPTCHA LAN WAN"
    " WIFI VOIP ACAS ABBA ICANN YOLO FOMO LIDAR STEM ANZAC ANSI LIBOR FTSE HEPA TESOL TOEFL CAD PETA NORAD"
)
"""Said as they stand: a voice reads them as the word they became."""
BY_LETTERS = word_set(
    "BBC FBI CIA USA UK EU TV DVD CEO HTML UCLA UAE UFO USB UN UV IQ ID AI PC PR HQ CD DC CV MC MD XL TB GB MB KB"
    " AC DJ VJ EP LP LA NY PM MP VP GP GI IOU IBM API APA ATM AGM AOL IRA IRS ISP IVF VIP HIV RAF USAF DIY DNA RNA"
    " ETA FAQ SOS ESP EEC EFTA IPA ICU ER EMI ESPN IOC OAP OCD OED ICBM AA AAA ABC ADHD AKA ASAP BA MA MBA BC AD"
    " BCE CE CEO CFO COO CIO CTO CEOS GOP UPS URL URI IP OS IOS VCR LCD ITV ISBN ISO UPI AFP API PTA RSPCA EMT EKG"
    " ECG EEG CEU IMF IED ITU IDE SEO UI UX GUID UUID USSR UNHCR NAACP IDF PLO IPO ROI EPA FDA FAA ILO OAU AU IEEE"
    " AIG AMEX EDM LOL OMG RIP USD EUR AUD GBP UTC GMT EST PST RV SUV EV CIO ADC OECD UDP TCP VPN XXX WWW IMO FYI"
    " TBA TBD USS DOI CI MI DI MIT USC USDA USN UAV DEA DOD DUI IUD MIA NIH PSA POW SEC SAS UTI UCL UAW OEM ESA ISS"
    " ICC OAS TUC NUS MEP LAPD NYC NYU IST CET EDT AED ALS AWS DOB DOA ESG GIS HOA OBE PAYE POV SAE STI UAT USP YMCA"
    " YWCA IUCN ACLU ETF ATV AMA EULA OTC LAX TSA NSA ICJ IRC ERP UNEP USPS UNDP AFL NGO NGOS SSD SOP ISP ISPS SKU MAC"
    " ML DM"
)
"""Spelled, also where they could be pronounced."""
SOUNDED = {"LA": "in to from near of the around", "ER": "the an in to", "MA": "an", "MI": "in"}
"""Of those, what is also sung or said, and the words before it that still make an acronym of it in a shouted run."""
EITHER = word_set("US IT WHO AM LED")
"""An acronym or a word, by what stands around it."""
WITH_IT = word_set(
    "department support staff team system systems manager industry sector specialist worker workers professional"
    " company services service security guy guys people desk consultant admin infrastructure project projects"
    " budget equipment professionals companies skills training job jobs director officer crowd world expert"
    " experts"
)
"""What follows `IT` as information technology."""
KEPT = frozenset({"OK"})
MIXED = {
    "PhD": "P H D",
    "PhDs": "P H Ds",
    "MSc": "M S C",
    "BSc": "B S C",
    "DPhil": "D Phil",
    "MPhil": "M Phil",
    "LLB": "L L B",
    "WWI": "World War One",
    "WWII": "World War Two",
}
"""Spelled although not all of it is capitals."""
SOUNDS = word_set("HM SH PST BR GR TSK PFT Z M ARGH UGH AH OH EH UH UM AAH OW OK AW HA HE HO MM PH SHT GAH GRRR NGH")
"""Noises, with letters that are repeated written once."""
COMMON = word_set(
    "A ABOUT ABOVE AFTER AGAIN AH ALL ALSO ALWAYS AM AN AND ANY ARE AS ASK AT AWAY BACK BAD BE BED BEEN BEFORE"
    " BIG BIT BOX BOY BUS BUT BUY BY CALL CAN CAR CHAPTER COME CUT DAD DAY DEAD DEAR DID DO DOG DONE DOOR DOWN EAT"
    " END EVER EYE FAR FEW FIRE FOR FROM FUN GET GO GOD GONE GOOD GOT HA HAD HALF HAS HAVE HE HELL HELLO HELP HER"
    " HERE HEY HI HIM HIS HO HOME HOT HOUR HOW HUGE IF IN INTO IS ITS JOB JUST KEY KEEP KILL KNEW KNOW LATE LEFT"
    " LET LIE LIFE LIKE LO LONG LOOK LOT LOVE MAD MAN MAP MAY ME MEN MIX MOM MORE MOST MUCH MUM MUST MY NAME NEED"
    " NEVER NEW NEXT NIGHT NO NONE NOR NOT NOW NOWHERE OF OFF OH OLD ON ONCE ONE ONLY OR OTHER OUR OUT OVER OW OWN"
    " PART PAY PEN POP PUT RAN READ RED REAL REALLY RUN SAD SAID SAW SAY SEA SEE SHE SHOW SIR SIT SIX SO SOME SON"
    " SOON STILL STOP SUCH SUN TAKE TEA TELL TEN THAN THAT THE THEIR THEM THEN THERE THESE THEY THING THINK THIS"
    " TILL TIME TO TOO TOP TRY TURN TWO UM UP UPON VAN VERY WAIT WANT WAR WAS WAY WE WELL WENT WERE WET WHAT WHEN"
    " WHERE WHICH WHILE WHY WILL WIN WITH WON WORD WORLD WOW YEAR YES YET YO YOU YOUR ZOO"
)
"""Words that are shouted, and short words that look like acronyms."""
