"""The closed classes of English that change what a sentence says: what negates, hedges, limits,
sets conditions, reports speech, gives causes and leaves no exception.

Each class has a pattern for what a claim may add or a quote may lose, and a wider one (`AS_…`,
`CONDITIONAL`, `CAUSAL`, `SPEAKS`, `LIMITED`) for what says the same in other words.
"""

from __future__ import annotations

import re

NEGATIVE = re.compile(  # what may negate without a negation, or take a negation back
    r"\b(?:only|unless|without|otherwise|solely|except\w*|bar(?:red|s)?|ban(?:ned|s)?|out|instead"
    r"|rather"
    r"|free|until|too|else|if|(?:un|dis|non|im|in)[a-z]{4,}|[a-z]{3,}(?:less|est)|refus\w*"
    r"|reject\w*"
    r"|declin\w*|fail\w*|the same|first time|as now|remain\w*|unchanged"
    r"|forbid\w*|forbade|prevent\w*|stop\w*|exclu\w*|exempt\w*|lack\w*|miss\w*"
    r"|abstain\w*)\b",
    re.IGNORECASE,
)
UNCERTAIN = re.compile(
    r"\b(?:(?-i:may|May)|might|could|can|would|possibl[ey]|possibility|perhaps|probabl[ey]|likely"
    r"|unlikely"
    r"|suggest\w*|appear\w*|seem\w*|belie\w*|think\w*|thought|expect\w*|plan\w*|intend\w*|hope\w*"
    r"|reportedly|alleged\w*|suppos\w*|preliminary|potential\w*|estimate\w*|risk\w*|assum\w*|sees?"
    r"|opinion|view|allow\w*|permi\w*|authori[sz]\w*|not (?:clear|known|certain|confirmed)"
    r"|unclear|according)\b",
    re.IGNORECASE,
)
FUTURE = re.compile(
    r"\b(?:will|shall|would|plan\w*|intend\w*|pending|(?:is|are|was|were) to|expect\w*|propos\w*"
    r"|going to"
    r"|appl(?:y|ied|ies) for|asked for|due to|hope\w*|next|aim\w*|schedul\w*|could|may|might"
    r"|should)\b",
    re.IGNORECASE,
)
DONE = re.compile(
    r"\b(?:has|have) (?:been |now |already )?[a-z]+(?:ed|en|un|ne|t)\b|\b(?:was|were|received"
    r"|opened"
    r"|began|became|got)\b",
    re.IGNORECASE,
)
CONDITION = re.compile(
    r"\b(?:if|unless|provided|providing|once|until(?! (?:now|then|recently|today))|except"
    r"|only (?:where|if|when|for|in|after)"
    r"|as long as|on condition|in case|subject to|assuming|even if|so long as)\b",
    re.IGNORECASE,
)
CONDITIONAL = re.compile(
    rf"{CONDITION.pattern}|\b(?:only|when|whenever|where|without|depend\w*|condition\w*|should"
    r"|otherwise|solely)\b",
    re.IGNORECASE,
)
SPEECH = (
    r"(?:sa(?:y|ys|id|ying)|told|tells?|argu(?:e|es|ed)|claim(?:s|ed)?|report(?:s|ed)?|warn(?:s"
    r"|ed)?"
    r"|belie(?:ve|ves|ved)|think(?:s)?|thought|announc(?:e|es|ed)|stat(?:e|es|ed)|writes?|wrote"
    r"|suggest(?:s|ed)?|insist(?:s|ed)?|admit(?:s|ted)?|den(?:y|ies|ied)|fear(?:s|ed)?|hope(?:s|d)?"
    r"|expect(?:s|ed)?|estimat(?:e|es|ed)|call(?:s|ed)?|judg(?:e|es|ed)|conclud(?:e|es|ed)"
    r"|predict(?:s|ed)?|assur(?:e|es|ed)|promis(?:e|es|ed)|explain(?:s|ed)?|confirm(?:s|ed)?"
    r"|disclos(?:e|es|ed)|reveal(?:s|ed)?|declar(?:e|es|ed)|not(?:es|ed)|point(?:s|ed) out"
    r"|maintain(?:s|ed)?|assert(?:s|ed)?|alleg(?:e|es|ed)|according)"
)
SPEAKS = re.compile(
    rf"\b{SPEECH}\b|\b(?:view|opinion|explanation|accord\w*|for \w+, |authors?|blam\w*)\b",
    re.IGNORECASE,
)
REPORTED = re.compile(  # "the maker says that …", "…, said Ida Marsden", "according to …"
    rf"\b{SPEECH} (?:that|to)\b|, (?:the )?[^,.;]{{0,60}}\b{SPEECH}\b|\b{SPEECH} (?:it|they|he"
    rf"|she|the)\b",
    re.IGNORECASE,
)
BY_RECORDS = re.compile(  # "according to the 2020 census": what documents record is no opinion
    r"\baccording to (?:[\w’'-]{1,30} ){0,4}?"
    r"(?:almanacs?|archives?|atlas|atlases|cadastre|catalogues?|census|charter|charts?|code"
    r"|datasheet|dictionary|directory|documentation|encyclop(?:a|ae)dia|gazette|gazetteer"
    r"|handbook|inventory|ledgers?|log|logbook|logs|manual|map|maps|minutes|records?|register"
    r"|registers|registry|rolls?|schedule|specification|standard|statutes?|tables?|timetable"
    r"|yearbook)\b",
    re.IGNORECASE,
)
CAUSE = re.compile(
    r"\b(?:because|due to|owing to|caus(?:e|ed|es|ing)|led to|leads? to|result(?:s|ed|ing)? (?:in"
    r"|from|of)"
    r"|as a result|thanks to|on account of|trigger(?:s|ed)?|drove|drives?"
    r"|responsible for|brought about|consequently|therefore|attributable)\b",
    re.IGNORECASE,
)
CAUSAL = re.compile(
    rf"{CAUSE.pattern}|\b(?:since|as|so|for|reason\w*|ground|why|effect\w*|after|through|blam\w*"
    rf"|owe[sd]?"
    r"|finding|explain\w*|let|spare|depend\w*|helps?|chiefly|makes?|made)\b",
    re.IGNORECASE,
)
UNIVERSAL = re.compile(
    r"\b(?:throughout|everywhere|anywhere|wherever|whatever|whoever|everybody|everyone|always"
    r"|all(?! (?:but|over)\b)|every(?! \d)|entire(?:ly)?|whole|completely|fully"
    r"|(?<!at )(?<!in )any(?! more\b)|nobody|altogether)\b",
    re.IGNORECASE,
)
AS_UNIVERSAL = re.compile(
    rf"{UNIVERSAL.pattern}|\b(?:each|no|none|never|both|total\w*|overall|anyone|only|rest"
    rf"|undivided|neither)\b",
    re.IGNORECASE,
)
ONLY = re.compile(
    r"(?<!not )\b(?:only(?! (?:\d|half\b|an?\b|one\b|two\b|three\b|four\b|five\b))|sole(?:ly)?"
    r"|exclusive(?:ly)?)\b",
    re.IGNORECASE,
)
AS_ONLY = re.compile(
    r"\b(?:only|sole\w*|exclusiv\w*|alone|just|unless|otherwise|except\w*|no|not|none|neither|must"
    r"|until|apart|before|of some|on condition)\b",
    re.IGNORECASE,
)
TOP = re.compile(
    r"(?<!at )\bmost (?=[a-z]+(?:ed|ing|ive|al|ant|ent|ous|ful|ble|ar)\b)|\b(?:leads"
    r"|top)\b(?! of all)"
    r"|\bfirst (?:ever|[a-z]+ to)\b|\bthe first to\b"
    r"|\b(?!(?:fore|inter|har|for|requ|sugg|prot|cont|mod|hon|int|gu|inv|arr|qu|conqu|b|r|t|w|p"
    r"|d)est\b)"
    r"[a-z]{3,}est\b",
    re.IGNORECASE,
)
AS_TOP = re.compile(
    r"\b(?:most|top|best|worst|main|chief\w*|mostly|record|first|leads?|unique|favou?rite|last"
    r"|(?!forest\b|interest\b)[a-z]{2,}est)\b",
    re.IGNORECASE,
)
_LIMITERS = (
    r"\b(?:can|able to|some|most of|(?:parts?|majority|minority|portion|share|section"
    r"|wing) of|(?:about|around|under|up to|at least|at most|more than|less than|fewer than"
    r"|nearly"
    r"|almost|roughly|approximately|estimated)(?= [\d$€£]))"
)
LIMITER = re.compile(rf"{_LIMITERS}\s", re.IGNORECASE)
"""Limits the words right after it: "some users", "up to 5"."""
LIMITED = re.compile(
    rf"{_LIMITERS}|\b(?:about|around|over|under|up to"
    rf"|as (?:much|many|long) as"
    r"|at (?:least|most)|more|less|fewer|nearly|almost|roughly|approximately|some|allow\w*|could"
    r"|possib\w*|ability|may|might|often|usually|typically|mainly|mostly|part\w*|generally|many"
    r"|several|close to|thought)\b",
    re.IGNORECASE,
)
FREQUENCY = re.compile(
    r"\b(?:often|sometimes|usually|typically|mainly|mostly|partly|rarely|seldom)\b", re.I
)
