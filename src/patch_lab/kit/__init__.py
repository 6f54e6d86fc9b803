"""What every part of the laboratory uses: the book's machinery, with no theorem in it.

``records``      runs with their provenance
``ledger``       the table of claims, verdicts and evidence
``sweeps``       the engine that makes records, cell by cell
``figures``      one look for every plot and table
``prose``        numbers and tables for the chapters' sentences
``estimates``    fits and ratios that several chapters take
``conventions``  the named settings of the chapters
``files``        files that are never half-written

The kit imports no part. It finds what a part brings by its name: ``claims.toml``, ``evidence``, ``records``,
``parameters`` and ``sweeps``.
"""

#: The parts of the book, in reading order: each is a room of the laboratory and a folder of chapters.
BOOK_PARTS = ("setting", "dynamics", "transfer", "images", "shallow_vit", "beyond")
