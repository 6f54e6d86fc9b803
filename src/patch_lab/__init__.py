"""The laboratory: what makes the book of ``patch_association``, room by room.

It imports the library; the library never imports it. From the ground up; each room imports only what stands
above it in this list.

``records``      runs with their provenance
``prose``        numbers and tables for the chapters' sentences
``conventions``  the named settings of the chapters
``images``       pictures, training, and ablations of Vision Transformers
``setting``, ``dynamics``, ``transfer``, ``shallow_vit``, ``beyond``
                 what the chapters of one part need beyond the library
``certify``      descent on the population in ball arithmetic: runs that are proofs
``ledger``       the table of claims, verdicts and evidence
``sweeps``       the commands that make the records again
``figures``      one look for every plot; no other room imports it
``cli``          the command ``patch-association``
"""
