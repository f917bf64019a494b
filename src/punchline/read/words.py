"""Words of commitment, judgement, denial and doubt, as patterns over text in lower case."""

from __future__ import annotations

import re


def blanked(pattern: re.Pattern[str], text: str, most: int = 0) -> str:
    """The text with blanks in place of a pattern's matches (the first `most`; 0: all), as long as before."""
    return pattern.sub(lambda match: " " * len(match[0]), text, count=most)


# Negations that deny nothing: blanked before anything is looked at.
FREE = re.compile(
    r", as (?:one|you|some|many|people|i|we|it) [^,.;]{3,40},|\bwithout (?:an? |any )?\w+ (?=points? to|suggests?"
    r"|indicates?)|(?:\bnot|n't) (?:only|just|merely|solely|simply|exclusively|purely|entirely sure\b,?|(?:a )?bad"
    r"|to mention|surprisingly|(?:100 ?%|completely|fully|totally|absolutely|very|too) (?:sure|certain),?|sure,? but"
    r"|certain,? but)(?!\w)|\b(?:without (?:a |any )?|no |beyond (?:any |a )?|there is no |there's no |not? )(?:doubt"
    r"|question|hesitation)\b|\bif (?:pressed|forced|pushed|asked|anything|you ask me|i (?:had|have|must|really|were"
    r"|could))\b|\bif not\b|\bwhy not\b|\bno matter\b|\bno wonder\b|\bnot (?:sure|certain"
    r"|positive),? (?:but|though)\b|\b(?:cannot|can't|couldn't|could not) (?:help|agree more)\b|\bno(?:ne)? (?:better"
    r"|closer|stronger)\b|\bno (?:contest|ifs|competition|problem)\b|\bhands down\b|\bno (?:further|additional) \w+\b"
    r"|(?<!whether )\bor not\b|\bno explanation\b|\bno more\b"
)
NEGATION = re.compile(
    r"\b(?:not|never|neither|nor|cannot|hardly|scarcely|nothing|nobody|none|anything but|far from|without|lacks?"
    r"|lacking|(?:do|does|did|is|are|was|were|wo|would|could|should|ca|has|have)nt)\b|n't\b|\bno\b(?! ?[,.:;!?)-]"
    r"| one\b)"
)
EXCLUSION = re.compile(
    r"\b(?:rul(?:e[sd]?|ing)(?: \w+)? out|eliminat\w+|exclud\w+|discard\w*|reject\w*|dismiss\w*|discount\w*|avoid\w*"
    r"|(?:cross|strik|stuck|toss|throw)\w* (?:out|off)|set aside|(?:get|got) rid of|wrong (?:is|are|ones? (?:is|are))"
    r"|incorrect (?:is|are)|disagree with|against|drop(?:ped|ping)?|(?:mistake|wrong|error|unwise|incorrect|misguided"
    r"|hard|difficult) to (?:choose|pick|select|say|go|opt|justify|defend|argue|call|answer))\b|✗|\b(?:worst|weakest"
    r"|least (?!one)\w+)(?: \w+){0,2}? ?(?:is|are|be|:|→|->|=>|=)|不|非|排除|错"
)
BAD = (
    r"adds? (?:little|nothing)|off[- ]topic|(?:only |just )?half[- ](?:right|true|correct|way)|wrong\w*|incorrect\w*"
    r"|false|untrue|inaccurate\w*|irrelevant|unlikely|implausible|unrelated|unsuitable|inappropriate|misleading|mis(?:s"
    r"|ses|sing|matche?s?|represents?|reads?|interprets?|states?|characteri[sz]es?)|fails?|failing|falls? (?:short"
    r"|flat)|contradicts?|contrary|ignor(?:es?|ing)|overlooks?|neglects?|omits?|weak(?:er|est)?|less|worse|worst"
    r"|poor(?:ly)?|too(?= \w)|merely|nothing more than|just an?(?= )|overly|partially|mistaken|invalid"
    r"|secondary|incidental|minor|nonsens\w+|superficial(?:ly)?|tangential(?:ly)?|distractors?|(?:a )?stretch|generic"
    r"|vague|unnecessary|decorative|negligible|red herring|ruled out|eliminated|excluded|rejected|discarded|dismissed"
    r"|out of the question|(?:is|are) out\b|crossed (?:off|out)|off the (?:mark|table)|(?:is|are|seems?|feels?) off"
    r"|beside the point|opposite|impossible|inadequate|partial|insufficient|unsupported|unconvincing|broad|narrow"
    r"|literal|simplistic|trivial|absent|missing|unfitting|reductive|exaggerates|overstates|overreach\w*"
    r"|overgenerali[sz]\w+|distracts?|strays?|sidesteps|flawed|n/?a\b|✗"
)
_NO_SIDE = r"(?! (?:panel|side|image|picture|half|frame|hand)s?\b)"  # the right panel is not the right one
BEST = (
    rf"best|better|funnier|funniest|nearer|nearest|closer|(?:is|says?|means?) (?:what|how|where|the idea|the message)"
    rf"|(?:right|(?:is )?left\b){_NO_SIDE}|correct\w*|closest|clearest|strongest|winn(?:er|ing)|wins?|the answer"
    rf"|my (?:answer|choice|pick|vote)|ideal|perfect(?:ly)?|the one|stands? out|superior|prefer\w*|remain(?:s|ing)?"
    rf"|only (?:one|option|choice|title|statement)|dominant|dominates?|primary|primarily|mainly|main|key|crucial"
    rf"|more important|most|matters more|carr(?:y|ies)|outweighs?|beats?|trumps?|overshadows?|edges out|hits the nail"
    rf"|nails?|spot[- ]on|exactly|precisely|it is\b|bingo|takes it|more (?:apt|fitting|accurate|suitable|appropriate"
    rf"|relevant|central|essential|precise)|essential|decisive|top|punch ?line|pay-?off|pivotal|clima\w+|delivers?"
    rf"|lands?"
)
GOOD = (
    r"true|fit(?:s|ting)?|captur\w+|match(?:es|ing)?|reflects?|express\w*|conveys?|describ\w*|summari[sz]\w+|sums?"
    r"|aligns?|(?<!of )(?<!about )works?|accurate(?:ly)?|suitable|suits?|appropriate|apt(?:ly)?|plausible|valid"
    r"|represents?|encapsulat\w*|embod\w*|makes? (?:the most )?sense|good|strong(?:ly)?|great|resonates?|illustrat\w*"
    r"|highlights?|distils?|distills?|holds?|supported|consistent|contributes?|important|relevant|central|yes|agrees?"
    r"|correspond\w*|applies|apply|sound|drives?|articulat\w+|communicat\w+|emphasi[sz]es?|speaks? to|gets? (?:at|it)"
    r"|points? to|pick|✓|present|helps?|needed|necessary|covers|applicable"
)
NO = r"no(?= ?[,.:;!)-]| ?$)"  # as a verdict
JUDGED = re.compile(
    rf"(?P<but>\b(?:but|however|yet)\b)|(?P<though>\b(?:(?:even )?though|although|while|whereas|despite)\b)"
    rf"|(?P<neg>{NEGATION.pattern})|(?P<bad>(?:\b(?:{BAD})(?!\w)|✗|\b{NO}))|(?P<best>\b(?:{BEST})(?!\w))"
    rf"|(?P<good>\b(?:{GOOD})(?!\w)|✓)"
)
COMMITMENT = re.compile(
    r"\b(?:answer(?:ed|s)?|cho(?:ose|oses|osing|se|sen|ice)|pick(?:s|ed|ing)?|select(?:s|ed|ing|ion)?|go(?:ing"
    r"|es)? (?:with|for)|went with|opt(?:ed|ing)? for|settl(?:e|ed|ing) (?:on|for|upon)|conclu(?:de|des|sion)|therefore"
    r"|thus|hence|so|accordingly|consequently|it'?s|it is|(?:it|this|that) (?:must|should|would|has to|can only) be"
    r"|that'?s|that is|this is|that makes|leav(?:e|es|ing)|left with|lean(?:ing)? (?:to|toward|towards)|(?:i'?d|i would"
    r"|i'll|i will|i|let's) (?:say|guess|pick|take|call)|say|vote(?:s|d)? (?:for|goes to)?|best|most|correct|right"
    r"|guess(?: is)?|bet(?: is)?|must be|has to be|points? (?:to|at|towards?)|land(?:s|ed|ing)? on|stick(?:ing)? with"
    r"|final(?:ly)?|ultimately|prefer|favou?r|believe|think|decided? (?:on|for)|narrow\w* (?:it )?down to"
    r"|comes? down to|boils? down to|confident (?:in|that)|certain(?:ly)?|definitely|clearly|makes?|undoubtedly|verdict"
    r"|winner|match(?:es)?|correspond\w* to|(?:represent|captur|describ|express|convey|summ|reflect|articulat"
    r"|encapsulat|classifi|categori[sz])ed(?: up)? (?:by|in|as)|submit|respond(?:ing)? with|response|lock(?:ing)? in"
    r"|mark|come[s]? from|(?:driven|carried|delivered|created) by|(?:relies|rely|depends?|hinges|rests) (?:on|upon)"
    r"|ended? (?:up )?(?:on|with)|took|taking|indicat(?:es?|ing)|suggest(?:s|ing)?|falls? (?:on|under)|lies? (?:in"
    r"|with)|namely|(?:com|keep)\w* (?:\w+ )?back to|drawn to|convinced (?:by|of)|only(?= ?\W*$))\b|=>|->|→|✓|\b(?:is"
    r"|are|be)(?: (?:the|an?|actually|option|letter|clearly|still|really|probably|just|simply|indeed|panel|title"
    r"|answer))*[ (\"']*$"
)
PAST = re.compile(
    r"(?:'d|\b(?:would|could|might)) (?:\w+ )?have (?:\w+ )?(?:said|chosen|picked|gone|answered|selected|been)\b"
    r"|\b(?:others|another)(?= ?\W*$)|\b(?:thought|(?:a|some|the) (?:case|argument|merit|appeal) (?:for|in|of|can be)"
    r"|considered|inclined|want(?:ed)? to (?:say|choose|pick|answer)|(?:many|most|others|people|readers|you|one|some"
    r"|they|anyone) (?:\w+ )?(?:would|might|may|could|will|can)|tempt(?:ed|ing|s)|instinct|initial(?:ly)?|at first"
    r"|first (?:saw|marked|read|chose|picked|said|answered|wrote|had)|first (?:glance|sight|guess|impression|choice"
    r"|pick|read\w*)|(?:might|may|could|can) (?:\w+ )?(?:think|argue|say|seem|appear|assume|expect|suppose|point|guess"
    r"|be tempted|pick|choose)|would (?:seem|appear|be tempted|expect)|leaned|(?:was|am|were) (?:going|leaning|drawn"
    r"|between)|were it|almost|nearly|some (?:people|readers|would|may|might)|someone|consider(?= |$)|let me (?:look"
    r"|check|consider|evaluate|go(?! (?:with|for))|examine|see)|let's (?:look|check|consider|evaluate|examine|see|take)"
    r"|whether|between|such as|for example|e\.g|(?:looking at|compar(?:e|ing)|examin(?:e|ing)|evaluat(?:e"
    r"|ing))(?= (?:\w+ ){0,2}\W*$)|originally|previously|earlier|was torn|toss[- ]?up|(?:second|next)[- ](?:best|choice"
    r"|closest)|runner-?up)\b"
)
LURE = re.compile(
    r"\b(?:comes? close\b(?! to the)|maybe|close second|tempting|attractive|plausible|appealing|reasonable|contender"
    r"|possible|(?:is|comes|a|close) second|runner-?up|(?:its|some|a certain|their) (?:merits?|appeal|logic|truth)"
    r"|candidate|alternative|arguable|defensible|understandable|partially|touch(?:es)? (?:up)?on|similar)\b"
)
THOUGHT_BETTER = re.compile(r"\b(?:but|settled|now|then|before|until)\b")
UNSURE = re.compile(
    r"(?:\bnot|n't|\bcannot|\bunable to|\bimpossible to|\bhard to|\bdifficult to|\btough to|\bno way to)(?: \w+){0,2}? "
    r"(?:sure|certain|decide|determine|tell|know|settle|distinguish|clear|obvious|choose between|pick between|say (?:if"
    r"|whether|which))\b|\bunsure\b|\bunclear\b|\buncertain\b|\btorn\b|\b(?:either|one) of\b"
)
DEPENDS = re.compile(r"\b(?:it|that|this|(?:answer|choice)) depends\b")
ONLY_IF = re.compile(r"\bif\b[^,]{0,40}\b(?:only|just|merely|alone)\b")
CONDITION = re.compile(r"\b(?:if|unless|suppose|supposing|assuming|had|in case|were (?:the|it|this|we|i|there))\b")
HYPOTHETICAL = re.compile(
    r"\b(?:would (?:have been|only|require|need|imply|suggest|mean|apply|be \w+ if|make sense (?:if|only)|work (?:if"
    r"|only))|if|were (?:the|it|this|there)|at first)\b"
)
HEDGED = re.compile(r"\b(?:might|could|may|possibly|arguably|perhaps|maybe|seems?|partly|somewhat|also|too|either)\b")
CORRECTION = re.compile(
    r"(?:(?<=[.!?;,\n(-] )|(?<=[\n(-])|^)(?:(?:oh|ah|um|hmm+|ok|okay|but|no|and|well)[,.]? )?(?:wait|actually"
    r"|scratch that|correction|hold on|strike that|my mistake|my bad|apologies|on (?:second|further) (?:thoughts?|look"
    r"|reflection|consideration)|on reflection|let me (?:reconsider|re-?check|re-?think|re-?evaluate|revise|correct"
    r"|change)\w*|(?:up)?on (?:closer|further|second) (?:reflection|review|inspection|look|thought)|looking (?:again"
    r"|closer|more closely)|rather|i (?:was|stand|am) (?:wrong|corrected|mistaken)|i (?:meant|mean)|i take (?:that"
    r"|it) back|i(?:'ll| will)? change my|revised|edit(?=:)|hmm+|nope?(?=[,:! -]))\b|\bor rather\b|\bno, wait\b"
    r"|\bi misread\b|(?<=\.\. )no(?=, )|\bthinking (?:again|about it more)\b|\bafter (?:reconsider|re-?check|re-?think"
    r"|(?:a )?closer|further|a second|another)\w*\b"
)
NONE_FITS = re.compile(
    r"\b(?:none|neither|no (?:options?|answers?|choices?|titles?|statements?|single (?:option|answer|choice"
    r"|panel)))(?: (?:of|among) (?:the|these|those|them|your)(?: (?:four|given|above|provided|available|listed"
    r"|presented|three|two))*(?: (?:options?|choices?|answers?|titles?|statements?|ones|above))?)?(?: (?:really|quite"
    r"|actually|truly|here|of them|above|listed|given))* ?(?=[.,;!\n]|$|(?:is|are|fit|fits|match|matches|work|works"
    r"|appl|seem|captur|describe|represent|do|does|can|stand)\w*)|\ball of (?:the above|them|these)\b"
    r"|\bcannot (?:choose|pick|decide|determine|tell)\b|\bany of (?:the options|them) (?:could|would|may|might)\b"
    r"|\b(?:all|both) (?:options?|answers?|choices?|of them)? ?(?:are|fit|work|seem)\b"
)
CONCESSION = re.compile(r",? (?:even though|although|though|albeit|even if)\b[^,.;]*(?:,|[.!]?[)\"'”’\]]*$)")
SUBJECT = re.compile(  # a new subject: what follows is said of something else
    r"\W*(?:the(?! (?:better|best|right|correct|stronger|strongest) (?:answer|choice|option|fit|one|pick"
    r"|match)\b(?! (?:is|would|must|seems)\b))|an?|i|we|they|he|she|you|his|her|their|my|our|there|both|in|when|because"
    r"|as(?! (?:the |my |our )?(?:best|strongest|most|correct|right|answer|closest|clearest|top|first|winner))|since"
    r"|where|each|one|two|here|given|even|what|all|other)\b"
)
STOP = re.compile(
    r"[;]|\b(?:because|since|so|therefore|thus|hence|whereas|while|due to|given|when|where|if|making|leaving|meaning)\b"
    r"|, (?=(?:the|an?|i|we|they|he|she|you|it|his|her|my|there|and the|and i|as)\b)|(?<=\w)\. |, as\b"
    r"| and (?=the (?:left|right|other|second)\b)|,? (?:but|yet|however),? (?=(?:the|an?|i|we|they|he|she|his|her|my"
    r"|when|in|on|there)\b)"
)
TAG_QUESTION = re.compile(
    r", (?:shall we|right|no|yes|ok(?:ay)?|is it not|(?:is|does|do|wo|ca)n't (?:it|you|we)(?: think)?|correct"
    r"|agreed)\?[\"') ]*$"
)
FILLERS = re.compile(
    r"\b(?:so|thus|hence|therefore|then|ok|okay|well|the|my|your|final|correct|best|right|answer|option|choice|letter"
    r"|title|statement|panel|number|is|it's|it|be|would|will|must|i|say|think|guess|believe|i'd|i'll|i'm|definitely"
    r"|clearly|certainly|probably|likely|surely|obviously|of course|just|only|simply|please|sure|here|output|response"
    r"|selected|selection|pick|choose|select|go|with|for|id|a|that|that's|in|to|and|overall|conclusion|verdict|me|but"
    r"|hmm+|hm|ah|oh|perhaps|maybe|undoubtedly|absolutely|human|assistant|user|s)\b|[^\w✗]|_"
)
# What becomes of a joke without a thing that it needs.
LOST = re.compile(
    r"\b(?:no|not|nothing|never|cannot|meaningless|pointless|boring|dull|flat|lost|gone|fails?|lose[sd]?|mediocre"
    r"|unfunny|incomprehensible|disappears?|collapses?)\b|n't\b"
)
NOT_APPLICABLE = re.compile(
    r"\W*(?:(?:the )?answer(?: is|:) )?(?:n/?a|not applicable|none(?: of (?:the|these|those|them)(?: \w+){0,3}?(?: "
    r"(?:apply|applies|fits?|is applicable|are applicable))?)?)\W*(?:(?<=\W)(?:since|because|as) [^?\d]{0,100})?"
)
