"""What models are asked about Hummus's pairs."""

from __future__ import annotations

from punchline.benchmarks.hummus import JOINT, METAPHOR_TASKS, NAME, PROMPT_TASKS
from punchline.benchmarks.hummus.instructions import INSTRUCTIONS, OPTIONS, involves_is_a
from punchline.core.benchmark import DEFAULT
from punchline.core.records import Image, Item, Message, Request, Sampling, Text

# Ours, after section 6.3 (persona, four tasks in one go) and appendix A (steps, what counts, boxes).
JOINT_PROMPT = """You are a linguist who is familiar with Conceptual Metaphor Theory and has experience in manual \
metaphor annotation. You will annotate a New Yorker cartoon and its caption in terms of humorous metaphor use.

Labelling steps
1. Look at the cartoon image alone (without referring to the caption). Find any incongruities in the image.
2. How does the caption resolve the incongruities in the image? If you can answer this question, then you understand \
the humor of the image-and-caption combination and continue with the annotation. Otherwise, answer "Discard" for \
is_met and stop.
3. Based on your understanding of the humor, consider whether metaphor use is involved in creating that humorous \
effect. Any kind of involvement counts. For each metaphor use you find in the image-and-caption combination, consider \
whether the humor will still be there when the metaphor use is removed. If you are certain that metaphor use is \
involved, assign "Yes" to is_met and continue. If you are certain that it is not, assign "No" to is_met and stop. If \
you hesitate, assign "WIDLII" (While In Doubt, Leave It In) to is_met and continue.
4. Specify the conceptual metaphor(s) in "X is Y" format. "X" should be the target domain; "Y" should be the source \
domain. Separate multiple conceptual metaphors with "; " (a semicolon followed by a whitespace). To decide how \
general or specific the conceptual metaphor should be, try to relate the instantiation of the metaphor in the \
image-and-caption combination to other instantiations of the same metaphor, and then find a term that can cover \
them all.
5. Annotate the metaphor-related image areas (image_hl). Try to assign each object of the image to either the target \
or the source domain of the conceptual metaphors. Typically, the majority of the image belongs to the same domain; the \
object that belongs to the other domain is the metaphor-related image area. Give its label and a bounding box in \
"label: [top, left, height, width]" format, normalized to between 0 and 1, one box for each such object. The bounding \
box should fit tightly around the whole object of interest, without excessive empty space.
6. Do the same for the caption (text_hl): copy the caption and surround each word, phrase or clause that belongs to \
the odd domain with a pair of <i></i> tag. If the entire caption belongs to a single domain, surround the entire \
caption. image_hl and text_hl do not have to belong to the same domain.

What counts as metaphor
Metaphors are conceptual mappings between two different domains. Personification (HUMAN as the source domain) and \
zoomorphism (ANIMAL as the source domain) are metaphor use. Metonymy within the same conceptual domain is not. Idioms \
are not metaphors, unless the underlying cross-domain mapping is strictly required to make sense of the humor. Puns \
can indicate metaphor use: it depends on whether the two meanings can be attributed to a cross-domain mapping.

Answer with these four lines and nothing else; leave out the last three if is_met is No or Discard:
is_met: Yes, No, WIDLII or Discard
conceptual_metaphor: X is Y
image_hl: label: [top, left, height, width]
text_hl: the caption with <i></i> tags"""

TEMPERATURE = 0.0  # ours: neither the paper nor the released scripts set one
MAX_TOKENS = {  # RE_TOKENS_* of the released prompts.py; `joint` is ours
    "classification": 50,
    "naming": 50,
    "image_bbox": 200,
    "image_label": 10,
    "caption_hl": 200,
    "explanation": 200,
    **dict.fromkeys(PROMPT_TASKS, 50),
    JOINT: 600,
}


def _instructions(task: str, item_id: str) -> str:
    if task != "classification_a_b":
        return INSTRUCTIONS[task]
    a, b = OPTIONS if involves_is_a(item_id) else OPTIONS[::-1]
    return INSTRUCTIONS[task].format(a=a, b=b)


def requests(item: Item) -> list[Request]:
    """What models are asked about a pair in every condition: the image, then the text, without a system prompt."""
    asked = item.fields["asked"]
    image = Image(sha256=item.images[0].sha256 if item.images else None)
    caption = f"Caption: {item.fields['caption']}"

    def ask(condition: str, task: str, content: tuple[Text | Image, ...]) -> Request:
        return Request(
            benchmark=NAME,
            item_id=item.item_id,
            task=task,
            condition=condition,
            messages=(Message(role="user", content=content),),
            sampling=Sampling(temperature=TEMPERATURE, max_tokens=MAX_TOKENS[task]),
        )

    def shown(instructions: str) -> tuple[Text | Image, ...]:
        return image, Text(text=f"{caption}\n\n{instructions}")

    made = []
    if asked:
        tasks = ("classification", *(METAPHOR_TASKS if asked == "all" else ()))
        made += [ask(DEFAULT, task, shown(INSTRUCTIONS[task])) for task in tasks]
        if item.fields["description"]:
            for task in tasks:
                if task != "image_bbox":  # the released monomodal.py: classification with "No or Yes", no ImageBbox
                    prompt = INSTRUCTIONS["classification_no_yes" if task == "classification" else task]
                    text = f"{prompt}\n\nImage: {item.fields['description']}\n{caption}"
                    made.append(ask("description", task, (Text(text=text),)))
        made += [ask("prompts", task, shown(_instructions(task, item.item_id))) for task in PROMPT_TASKS]
        made.append(ask("joint", JOINT, shown(JOINT_PROMPT)))
    return made
