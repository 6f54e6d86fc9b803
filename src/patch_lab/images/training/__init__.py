"""Training models on pictures: runs with records and checkpoints, and short runs for chapters.

``config``                                all settings and the presets
``run``                                   from settings to a finished run, and back from its folder
``trainer``, ``step``, ``feed``           the loop, a step, the batches
``checkpoint``, ``processes``             keeping a run, and sharing it among processes
``progress``, ``cli``                     showing and starting it
``together``, ``rows``, ``apart``, ``graphs``  many runs side by side
``finite``                                what failed first
``short``                                 short runs in double precision
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
