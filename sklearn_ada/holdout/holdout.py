"""`Holdout`: rows set aside for testing, and the methods by which models are asked about on them."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike, NDArray

from sklearn_ada._validation import check_option
from sklearn_ada.answer import Answer
from sklearn_ada.data.labels import check_labels
from sklearn_ada.digest.rows import id_hashes, row_hashes
from sklearn_ada.exceptions import HoldoutLeakError, LedgerError
from sklearn_ada.holdout.asking import put_question, warn_if_vacuous, warn_of_median
from sklearn_ada.holdout.certificate import export_certificate
from sklearn_ada.holdout.changes import (
    as_edition,
    check_not_held_out,
    overlaps,
    pooled,
    release_mean_weight,
    were_added,
    with_top_up,
)
from sklearn_ada.holdout.choice import select_model
from sklearn_ada.holdout.finding import check_not_of_others, leave_other, place_of_rows
from sklearn_ada.holdout.framing import Ask, Settings, comparison, plan_question
from sklearn_ada.holdout.publishing import close, publish, unseal
from sklearn_ada.holdout.report import HoldoutReport, page_of_summary, report_of, summary_of
from sklearn_ada.holdout.rounds import check_together, declare_family, remaining_questions
from sklearn_ada.holdout.session import Session
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger.hash_chain import Ledger
from sklearn_ada.metrics.metric import Metric, as_metric
from sklearn_ada.questions.question import Guess
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.models import Subject
from sklearn_ada.terms.policy import Asker, Policy
from sklearn_ada.terms.seal_key import public_key_text

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey


Scoring = str | Callable[..., Any] | Metric


class Holdout:
    """A holdout set that stays valid while it is asked again and again.

    With probability at least ``confidence_level`` all intervals that it ever gives out contain the population
    values that they are for, all at once, however adaptively the questions were chosen (description length,
    Dwork et al., NIPS 2015; or privacy, by a sharper form of Jung et al., ITCS 2020: see ``route``).

    A question is asked with a *guess*, an estimate of the metric from validation rows. An answer near the
    guess reveals next to nothing; one that is not costs several *nats* (``-ln p``, if p was the probability
    given to it beforehand), and intervals get wider with the nats spent so far. Every question is recorded
    and charged in the *ledger*, a durable log, before its answer is returned.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n, ...)
        Rows that no model was trained on. No message or ``repr`` shows them, and models get them read-only or
        as a copy. Not copied here: do not change them yourself while they are in use.
    y : array-like of shape (n,)
    ledger : path-like, str or None, default=None
        A path: a file that keeps the count across processes and days. ``"postgresql://..."``: a database
        that serves several machines. ``":memory:"``: this process alone, nothing durable. None: one
        temporary file for these data in this session, which is this interpreter and all processes that
        descend from it. With the last two, a second ``Holdout`` of the same data continues the same count.
    ids : array-like of shape (n,) or None, default=None
        Who the rows are: whole numbers, texts, bytes or dates. Without them a holdout is known by its labels
        and their order: columns may change, but rows that were shuffled, dropped, added or relabelled cannot
        be told from other data. With them, rows may come in any order. Rows whose ids are new join the
        holdout as by `top_up`. Labels that changed are recorded, and later certificates assume that they were
        corrected without looking at predictions. Rows of one id are a group. Ids are no part of X: no model
        sees them. They must be ids of these data: row numbers of two data sets are the same ids.
    groups : array-like of shape (n,) or None, default=None
        Rows of one group (a patient, a document) depend on each other: intervals then count groups, not rows,
        and speak of the population at the holdout's group sizes; subsamples hold whole groups.
    sample_weight : array-like of shape (n,) or None, default=None
        Weights of these rows. Intervals of means and class means then speak of the population at these very
        weights, which anybody may know; other metrics are certified by the stable median of the weighted
        metric.
    answers : {"exact", "coarse", "auto"} or None, default=None
        How `certify` answers about a count of 0/1 losses, such as an accuracy; fixed when the ledger is
        begun. None: as the ledger was begun, be it by a search; a new one is "exact", as whoever names a
        model and certifies it asks for its value. "exact": with the value, at 4 to 5 nats. "coarse": with the
        cell around the guess in which it
        lies, nearly free if the guess holds, while the value is *sealed*: it is told by
        `publish` or by `unseal`, and its interval is then as narrow as if it had been told
        when it was asked. So a holdout that was asked many times still publishes one exact value at about
        1.1 times the width of a single use. All weights come from one purse, whatever is asked. What cannot
        be sealed (weights, groups, other metrics) is answered with its value. A sealed value is hidden in the
        ledger, not protected: whoever decrypts it on purpose cheats. "auto": as the ledger was begun; a new
        one answers in cells if it has a path or a URL, else the first question at once and later ones in
        cells. Where privacy certifies, "auto" is "exact".
    confidence_level : float, default=0.95
        In (0, 1).
    tolerance : float or None, default=None
        Largest half-width accepted, as a share of the metric's range: a question whose answer could be wider
        is refused. None refuses nothing; intervals then widen until they are vacuous, as wide as the range.
        The half-width of a precision, F1 or Jaccard index is taken at the denominator that the guess
        suggests, or, where the guess is a bare number, at the count of the class. That of a stable median is
        in quantile levels; where the median is at an end of its grid, one side only is bounded.
    class_mix : {"conditional", "priced"}, default="conditional"
        Whoever knows how many rows of each class the holdout has can favour the classes of which it has too
        many. "conditional": intervals speak of the population at the holdout's class proportions. "priced":
        the class counts are paid for once, in nats, and intervals speak of the population itself.
    missing : {"raise", "ignore"}, default="raise"
        What to do if rows that the ledger knows by their ids are not among these. "ignore" goes on without
        them, records how many there are, and later certificates assume that they were left out by a rule that
        did not look at their labels or at predictions.
    expected_questions : int or None, default=None
        About how many questions will be asked. Intervals are made narrow for that number; more may be asked,
        and no guarantee depends on it.
    route : {"description_length", "differential_privacy", "both"}, default="description_length"
        The theory behind the intervals. "description_length": answers without noise, paid for in nats; for
        questions whose guesses mostly hold. "differential_privacy": every answer carries noise, and a
        transfer theorem bounds how far it is from the population; for a few thousand questions that nobody
        can guess, on a very large holdout. "both": each theory has half of the failure probability, and every
        noisy answer the better interval. No privacy covers an answer without noise, a model that fails on the
        holdout, or the news that training rows contain it: after one of these, description length certifies
        alone, and with "differential_privacy" everything else is refused.
    weight_bound : float or None, default=None
        Largest total weight that any record (or group) of the population can have, known without the
        holdout. Means are then certified for the population, ``E[w X] / E[w]``. Their intervals need the
        holdout's mean weight, which is recorded once, rounded to five percent, and paid for in nats.
    seal_key : str, path-like, bytes, X25519PublicKey or None, default=None
        The holder's public key, where who asks and who holds are different people: sealed values are
        encrypted for it, and only the private key opens them (``unseal(key=)``). The path of a PEM file, the
        content of one, or a key of the library `cryptography` (``pip install "sklearn-ada[seal]"``). Fixed
        when the ledger is begun; None: as it was begun, and a new one hides by its own secret. Asking,
        asking again and `publish` need no private key: what is published is computed from rows and model.
        What was told, and whoever has rows and models, it does not protect from.
    who, label : str or None, default=None
        Who asks, and from where: at most 100 printable characters, written into every record. Neither is
        part of a question: one that somebody else has asked before is answered again, nearly free.
    random_state : int or None, default=None
        Seeds the ledger's secret, from which noise and subsamples are drawn, so that an experiment can be
        repeated. Against somebody who knows it, answers with noise guarantee nothing, and the intervals of
        mean errors (MAE, RMSE, log loss, R2 and the like), whose ends are drawn, miss more often.
    split : dict or None, default=None
        How the rows were chosen, ready for JSON; kept in the ledger's first record.

    Raises
    ------
    ValueError
        For bad rows, labels or parameters, before anything is recorded.
    LedgerMismatchError
        If the ledger belongs to another holdout or was opened with another policy.
    LedgerUnavailableError, LedgerDamagedError
        If the ledger cannot be used.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_digits(return_X_y=True)
    >>> holdout = Holdout(X[1000:], y[1000:], random_state=0)
    >>> model = LogisticRegression(C=0.01, max_iter=1000).fit(X[:900], y[:900])
    >>> answer = holdout.certify(model, scoring="accuracy", guess_from=(X[900:1000], y[900:1000]))
    >>> answer.certificate.target
    "population accuracy at the holdout's class mix"
    """

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        *,
        ledger: str | os.PathLike[str] | None = None,
        ids: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        answers: str | None = None,
        confidence_level: float = 0.95,
        tolerance: float | None = None,
        class_mix: str = "conditional",
        missing: str = "raise",
        expected_questions: int | None = None,
        route: str = "description_length",
        weight_bound: float | None = None,
        seal_key: str | os.PathLike[str] | bytes | X25519PublicKey | None = None,
        who: str | None = None,
        label: str | None = None,
        random_state: int | None = None,
        split: dict[str, Any] | None = None,
    ) -> None:
        asker = Asker(who, label)
        key = None if seal_key is None else public_key_text(seal_key, "Holdout")
        policy = Policy(
            confidence_level=confidence_level,
            tolerance=tolerance,
            expected_questions=expected_questions,
            route=route,
            class_mix=class_mix,
            answers=answers,
            seal_key=key,
        )
        is_priced = class_mix == "priced"
        check_option(missing, "missing", "Holdout", ("raise", "ignore"))
        hashed = None if ids is None else id_hashes(ids, "Holdout")
        data = HoldoutData(X, y, sample_weight, groups, weight_bound, priced_classes=is_priced, ids=hashed)
        place = place_of_rows(ledger, hashed, data.labels if hashed is None else check_labels(y), missing)
        self._session = Session.open(
            data, policy, asker, address=place.address, split=split, random_state=random_state
        )
        if data.ids is not None:
            self._session = as_edition(self._session, missing)
        leave_other(place)
        if weight_bound is not None:
            release_mean_weight(self._session)

    def certify(
        self,
        estimator: Any,
        *,
        scoring: Scoring,
        guess: float | Guess | None = None,
        guess_from: tuple[Any, ArrayLike] | None = None,
        settings: Settings = None,
    ) -> Answer:
        """Ask for the value of a model's metric, with an interval.

        Where privacy certifies, the value has noise. With ``guess_from`` (or a `Guess` with a deviation), the
        interval of a mean, a root mean square or a mean of recalls is a function of all rows, by bets or
        class counts, whose ends are released and paid for; and a metric without a range gets one, which the
        target tells.

        With ``answers="coarse"`` the value of a count, such as an accuracy, is sealed: the answer is the
        centre of the cell in which it lies, with an interval that is valid, coarse, and about as wide at the
        twentieth question as at the first. ``answer.published`` is about the half-width that the exact value
        would have if `publish` released it now.

        Parameters
        ----------
        estimator, scoring
            As for `check`.
        guess : float, Guess or None, default=None
            The metric estimated without the holdout: the nearer it is, the less the answer costs.
        guess_from : tuple (X, y) or None, default=None
            Validation rows, on which the guess is computed; see `check`.
        settings : MedianSettings or None
            How a stable median is drawn. None: the exact value where the metric has an interval.

        Returns
        -------
        Answer

        Raises
        ------
        ValueError, TypeError, LedgerError
            As for `check`.

        Warns
        -----
        UserWarning
            As for `check`.
        """
        subject = self._subject(estimator, "certify")
        return self._ask(Ask(subject, as_metric(scoring), "certify", guess, guess_from, settings))

    def publish(
        self,
        estimator: Any,
        *,
        scoring: Scoring,
        guess: float | Guess | None = None,
        guess_from: tuple[Any, ArrayLike] | None = None,
        settings: Settings = None,
    ) -> Answer:
        """Release the exact value of the one model that is kept.

        Takes .95 of what is left of the weights, whether the model was asked about before or not; the
        tolerance does not refuse it. The same model gets the recorded value again; another one may be
        published later, with a twentieth of the weight of the first. On a ledger that answers exactly at once
        this is `certify`.

        Parameters
        ----------
        estimator, scoring, guess, guess_from, settings
            As for `certify`.

        Returns
        -------
        Answer

        Raises
        ------
        ValueError, TypeError, LedgerError
            As for `check`.

        Warns
        -----
        UserWarning
            If another value was published before, ahead of the charge; else as for `check`.
        """
        subject = self._subject(estimator, "publish")
        asked = Ask(subject, as_metric(scoring), "certify", guess, guess_from, settings, publish=True)
        return self._ask(asked)

    def check(
        self,
        estimator: Any,
        *,
        scoring: Scoring,
        guess: float | Guess | None = None,
        guess_from: tuple[Any, ArrayLike] | None = None,
        settings: Settings = None,
    ) -> Answer:
        """Ask whether the holdout agrees with a guess: coarse and cheap.

        Values are rounded to *cells*, intervals of equal width of which one is centred at the guess. Where
        the holdout's value is in that one, the answer is the guess ("agrees"); else it is the middle of
        another cell ("differs"). The identical question returns the recorded answer, nearly free: the model
        predicts once more and is compared with what is recorded, for .001 nats the first time and less than
        .05 nats for a thousand times (`sklearn_ada.holdout.asking`). Everything about
        the question is checked before anything is charged.

        Parameters
        ----------
        estimator : fitted estimator or Predictions
            Must predict row by row; a copy is asked and discarded. `Predictions` for these rows need not be
            made row by row; what is certified of them is another target.
        scoring : str, callable or Metric
        guess : float, Guess or None, default=None
            The metric estimated without the holdout, from validation data. Only a stable median does
            without (None).
        guess_from : tuple (X, y) or None, default=None
            Validation rows, on which the guess is computed. They must not be the holdout's, which is checked
            and charged as by `check_overlap`.
        settings : float, "fill", MedianSettings, NoiseSettings, LadderSettings or None
            Which mechanism answers, and how. None: cells whose width suits the guess's precision, with noise
            where privacy certifies. MedianSettings: the stable median, the median of the metric over disjoint
            subsamples of the holdout, which is also what a scorer of the user's own gets. A number: cells of
            this half-width.
            "fill": cells as wide as the tolerance allows by now, for the most answers within it.

        Returns
        -------
        Answer

        Raises
        ------
        ValueError, TypeError
            For a bad question, such as a scorer string that has no interval of its own where no settings ask
            for the stable median; nothing was charged.
        LedgerError
            If the ledger cannot be used; nothing was charged.
        HoldoutLeakError
            If the rows of ``guess_from`` contain the holdout's.

        Warns
        -----
        UserWarning
            If the answer is vacuous, that is, as wide as the metric's range; and, before anything is charged,
            if it will be a stable median though no settings say so. Each once a process.
        """
        subject = self._subject(estimator, "check")
        return self._ask(Ask(subject, as_metric(scoring), "check", guess, guess_from, settings))

    def check_many(
        self,
        estimators: Sequence[Any],
        *,
        scoring: Scoring,
        guesses: Sequence[float | Guess] | None = None,
        guess_from: tuple[Any, ArrayLike] | None = None,
        settings: float | str | None = None,
    ) -> list[Answer]:
        """Check many models as one round: what one answer reveals widens no other's interval.

        That is because models and guesses are all fixed before any of the answers is seen. The weight of the
        round is the same for each, and all are admitted or none.

        Parameters
        ----------
        estimators : sequence of fitted estimators
        scoring : str, callable or Metric
            With an interval of its own, which all have but those of a stable median.
        guesses : sequence of (float or Guess) or None, default=None
            One for each model.
        guess_from : tuple (X, y) or None, default=None
            Validation rows, on which the guesses are computed, instead of ``guesses``.
        settings : float, "fill" or None, default=None
            The cells; see `check`.

        Returns
        -------
        list of Answer
            In the order of the models. A round that was asked before returns what is recorded.

        Raises
        ------
        BudgetExhaustedError
            If the tolerance does not admit them all; nothing was charged.
        ValueError, TypeError, LedgerError, HoldoutLeakError
            As for `check`.

        Warns
        -----
        UserWarning
            As for `check`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> trees = [DecisionTreeClassifier(max_depth=d).fit(X[::3], y[::3]) for d in (1, 2, 3)]
        >>> holdout = Holdout(X[1::3], y[1::3])
        >>> answers = holdout.check_many(trees, scoring="accuracy", guess_from=(X[2::3], y[2::3]))
        >>> [answer.verdict for answer in answers]
        ['agrees', 'agrees', 'agrees']
        """
        metric = as_metric(scoring)
        answered = check_together(self._session, estimators, metric, guesses, guess_from, settings)
        for answer, question in answered:
            warn_if_vacuous(self._session, answer, question)
        return [answer for answer, _ in answered]

    def compare(
        self,
        a: Any,
        b: Any,
        *,
        scoring: Scoring,
        guess: float | Guess | None = None,
        guess_from: tuple[Any, ArrayLike] | None = None,
    ) -> Answer:
        """Ask how much better model b is than model a.

        The interval of the difference holds together with all other intervals of the ledger. It is much
        narrower than the difference of two intervals where the models agree on most rows: of counts, such as
        an accuracy, only rows count on which one model alone is right. Positive values say that b is better;
        if the interval is above 0, it is, in the population.

        It is a question like any certify, recorded and paid for (some ten nats, of which a warning tells
        where other answers are cells, as it is told at once), and another question than `certify` of either
        model. With a and b in the other
        order it is another question, too.

        Parameters
        ----------
        a, b : fitted estimator
            Such as the model in use, and the one that might replace it. Of a fitted
            `ReusableHoldoutCV`, its ``best_estimator_``.
        scoring : str, callable or Metric
            A mean of bounded scores: accuracy, Brier score, top-k accuracy, or an error with a range, such as
            ``Metric("neg_mean_absolute_error", range=(-10, 0))``; validation rows suggest one if it has none.
        guess : float, Guess or None, default=None
            The difference estimated without the holdout; None is 0.
        guess_from : tuple (X, y) or None, default=None
            Validation rows, on which the guess is computed. They say how often the models differ, which makes
            the interval narrower.

        Returns
        -------
        Answer
            Its value is the score of b minus that of a.

        Raises
        ------
        ValueError
            If the metric is no mean of bounded scores, or the models were fitted on other columns or
            classes; and as for `certify`.
        TypeError, NotFittedError, LedgerError
            As for `certify`.

        Notes
        -----
        Source: `sklearn_ada.guarantees.scores`; given the disagreements of
        two classifiers it is McNemar's test (1947) in its exact form.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = make_classification(3000, flip_y=0.1, random_state=0)
        >>> a = LogisticRegression(C=1e-4).fit(X[:500], y[:500])
        >>> b = LogisticRegression().fit(X[:500], y[:500])
        >>> holdout = Holdout(X[1000:], y[1000:], ledger=":memory:")
        >>> answer = holdout.compare(a, b, scoring="accuracy", guess_from=(X[500:1000], y[500:1000]))
        >>> answer.target
        "population accuracy of b minus a at the holdout's class mix"
        >>> answer.interval[0] <= answer.value <= answer.interval[1]
        True
        """
        asked = comparison(self._session, a, b, as_metric(scoring), guess, guess_from)
        return self._ask(asked)

    def select(self, models: Sequence[Any], *, scoring: Scoring, epsilon: float | str | None = "auto") -> int:
        """Return the number of the best of N fitted models; nothing else is revealed, for ``ln N`` nats.

        Its value is not certified: `certify` it, which then allows for the choice.

        Parameters
        ----------
        models : sequence of fitted estimators
        scoring : str, callable or Metric
            With an epsilon a mean, an AUC or a per-class mean.
        epsilon : float, "auto" or None, default="auto"
            Choose by the exponential mechanism, which is epsilon-differentially private (McSherry, Talwar
            2007). "auto": so that the chosen model is worse than the best by hardly more than half a standard
            error; or with a smaller epsilon, where privacy certifies and this would take more than half of
            what is left of its budget. None takes the best itself (the first of equals), without privacy.

        Returns
        -------
        int

        Raises
        ------
        BudgetExhaustedError
            If the privacy budget does not afford the choice; nothing was charged.
        ValueError
            For no models, a bad metric or epsilon (TypeError for what is no model); nothing was charged. If
            all models failed on the holdout, or the choice itself did; that was charged.
        """
        return select_model(self._session, models, as_metric(scoring), epsilon)

    def declare(self, models: Sequence[Any], *, scoring: Scoring) -> int:
        """Declare fitted models before the first question: nothing revealed later widens their intervals.

        With G models declared, each check or certify of one of them keeps a failure probability of at least
        ``beta / (4 G)``, with ``beta = 1 - confidence_level``, however much is revealed by then. All other
        questions have half of the failure probability that they would have had. Worth it where many answers
        are expected to differ from their guesses. Theorem and proof: `sklearn_ada.holdout.rounds`.

        Parameters
        ----------
        models : sequence of fitted estimators
            All that will ever be asked about under this declaration; not chosen with any knowledge of the
            holdout.
        scoring : str, callable or Metric
            A mean, an AUC or a per-class mean: no ratio such as F1, and nothing that only the stable median
            can certify.

        Returns
        -------
        int
            Number of models.

        Raises
        ------
        ValueError
            If the holdout was asked before, if there are no models or two with the same state, or if one of
            them cannot be asked.
        """
        return declare_family(self._session, models, as_metric(scoring))

    def unseal(
        self,
        answers: Iterable[Answer | int] | Answer | int | None = None,
        *,
        key: str | os.PathLike[str] | bytes | X25519PrivateKey | None = None,
    ) -> list[Answer]:
        """Release the exact values of sealed answers.

        Whatever was asked since, and however it surprised, does not widen them. Rows and models are not
        needed. Each costs about three nats, which everything that is asked later pays (with a warning that
        says how much); nothing once the holdout is closed, when nobody asks any more. What was published by a
        published one is returned as it was published, with the narrower interval; nothing is recorded.

        Parameters
        ----------
        answers : iterable of Answer or int, Answer, int or None, default=None
            Sealed answers of this holdout, or the numbers of their records. None: all of them; only after
            `close` or `publish`.
        key : str, path-like, bytes, X25519PrivateKey or None, default=None
            The private key of ``seal_key``, if the ledger was begun with one: the path of a PEM file without
            a password, its content, or a key of the library `cryptography`. Not needed for what was told
            before. It is written nowhere.

        Returns
        -------
        list of Answer

        Raises
        ------
        ValueError
            For answers of another ledger, and for those that were refused, failed, or told with their value;
            without the private key that is needed, or with another. Nothing was charged.
        """
        return unseal(self.ledger, self._session.asker, answers, key)

    def close(self) -> None:
        """Record that nothing new is asked any more; from then on new questions are refused.

        What is recorded is still returned, and what is sealed may be told: see `unseal`. `publish`
        comes before. There is no way back.
        """
        close(self.ledger, self._session.asker)

    def report(self) -> HoldoutReport:
        """Return what was asked, answered and spent so far.

        It is read back from the ledger and verified.
        """
        return report_of(self._session.ledger)

    def remaining(
        self, scoring: Scoring = "accuracy", *, purpose: str | None = None, guess_rows: int | None = None
    ) -> int | None:
        """Return how many more questions are admitted if every guess holds.

        The tolerance limits them, and the privacy budget where privacy alone certifies. `publish` is
        never refused by a tolerance, and is not counted. In cells a few more may be admitted, as guesses
        that held make the next one cheaper.

        Parameters
        ----------
        scoring : str, callable or Metric, default="accuracy"
        purpose : {"check", "certify"} or None, default=None
            None: what the ledger is used for. Where it answers in cells (``answers="coarse"``, or "auto"), or
            was asked to certify and not to check, that is "certify", one for each search; else "check".
        guess_rows : int or None, default=None
            How many rows the guesses come from; None takes as many as the holdout has. Guesses from fewer
            rows have wider cells, so there are fewer questions: of a scorer in a search it is the size of its
            validation part.
        """
        return remaining_questions(self._session, as_metric(scoring), purpose, guess_rows)

    def export(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Write a certificate to hand over: one file that says what was asked, answered and revealed.

        With every interval its target and verdict; the theorems and assumptions on which all of them rest;
        and the head of the ledger. Whoever has the ledger can verify it, without rows and models, by
        ``python -m sklearn_ada ledger verify FILE --certificate certificate.json``. Rows, secret, and what is
        still sealed are no part of it. Nothing is charged.

        Parameters
        ----------
        path : path-like or str
            A file ending in ".html", a page to read and print, or in ".json", which can be verified. One that
            is there is replaced.

        Returns
        -------
        pathlib.Path
            Where it was written. The page says when, and by which versions; the JSON does not, so that it can
            be made again.

        Raises
        ------
        ValueError
            For another ending.
        LedgerError
            If the ledger cannot be read.

        Examples
        --------
        >>> import json, pathlib, tempfile
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> path = pathlib.Path(tempfile.mkdtemp(), "certificate.json")
        >>> json.loads(Holdout(X, y).export(path).read_text())["format"]
        'sklearn_ada certificate 1'
        """
        return export_certificate(self.ledger, path)

    def check_overlap(self, X: Any) -> None:
        """Raise `HoldoutLeakError` if training rows X contain the holdout, or part of it beyond chance.

        Rows may be equal by chance, so it takes many: a few dozen leaked rows can go unnoticed, and a few
        hundred that were oversampled. The outcome is recorded, and costs about a millionth of a nat where no
        overlap is found. Once the holdout is closed, rows that were not compared before are refused
        (`BudgetExhaustedError`).

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (m, ...)
        """
        check_not_held_out(self._session, row_hashes(X))

    def top_up(self, X: Any, y: ArrayLike, *, ids: ArrayLike | None = None) -> Holdout:
        """Add fresh rows; from then on questions go to the holdout that is returned.

        All intervals of this ledger, old and new, hold together at the same ``confidence_level``, because
        what was revealed about the old rows goes on counting (proof in
        `sklearn_ada.holdout.changes`). Old answers stay as they are; the same question of the
        larger holdout is a new one. The smaller holdout still returns what is recorded, and refuses anything
        new. Adding the same rows again is free, so a script may run again from its start.

        A question that was asked before and is asked again has, as a new one, a smaller share of the failure
        probability, and pays for all nats so far: its interval may be wider than before, although there are
        more rows. (A first certify at 3,000 rows with a half-width of .012, and again after 1,000 more:
        .026.) With ids, a holdout that is opened with old and new rows together does this by itself.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (m, ...)
            New draws from the same population, which nothing was trained on and nobody has looked at. When
            they come, and how many, may depend on the answers; which they are may not.
        y : array-like of shape (m,)
        ids : array-like of shape (m,) or None, default=None
            Of the new rows, where the holdout's have ids.

        Returns
        -------
        Holdout
            Of all rows, on the same ledger.

        Raises
        ------
        ValueError
            If the rows do not go with the holdout's; nothing was recorded.
        HoldoutLeakError
            If they repeat its rows, far more than chance allows; recorded and paid for, as by
            `check_overlap`.
        LedgerMismatchError
            If other rows were added to this holdout before.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> holdout = Holdout(X[::3], y[::3])
        >>> holdout.top_up(X[1::3], y[1::3]).n_rows
        100
        """
        hashed = None if ids is None else id_hashes(ids, "Holdout.top_up")
        more = pooled(self._session.data, self._session.policy, X, y, hashed)
        session = self._session.of_rows(more)
        if hashed is not None:
            check_not_of_others(session.ledger, hashed)
        if not were_added(self._session, session) and overlaps(self._session, row_hashes(X)):
            raise HoldoutLeakError(
                "The rows to be added repeat rows of the holdout, far more than chance allows. Add new draws "
                "only."
            )
        larger = object.__new__(type(self))
        vars(larger).update(vars(self))  # what a subclass holds
        larger._session = with_top_up(session)
        return larger

    @property
    def fingerprint(self) -> str:
        """Digest of the content, keyed with the ledger's secret: nobody can test it for a row."""
        return self._session.fingerprint

    @property
    def route(self) -> str:
        """The theory behind the intervals."""
        return self._session.policy.route

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self._session.data)

    @property
    def classes(self) -> NDArray[Any] | None:
        """Class labels that occur in y, or None where it holds numbers."""
        return self._session.data.classes

    @property
    def ledger(self) -> Ledger[State]:
        """The ledger that is charged."""
        return self._session.ledger

    def __repr__(self) -> str:
        return f"Holdout({self.n_rows} rows, fingerprint {self.fingerprint[:12]}, {self.ledger!r})"

    def _repr_html_(self) -> str:
        return page_of_summary(self.ledger, repr(self))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self  # one holdout, one ledger: a copy would only be another name for it

    __sklearn_clone__ = __copy__

    def _ask(self, asked: Ask) -> Answer:
        """Return the answer, with warnings of what is not as it seems; see `check` and `certify`."""
        session = self._session
        question = plan_question(session, asked)
        if asked.settings is None and not asked.publish:
            warn_of_median(session, question, asked.subject.estimator)
        put = publish if asked.publish else put_question
        answer = put(session, asked, question)
        warn_if_vacuous(session, answer, question)
        return answer

    def _subject(self, estimator: Any, method: str) -> Subject:
        """Return what a method is asked about, checked and digested."""
        return Subject.of(estimator, self._session.data, self._session.policy, f"Holdout.{method}")


def session_of(holdout: Holdout) -> Session:
    """Return the rows, policy and ledger of a holdout, which scorers and searches work with."""
    return holdout._session


def headline_of(holdout: Holdout | HoldoutReport) -> str:
    """Return what is left, in one sentence; or why that cannot be told. Of a pickled search, when it was."""
    if isinstance(holdout, HoldoutReport):
        return f"When it was pickled: {holdout.headline}"
    try:
        return summary_of(holdout.ledger).headline
    except LedgerError as error:
        return f"What is left cannot be told: {error}"
