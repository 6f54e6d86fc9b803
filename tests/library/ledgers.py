"""Small ledgers for the tests: a TOML file, with its evidence in the folder named like it."""

from patch_lab.kit.ledger import Ledger


class SmallLedger(Ledger):
    def __init__(self, path, record=False):
        super().__init__([path], lambda chapter: path.with_suffix("") / f"{chapter}.json")
        self.record = record

    @property
    def _recording(self):
        return self.record
