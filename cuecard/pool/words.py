"""Which items of a pool say a word: a rare word that caller and passage share is evidence that vectors blur."""

import math
import re
from collections.abc import Collection
from functools import lru_cache

_WORD = re.compile(r"[^\W\d_]+|\d+")
_SAYS_NOTHING = frozenset(
    _WORD.findall(
        "a an and are as at be but by can d did do does don for from get got have how i if in is it its just ll m me "
        "my no not of on one or re s so t that the their them then there they this to up ve want was we what when "
        "where which will with would you your"
    )
)
"""Words of questions and not of subjects: among thirty passages some of them are rare, so counting can't tell."""


def telling_words(text: str) -> frozenset[str]:
    """The words by which a text can be found."""
    return frozenset(_WORD.findall(text.casefold())) - _SAYS_NOTHING


@lru_cache(maxsize=4096)
def shared_words(text: str) -> frozenset[str]:
    """`telling_words`, remembered: for documents that every session is shown."""
    return telling_words(text)


class WordRows:
    """Rows by word, as bits of one number a word, so that a look-up touches only the rows that say it."""

    def __init__(self, rows: int) -> None:
        self._said: list[frozenset[str]] = [frozenset()] * rows
        self._rows: dict[str, int] = {}

    def put(self, row: int, words: frozenset[str]) -> None:
        """The row says these words now, and none of those before."""
        bit = 1 << row
        for word in self._said[row]:
            left = self._rows[word] & ~bit
            if left:
                self._rows[word] = left
            else:
                del self._rows[word]
        for word in words:
            self._rows[word] = self._rows.get(word, 0) | bit
        self._said[row] = words

    def move(self, row: int, to: int) -> None:
        """What one row says, another says now; the first says nothing, also when moved to itself."""
        words = self._said[row]
        self.put(row, frozenset())
        if row != to:
            self.put(to, words)

    def add_shared(self, words: Collection[str], scores: list[float], each: float) -> None:
        """Add to each row's score what the words it shares with these weigh: `each` times the logarithm of rarity.

        Words of more than half of the rows are left out: they weigh little and take long.
        """
        n = len(scores)
        for word in words:
            left = self._rows.get(word, 0)
            count = left.bit_count()
            if count == 0 or 2 * count > n:
                continue
            weight = each * math.log(1.0 + (n - count + 0.5) / (count + 0.5))
            while left:
                lowest = left & -left
                scores[lowest.bit_length() - 1] += weight
                left ^= lowest
