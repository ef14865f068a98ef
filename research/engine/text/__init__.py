"""Text statistics: tokens, sentences, languages, names, quantities, relevance and similarity.

Nothing here knows a run or a page's source.
"""
