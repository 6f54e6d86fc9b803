"""Is block attention optimal over every attention matrix? A finite condition, decided in ball arithmetic.

Let p = 3 and nu = 0, w* the slope of the loss at attention 1/C on the own set and the best alpha. If

    T(S) = E[w* (sum_j S_j s_j)^3] <= 0    for every probability vector S,

then no A and no v have a smaller population risk (theorem "Block attention is optimal" of the book). T is a
cubic form with six different coefficients, and with the masses m_l of the sets and the power sums of a row
inside its sets it is separable,

    T = t_d + sum_l g(m_l, p2_l, p3_l),    linear in p2_l and p3_l.

At mass m write p2 = m^2 P2 and p3 = m^3 P3, where (P2, P3) are the power sums of a probability vector of C
entries. They lie in the triangle-like region below; a linear function of them is bounded by its values on a
polygon around it. The largest value, zero, is taken at the blocks, so near them a derivative decides, and
elsewhere subdivision does.
"""
