"""Rows of files that are stored in chunks, each of which is decoded as a whole."""

from abc import abstractmethod
from collections.abc import Callable
from threading import Lock
from typing import Any

from kernelmeans._typing import Array
from kernelmeans.rows.base import Rows

#: Larger chunks are decoded again for each block: holding them would take too much memory.
LARGEST_HELD = 128 * 2**20
#: Chunks held: threads that read in order are at the end of one and the beginning of the next.
HELD = 2


class DecodedRows(Rows):
    """Rows whose file is decoded in chunks, each of them once for all small blocks in it."""

    _held: "Held | None" = None

    def __init__(
        self,
        source: str,
        shape: tuple[int, ...],
        dtype: Any,
        names: list[str] | None = None,
        chunk: int = 1,
    ) -> None:
        super().__init__(source, shape, dtype, names, chunk)
        if self.chunk * self._row_bytes <= LARGEST_HELD:
            self._held = Held()

    @property
    def resident_bytes(self) -> int:
        """Bytes of the chunks held."""
        return 0 if self._held is None else HELD * self.chunk * self._row_bytes

    @abstractmethod
    def _decode(self, start: int, stop: int) -> Array:
        """Read rows into a new array, from the file itself."""

    def _range(self, start: int, stop: int) -> Array:
        first = start - start % self.chunk
        last = min(first + self.chunk, len(self))
        if self._held is None or stop > last or (start, stop) == (first, last):
            return self._checked(start, stop)
        chunk = self._held.get(first, lambda: self._checked(first, last))
        return chunk[start - first : stop - first].copy()

    def _checked(self, start: int, stop: int) -> Array:
        try:
            X = self._decode(start, stop)
        except MemoryError:
            raise
        except Exception as error:  # a damaged file can fail in any way
            raise OSError(
                f"{self.source}: rows {start} to {stop - 1} cannot be read ({error}): the file is "
                "damaged, or was changed meanwhile"
            ) from error
        if X.shape != (stop - start, self.shape[1]):
            raise OSError(
                f"{self.source}: rows {start} to {stop - 1} have shape {X.shape}, not "
                f"{(stop - start, self.shape[1])}: the file was changed meanwhile; open it again"
            )
        return X


class Held:
    """The chunks decoded last, shared by threads: each is decoded once, and one at a time."""

    def __init__(self) -> None:
        self._chunks: dict[int, Array] = {}
        self._decoding = Lock()

    def get(self, first: int, decode: Callable[[], Array]) -> Array:
        """Return the chunk that begins with row `first`, which `decode` reads if need be."""
        chunk = self._chunks.get(first)
        if chunk is None:
            with self._decoding:
                chunk = self._chunks.get(first)
                if chunk is None:
                    chunk = decode()
                    # A new dict, so that others read without a lock.
                    recent = list(self._chunks.items())[1 - HELD :]
                    self._chunks = dict([*recent, (first, chunk)])
        return chunk

    def __reduce__(self) -> tuple[Any, ...]:
        return Held, ()
