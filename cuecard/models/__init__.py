"""Models: sentence embeddings that come with the package, and chat models behind one seam."""
