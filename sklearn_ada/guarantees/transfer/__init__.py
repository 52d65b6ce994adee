"""Certificates by differential privacy: transfer theorems, for answers that are drawn with noise.

An analyst asks questions ``q_1, ..., q_k`` with values in [0, 1] of a holdout S of n independent draws from
D, each with the earlier answers ``a_1, a_2, ...`` in view. If the answers are differentially private they
cannot tell S from D, so that what fits the holdout fits the population:

- the answers are *sample accurate* at ``(alpha, beta)`` if ``max_j |a_j - q_j(S)| <= alpha`` except with
  probability beta;
- the whole conversation is (epsilon, delta)-DP with respect to replacing one record;
- a *transfer theorem* returns a half-width and a failure probability with
  ``P[max_j |a_j - q_j(D)| > half_width] <= failure``.

The privacy parameters must be fixed before the conversation (or kept to by a filter). Published theorems are
in `bassily`, `jung`, `mutual_information`; `direct` has bounds that are never worse than those of Jung et al.
"""
