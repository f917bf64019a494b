"""Cartoons of The New Yorker's caption contest, which Hummus and HumorBench share."""

from __future__ import annotations

# Where CapCon's README says that all images are, as <contest>.jpeg; nothing here takes one out of the archive.
ARCHIVE = "https://storage.googleapis.com/ai2-jack-public/caption_contest_data_public/all_contest_images.zip"


def address(contest: int) -> str:
    """The address of a contest's image; before contest 510 the archive's, with the file's name after "#".

    Images in the archive have no address of their own: the fetch records them as missing, with this one as the reason.
    """
    site = f"https://nextml.github.io/caption-contest-data/cartoons/{contest}.jpg"
    return site if contest >= 510 else f"{ARCHIVE}#{contest}.jpeg"
