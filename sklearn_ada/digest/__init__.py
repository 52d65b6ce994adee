"""Digests of the content of models and of rows: the same content has the same digest in every process.

The digest of a model is part of the key of a question, by which a recorded answer is found again. It is a
proposal only: the holdout compares what the model predicts with what is recorded, at a price
(`sklearn_ada.holdout.asking`). So a digest need not be complete, and no walk over Python objects can
be: weights in files, names looked up by ``eval`` and patched libraries are seen by none. Two mistakes remain,
and both only cost nats:

- *A false match*, two models of one digest: 7 nats or more, and the second is a new question.
- *A false miss*, two digests of one model: it is charged again.

So what can cheaply be distinguished is distinguished, and what predictions do not depend on is left out: how
many threads work, what is printed, how long it took, caches that are filled after fit
(`sklearn_ada.digest.canonical`). A model with a part that cannot be read, such as a function that a user's
own extension module compiled, has no digest and is a new question each time.

The digest of the labels tells whether a ledger belongs to a holdout.
"""
