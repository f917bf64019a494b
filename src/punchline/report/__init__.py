"""Pages to look at: a static site of what a run has made. It computes no score of its own."""
