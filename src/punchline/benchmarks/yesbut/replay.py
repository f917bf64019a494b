"""Released answers to YesBut: a folder a model, with a file a prompt."""

from __future__ import annotations

from collections.abc import Mapping

from punchline.bench.released import Answer, Answers, Members, Select, broken, kind_of, parse_json
from punchline.core.errors import PunchlineError

TASK_OF = {  # file in the folder of a model's answers: task
    f"{kind}_prompt{k}.json": f"{kind}_{k}"
    for kind in ("description", "contradiction", "moral_mcq", "title_mcq")
    for k in (1, 2, 3)
}
FILES = tuple(TASK_OF)


def read(files: Mapping[str, bytes], path: str, select: Select = None) -> Answers:
    """Answers to YesBut: {name of FILES: JSON list of {"image_file": …, "output": text or null}}.

    A description may stand in `gen_des` where there is no `output`, as for the released evaluate_caption. Other
    fields of a record are ignored, as the released runs copy the whole annotation into it. Raises PunchlineError,
    naming file and record, for content that is not such JSON, for a comic that a file answers twice, for a record
    without an output, and for any `select`.
    """
    if select is not None:
        raise PunchlineError(
            f"there is nothing to select ({select!r}): the format yesbut holds one model's answers",
            file=path,
            field="select",
            way_out="Take `select` out of the model's YAML",
        )
    answers: dict[str, dict[str, str | Answer | None]] = {}
    for name, content in files.items():
        file = f"{path.rstrip('/')}/{name}"
        expected = 'Expected a list of {"image_file": "00001.jpg", "output": "…"}'
        records = parse_json(content, file, expected)
        if isinstance(records, Members) or not isinstance(records, list):
            raise PunchlineError(f"expected a list, not {kind_of(records)}", file=file, way_out=expected)
        seen: set[str] = set()
        for number, record in enumerate(records):
            place = f"number {number}"
            if not isinstance(record, Members):
                raise PunchlineError(
                    f"expected an object, not {kind_of(record)}", file=file, record=place, way_out=expected
                )
            fields = dict(record)
            said = "gen_des" if TASK_OF[name].startswith("description") else "output"
            said = "output" if "output" in fields or said not in fields else said
            image_file, output = fields.get("image_file"), fields.get(said)
            if not isinstance(image_file, str) or not image_file or broken(image_file):
                raise PunchlineError("expected a file name", file=file, record=place, field="image_file")
            for field in ("image_file", said):
                if sum(field == one for one, _ in record) != 1:
                    what = "the field is there twice" if field in fields else "the field is missing"
                    raise PunchlineError(what, file=file, record=image_file, field=field, way_out=expected)
            if output is not None and not isinstance(output, str):
                raise PunchlineError(
                    f"an answer must be a string or null, not {kind_of(output)}",
                    file=file,
                    record=image_file,
                    field=said,
                    way_out='Write what the model wrote, in quotation marks: "B"',
                )
            if output is not None and broken(output):
                raise PunchlineError("half a surrogate pair is no character", file=file, record=image_file, field=said)
            if image_file in seen:
                raise PunchlineError(
                    "the comic is answered twice", file=file, record=image_file, way_out="Keep one of them"
                )
            seen.add(image_file)
            answers.setdefault(image_file, {})[TASK_OF[name]] = output
    return answers
