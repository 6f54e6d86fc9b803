"""The laboratory: what makes the book of ``patch_association``, a room for each part.

It imports the library; the library never imports it. Parts import the kit, and no other part.

``kit``          what every part uses: ledger, records, the engine of sweeps, figures, prose
``setting``, ``dynamics``, ``transfer``, ``images``, ``shallow_vit``, ``beyond``
                 what the chapters of one part need beyond the library
``certify``      descent on the population in ball arithmetic: runs that are proofs
``cli``          the command ``patch-association``

A part holds its theory and, where it has them, ``sweeps`` (the cells of its recorded runs), ``records``,
``figures``, ``claims.toml`` and the ``evidence`` of its chapters.
"""
