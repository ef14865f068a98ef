"""The closed classes of English that change what a sentence says: what negates, hedges, sets
conditions, reports speech and leaves no exception.

Each class has a pattern for what a claim may add or a quote may lose, and a wider one (`AS_…`,
`CONDITIONAL`, `SPEAKS`) for what says the same in other words.
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
