"""Beyond one layer and beyond one theory.

``crossed_data``     a family of data with the positional and the content theory's at its two ends
``least_errors``      the least error of whoever does not see positions, or not what patches show, exactly
``attentions``       five kinds of attention under one readout, trained alike, many seeds at a time
``deeper_networks``  from model (T) to an ordinary Vision Transformer, one switch at a time
``readers``          what single rows of attention read: specialists and blank rows
``set_knowledge``    what a function, or a row of scores, knows of the sets
``gaussian_data``    the example of section 2: patches without structure, a label that knows the sets
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
