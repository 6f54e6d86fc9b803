"""The part on the second theory: what its chapters need beyond ``patch_association.shallow``.

``theory``       what can be said in closed form
``sparsify``     the removal of tokens
``lucky``        neurons whose row points at a pattern, and what becomes of them
``slow``         the logistic loss in place of the hinge
``extensions``   appendix G: more classes, several heads, a skip connection
``assumption``   how far a start is from Assumption 1
``certificate``  how far bounded token noise can move the output
"""
