"""`Holdout`: rows set aside for testing, and the questions that it answers about models."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike, NDArray

from sklearn_ada._validation import bad_parameter, check_flag, check_option
from sklearn_ada.answer import Answer
from sklearn_ada.data.labels import check_labels
from sklearn_ada.digest.rows import id_hashes
from sklearn_ada.exceptions import LedgerError
from sklearn_ada.holdout.advice import warn_if_vacuous, warn_of_median, warn_of_units
from sklearn_ada.holdout.asking import put_question
from sklearn_ada.holdout.certificate import export_certificate
from sklearn_ada.holdout.changes import (
    check_apart,
    check_new,
    check_not_held_out,
    pooled,
    record_edition,
    record_top_up,
    release_mean_weight,
    were_added,
)
from sklearn_ada.holdout.choice import select_model
from sklearn_ada.holdout.comparing import comparison, difference_of_one, keep_model, number_on_record
from sklearn_ada.holdout.finding import check_not_of_others, leave_other, place_of_rows
from sklearn_ada.holdout.framing import Ask, Settings, plan_question
from sklearn_ada.holdout.outlook import remaining_questions
from sklearn_ada.holdout.publishing import close, publish, with_recorded_guess
from sklearn_ada.holdout.report import HoldoutReport, page_of_summary, report_of, summary_of, with_rows
from sklearn_ada.holdout.rounds import check_together, declare_models
from sklearn_ada.holdout.session import Session, note_whereabouts
from sklearn_ada.holdout.state import State
from sklearn_ada.holdout.unsealing import unseal
from sklearn_ada.ledger.hash_chain import Ledger
from sklearn_ada.metrics.metric import Metric, as_metric
from sklearn_ada.questions.question import Guess
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.models import Subject
from sklearn_ada.terms.policy import Asker, Policy, check_class_mix
from sklearn_ada.terms.row_tables import MISSING
from sklearn_ada.terms.seal_key import public_key_text

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey


Scoring = str | Callable[..., Any] | Metric


class Uncopied:
    """An object that is its own copy and clone, as one holdout has one ledger."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    __sklearn_clone__ = __copy__


class Holdout(Uncopied):
    """Answer questions about models from test rows, with intervals that allow for all earlier answers.

    Every answer comes with an interval for the population value of a metric, at the holdout's class mix
    unless ``class_mix`` names another. With probability at least ``confidence_level`` all intervals that a
    holdout ever gives are right, all at once, however each question depended on earlier answers. Two theories
    can prove that (see ``route``): description length (Dwork et al., NIPS 2015) and differential privacy (a
    sharper form of Jung et al., ITCS 2020).

    Questions are asked with a *guess*: the metric as estimated from validation rows. An answer near the guess
    reveals almost nothing about the holdout. An answer far from it reveals more. What an answer reveals is
    counted in *nats*: ``-ln p``, if p was the probability given to this answer beforehand. The more nats were
    spent, the wider are later intervals. A durable log, the *ledger*, records and charges every question
    before its answer is returned.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n, ...)
        Rows that no model was trained on. They are not copied: do not change them while the holdout is in
        use. Models get them read-only or as a copy. No message or ``repr`` shows them.
    y : array-like of shape (n,)
        Their labels or numbers.
    ledger : path-like, str or None, default=None
        Where questions are recorded. A path: a file, which lasts across processes and days.
        ``"postgresql://..."``: a database for several machines. ``":memory:"``: this process only. None: a
        temporary file of this session, which is this interpreter and the processes that it starts. With the
        last two, a second ``Holdout`` of the same data continues the same ledger.
    ids : array-like of shape (n,) or None, default=None
        What identifies each row: whole numbers, texts, bytes or dates. With ids, rows may come in any order.
        Rows with new ids join the holdout, as by `top_up`. Changed labels are recorded, and later
        certificates assume that they were corrected without looking at predictions. Rows of one id are a
        group. No model sees the ids. They must be unique to these data: the row numbers 0, 1, 2, ... of two
        data sets are the same ids. Without ids the holdout is identified by its labels and their order:
        columns may change, but rows may not be shuffled, dropped, added or relabelled.
    groups : array-like of shape (n,) or None, default=None
        Group of each row, such as a patient or a document. Rows of one group may depend on each other, so
        intervals count groups instead of rows, and subsamples hold whole groups.
    sample_weight : array-like of shape (n,) or None, default=None
        Weights of the rows. Intervals of means and class means then hold for the population at these weights,
        which anybody may know. Other metrics are certified by the stable median of the weighted metric.
    answers : {"exact", "coarse", "auto"} or None, default=None
        How `certify` answers. Fixed when the ledger is begun.

        - "exact": with the value, for 4 to 5 nats.
        - "coarse": with the *cell*, an interval around the guess, in which the value lies. That is nearly
          free if the guess holds. The value itself is *sealed*: kept, hidden, in the ledger, until `publish`
          releases it. So a holdout that was asked many times still publishes one score, at about the width of
          a single use if guesses held. `unseal` releases it too, with an interval some four tenths wider.
        - "auto": as the ledger was begun. A new ledger with a path or a URL is "coarse". Any other answers
          its first certify exactly and later ones coarsely. Where privacy certifies, "auto" is "exact".
        - None: as the ledger was begun; a new one is "exact".

        So it is with every metric that has an interval of its own, with weights and groups, and with the
        difference of two models; instead of a cell there is a *window*, in which the whole interval lies.
        Without a guess nothing can be foreseen: the answer is exact. So is a stable median. A sealed value is
        hidden, not protected: whoever opens it on purpose cheats. See ``seal_key``.
    scoring : str, callable, Metric or None, default=None
        What most questions will be about; any metric may be asked. It decides, when a ledger that answers
        coarsely is begun, how much of the failure probability belongs to cells and windows, and how much to
        values that are published: a fifth and the rest for a count of rows, such as an accuracy, else a
        twentieth. None: as for a count where y holds classes.
    confidence_level : float, default=0.95
        The probability that all intervals hold together, in (0, 1).
    tolerance : float or None, default=None
        Largest half-width that is accepted, as a share of the metric's range. A question whose answer could
        be wider, whatever it turns out to be, is refused. The widest is that of an accuracy of one half, so
        answers near .9 are narrower than the tolerance. None refuses nothing: intervals widen until they are
        *vacuous*, as wide as the range. The half-width of a precision, F1 or Jaccard index is computed for
        the denominator that the guess suggests. That of a stable median is in quantile levels.
    class_mix : {"conditional", "priced"} or dict of label to share, default="conditional"
        For which population intervals hold. Fixed when the ledger is begun.

        - "conditional": at the holdout's class proportions, which anybody may know.
        - "priced": for the population that the rows are drawn from. Nobody who asks may know how many rows of
          each class there are; the class counts are paid for once, in nats.
        - The share of every class, such as ``{0: 0.999, 1: 0.001}``: at these class proportions, for a model
          that will meet other ones than the holdout has. The value is the estimate at these shares, and so
          are guesses: a guess of validation rows weighs them likewise. There are accuracy and other means of
          scores, what does not depend on the class mix, and for two classes metrics of a confusion matrix,
          such as F1 and Matthews' correlation. Rows must count alike and be independent: no groups and no
          weights.
    classes : array-like or None, default=None
        With ``class_mix="priced"``: all class labels that may occur, such as those of training rows and
        holdout together, ``np.unique(y)`` of all rows. The price is for all counts of these. Fixed when the
        ledger is begun. None: as it was begun; a new one assumes, and says in its certificates, that no label
        occurs but those of y. A model that knows others is refused.
    used_before : float or None, default=None
        Bits in which can be named what was chosen by looking at these rows before the ledger is begun, such
        as the best of ten thousand models: see `bits_of_choice`. They are paid for, ``ln 2`` nats each,
        before the first question, and every certificate names the assumption. Fixed when the ledger is begun;
        what is chosen by its answers is counted by itself. None: as it was begun; a new one 0.
    missing : {"raise", "ignore"}, default="raise"
        What to do if rows that were in the holdout before, by their ids, are not in X. "ignore" goes on
        without them and records how many there are. Later certificates then assume that they were left out
        without looking at their labels or at predictions.
    expected_questions : int or None, default=None
        About how many questions will be asked. Intervals are made narrow for that number. More may be asked:
        the guarantee does not depend on it.
    route : {"description_length", "differential_privacy", "both"}, default="description_length"
        The theory behind the intervals.

        - "description_length": answers without noise, paid for in nats. For questions whose guesses mostly
          hold.
        - "differential_privacy": every answer has noise. For thousands of questions that nobody can guess, on
          a very large holdout.
        - "both": each theory has half of the failure probability, and every noisy answer gets the better
          interval.

        Privacy does not cover an answer without noise, a model that fails on the holdout, or a finding that
        training rows contain it. After one of these, "both" goes on with description length alone, and
        "differential_privacy" refuses everything else.
    weight_bound : float or None, default=None
        Largest total weight that any row (or group) of the population can have, chosen without looking at the
        holdout. Means are then certified for the weighted population, ``E[w X] / E[w]``. For that the
        holdout's mean weight is recorded once, rounded to five percent, and paid for in nats.
    seal_key : str, path-like, bytes, X25519PublicKey or None, default=None
        Public key of the person who holds the rows, if other people ask. Sealed values are encrypted for it,
        and only the private key opens them (``unseal(key=)``). The path of a PEM file, its content, or a key
        of the library `cryptography` (``pip install cryptography``). Fixed when the ledger is begun;
        None: as it was begun. `publish` needs no private key, as it computes the value from rows and model.
        The key does not protect what was released, nor from somebody who has the rows.
    who, label : str or None, default=None
        Who asks, and from where: at most 100 printable characters, written into every record. The same
        question of somebody else is the same question, and is answered again, nearly free.
    random_state : int or None, default=None
        Seeds the ledger's secret, from which noise and subsamples are drawn, so that an experiment can be
        repeated. It must stay secret from whoever asks: else answers with noise guarantee nothing, and
        intervals with random ends (of MAE, RMSE and the like, see ``drawn`` of `certify`) miss more often.
    split : dict or None, default=None
        How the rows were chosen, as JSON can write it. Kept in the ledger's first record.
    create : bool, default=True
        Whether to begin a ledger where there is none, which is a fresh budget. False: that is an error.

    Raises
    ------
    ValueError
        For bad rows, labels or parameters, before anything is recorded.
    LedgerMismatchError
        If the ledger belongs to another holdout or was opened with another policy.
    LedgerUnavailableError, LedgerDamagedError
        If the ledger cannot be used, or there is none and ``create`` is False.

    Warns
    -----
    UserWarning
        If these rows were asked about in this process on another ledger, which says how many questions stand
        there; or if this ledger is a copy of one that was used.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_digits(return_X_y=True)
    >>> holdout = Holdout(X[1000:], y[1000:], random_state=0)
    >>> model = LogisticRegression(C=0.01, max_iter=1000).fit(X[:900], y[:900])
    >>> answer = holdout.certify(model, scoring="accuracy", guess_from=(X[900:1000], y[900:1000]))
    >>> print(answer)
    holdout: .932 in [.914, .951] (5.26 nats); target: population accuracy at the holdout's class mix
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
        scoring: Scoring | None = None,
        confidence_level: float = 0.95,
        tolerance: float | None = None,
        class_mix: str | Mapping[Any, float] = "conditional",
        classes: ArrayLike | None = None,
        missing: str = "raise",
        expected_questions: int | None = None,
        used_before: float | None = None,
        route: str = "description_length",
        weight_bound: float | None = None,
        seal_key: str | os.PathLike[str] | bytes | X25519PublicKey | None = None,
        who: str | None = None,
        label: str | None = None,
        random_state: int | None = None,
        split: dict[str, Any] | None = None,
        create: bool = True,
    ) -> None:
        asker = Asker(who, label)
        key = None if seal_key is None else public_key_text(seal_key, "Holdout")
        promise = confidence_level, tolerance, expected_questions
        mix = check_class_mix(class_mix, "class_mix", "Holdout")
        given: dict[str, Any] = {"answers": answers, "seal_key": key, "used_before": used_before}
        policy = Policy(*promise, route=route, class_mix=mix, **given)
        check_option(missing, "missing", "Holdout", MISSING)
        check_flag(create, "create", "Holdout")
        hashed = None if ids is None else id_hashes(ids, "Holdout")
        is_priced, weights = mix == "priced", (sample_weight, groups, weight_bound)
        data = HoldoutData(X, y, *weights, priced_classes=is_priced, named=classes, ids=hashed)
        policy.check_rows(data)
        policy = policy.begun_for(None if scoring is None else as_metric(scoring).at_mix(policy.mix), data)
        place = place_of_rows(ledger, hashed, data.labels if hashed is None else check_labels(y), missing)
        self._session = Session.open(
            data, policy, asker, address=place.address, split=split, random_state=random_state, create=create
        )
        if data.ids is not None:
            self._session = record_edition(self._session, missing)
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
        drawn: bool = True,
    ) -> Answer:
        """Ask for the value of a model's metric, with an interval.

        Where privacy certifies, the value has noise.

        Give ``guess_from`` if you can. Intervals of means, root mean squares and mean recalls are then
        narrower, as they use all scores of the holdout. A metric without a range, such as the mean absolute
        error, gets one from these rows; the answer's target names it.

        With ``answers="coarse"`` the value of a count, such as an accuracy, is sealed. The answer is then the
        centre of the cell in which the value lies. Its interval is valid and coarse, and a fifth wider at the
        twentieth question than at the first if guesses hold. ``answer.published`` is about the half-width
        that the exact value would have if `publish` released it now.

        Parameters
        ----------
        estimator, scoring
            As for `check`.
        guess : float, Guess or None, default=None
            The metric estimated without the holdout. The nearer it is, the less the answer costs.
        guess_from : tuple (X, y) or None, default=None
            Validation rows, on which the guess is computed; see `check`.
        settings : MedianSettings or None
            How a stable median is drawn. None: the exact value where the metric has an interval.
        drawn : bool, default=True
            Whether the ends of the interval may be drawn from the ledger's secret, as those of mean errors
            and of average precision are. The certificate then assumes that nobody who asks knows the secret.
            False: ends that need no secret, up to half as wide again. It is another question.

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
        metric = self._session.metric(scoring)
        return self._ask(Ask(subject, metric, "certify", guess, guess_from, settings, drawn=drawn))

    def publish(
        self,
        estimator: Any,
        *,
        scoring: Scoring,
        guess: float | Guess | None = None,
        guess_from: tuple[Any, ArrayLike] | None = None,
        settings: Settings = None,
        drawn: bool = True,
    ) -> Answer:
        """Release the holdout's score of the one model that is kept.

        Call it once, after the last search. Unless it is a count of rows, the score is rounded, to the steps
        that the target of its certificate names. It takes 95 percent of the failure probability that is left:
        in the median the interval is about as narrow as that of a holdout that was used only once; the more
        guesses failed, the wider it is. The tolerance does not refuse it. The same model gets the recorded
        value again. Another model may be published later, at a twentieth of the first one's failure
        probability. On a ledger with exact answers this is `certify`.

        Parameters
        ----------
        estimator, scoring, guess, guess_from, settings, drawn
            As for `certify`. Of a model that was asked before, the guess on record is taken.

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
            Before the charge, if another value was published already; else as for `check`.
        """
        subject = self._subject(estimator, "publish")
        question = self._session.metric(scoring), "certify", guess, guess_from, settings
        return self._ask(Ask(subject, *question, publish=True, drawn=drawn))

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

        Values are rounded to *cells*: intervals of equal width, one of which is centred at the guess. If the
        holdout's value lies in that cell, the answer is the guess ("agrees"). Else it is the middle of
        another cell ("differs").

        The same question again returns the recorded answer. For that the model predicts once more, and is
        compared with the record: .001 nats the first time, less than .05 nats for a thousand times
        (`sklearn_ada.holdout.asking`). A bad question is refused before anything is charged.

        Parameters
        ----------
        estimator : fitted estimator or Predictions
            A fitted model, whose prediction for a row may not depend on other rows. A copy of it is asked and
            discarded. `Predictions` for these rows may be made in any way, and have a target of their own.
        scoring : str, callable or Metric
        guess : float, Guess or None, default=None
            The metric estimated without the holdout, from validation data. Needed, here or by
            ``guess_from``, except for a stable median.
        guess_from : tuple (X, y) or None, default=None
            Validation rows, on which the guess is computed. They must not be rows of the holdout, which is
            checked and charged as by `check_overlap`.
        settings : float, "fill", MedianSettings, NoiseSettings, LadderSettings or None
            Which mechanism answers, and how.

            - None: cells whose width suits the guess's precision, with noise where privacy certifies. A
              scorer of your own gets a stable median.
            - A number: cells of this half-width.
            - "fill": cells as wide as the tolerance still allows, for the most answers within it.
            - MedianSettings: the stable median, the median of the metric over disjoint subsamples.
            - NoiseSettings, LadderSettings: as in `ThresholdoutScorer` and `LadderScorer`.

        Returns
        -------
        Answer

        Raises
        ------
        ValueError, TypeError
            For a bad question, such as a scorer without an interval of its own when ``settings`` does not ask
            for the stable median. Nothing was charged.
        LedgerError
            If the ledger cannot be used. Nothing was charged.
        HoldoutLeakError
            If the rows of ``guess_from`` contain rows of the holdout.

        Warns
        -----
        UserWarning
            If the answer is vacuous: its interval is as wide as the metric's range. Before the charge, if it
            will be a stable median that ``settings`` did not ask for. Each once a process.
        """
        subject = self._subject(estimator, "check")
        return self._ask(Ask(subject, self._session.metric(scoring), "check", guess, guess_from, settings))

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

        Models and guesses are all fixed before any answer is seen. The round's failure probability is divided
        equally, and all questions are admitted or none.

        Parameters
        ----------
        estimators : sequence of fitted estimators
        scoring : str, callable or Metric
            A metric with an interval of its own, not a stable median.
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
            If the tolerance does not admit them all. Nothing was charged.
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
        metric = self._session.metric(scoring)
        warn_of_units(self._session, metric)
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
        drawn: bool = True,
    ) -> Answer:
        """Ask how much better model b is than model a.

        A positive value says that b is better. If the whole interval is above 0, b is better in the
        population. The interval holds together with all others of the ledger. Where the models agree on most
        rows, it is much narrower than the difference of two intervals: for an accuracy, only those rows count
        on which one model alone is right.

        A comparison is recorded and paid for like any certify. On a ledger that answers coarsely it is
        answered with a window, as any metric is, if there is a guess, and `unseal` releases its exact value;
        without one the answer is exact, for about ten nats, and a warning says so. It is another question
        than `certify` of either model. That of b with a is the same, the other way round. One model twice
        has a difference of 0: nothing is asked or paid for.

        Parameters
        ----------
        a, b : fitted estimator or Predictions
            Such as the model in use, and the one that might replace it. For a fitted `ReusableHoldoutCV` give
            its ``best_estimator_``. `Predictions` are compared with predictions.
        scoring : str, callable or Metric
            A mean of bounded scores: accuracy, Brier score, top-k accuracy, or an error with a range, such as
            ``Metric("neg_mean_absolute_error", range=(-10, 0))``. If a range is missing, validation rows
            suggest one.
        guess : float, Guess or None, default=None
            The difference estimated without the holdout. None: that of the guesses with which both models
            were certified on this ledger, if they were; else 0.
        guess_from : tuple (X, y) or None, default=None
            Validation rows, on which the guess is computed. They show how often the models differ, which
            makes the interval narrower. Of predictions ``((Predictions(of_a), Predictions(of_b)), y)``.
        drawn : bool, default=True
            As for `certify`.

        Returns
        -------
        Answer
            Its value is the score of b minus that of a.

        Raises
        ------
        ValueError
            If the metric is no mean of bounded scores, or the models were fitted on other columns or classes;
            else as for `certify`.
        TypeError, NotFittedError, LedgerError
            As for `certify`.

        Notes
        -----
        For two classifiers it is McNemar's exact test (1947), given the rows on which they disagree. Proof:
        `sklearn_ada.guarantees.scores`.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = make_classification(3000, flip_y=0.1, random_state=0)
        >>> a = LogisticRegression(C=1e-4).fit(X[:500], y[:500])
        >>> b = LogisticRegression().fit(X[:500], y[:500])
        >>> holdout = Holdout(X[1000:], y[1000:], ledger=":memory:")
        >>> answer = holdout.compare(a, b, scoring="accuracy", guess_from=(X[500:1000], y[500:1000]))
        >>> answer.target[:32]
        'population accuracy of b minus a'
        >>> answer.interval[0] <= answer.value <= answer.interval[1]
        True
        """
        session, metric = self._session, self._session.metric(scoring)
        pair = Subject.of_pair(a, b, session.data, session.policy)
        same = difference_of_one(session, pair, metric)
        if same is not None:
            return same
        return self._ask(comparison(session, pair, metric, guess, guess_from, drawn))

    def keep(self, estimator: Any, *, scoring: Scoring | None = None) -> None:
        """Record that a model is the one to keep, which later ones have to beat.

        The ledger then holds its digest and the name of its class; ``ledger show`` names it. It costs
        nothing, and says nothing of the holdout. The model itself is remembered by this process alone, for
        ``ReusableHoldoutCV(..., compare_with="kept")``. Keeping another model takes its place.

        Parameters
        ----------
        estimator : fitted estimator or Predictions
        scoring : str, callable, Metric or None, default=None
            By which it was certified; the record then names the question. None: it names none.

        Raises
        ------
        ValueError
            If it was not asked about by this metric, or an earlier release began the ledger; else as for
            `check`. Nothing was recorded.
        TypeError, NotFittedError, LedgerError
            As for `check`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> holdout = Holdout(X[::3], y[::3], ledger=":memory:")
        >>> holdout.keep(DecisionTreeClassifier(max_depth=2).fit(X[1::3], y[1::3]))
        >>> holdout.report().nats
        0.0
        """
        subject, number = self._subject(estimator, "keep"), None
        if scoring is not None:
            metric = self._session.metric(scoring)
            number = number_on_record(self._session, subject.digest, metric)
            if number is None:
                fix = "Certify the model first, or leave scoring out."
                expected = "a metric by which the model was certified"
                raise bad_parameter("scoring", "Holdout.keep", expected, metric.name, fix)
        keep_model(self._session, subject.estimator, subject.digest, number)

    def select(self, models: Sequence[Any], *, scoring: Scoring, epsilon: float | str | None = "auto") -> int:
        """Return the number of the best of N fitted models, for ``ln N`` nats.

        Nothing else is revealed. The value of the chosen model is not certified: use `certify`, which then
        allows for the choice.

        Parameters
        ----------
        models : sequence of fitted estimators
        scoring : str, callable or Metric
            A mean, an AUC or a per-class mean; any metric with ``epsilon=None``.
        epsilon : float, "auto" or None, default="auto"
            Privacy parameter of the exponential mechanism, which draws the winner (McSherry, Talwar 2007).
            "auto" makes the chosen model hardly more than half a standard error worse than the best. Where
            privacy certifies, it takes at most half of the privacy budget that is left. None takes the best
            itself (the first of equals), without privacy.

        Returns
        -------
        int
            Position in ``models``.

        Raises
        ------
        BudgetExhaustedError
            If the privacy budget does not afford the choice. Nothing was charged.
        ValueError, TypeError
            For no models, or a bad model, metric or epsilon; nothing was charged. If all models or the choice
            failed on the holdout; that was charged.
        """
        return select_model(self._session, models, self._session.metric(scoring), epsilon)

    def declare(self, models: Sequence[Any], *, scoring: Scoring) -> int:
        """Declare fitted models before the first question: nothing revealed later widens their intervals.

        Use it if many answers are expected to differ from their guesses. With G models declared, each check
        or certify of one of them has a failure probability of at least ``beta / (4 G)``, with ``beta = 1 -
        confidence_level``, however much was revealed before. In return all other questions have half of the
        failure probability. The interval of a declared model follows from the value alone. It does not
        become narrower by ``guess_from``, which could tune another interval for each guess. Theorem and
        proof: `sklearn_ada.holdout.rounds`.

        Parameters
        ----------
        models : sequence of fitted estimators
            All models of the declaration, chosen without any look at the holdout.
        scoring : str, callable or Metric
            A mean, an AUC or a per-class mean. Ratios such as F1 and stable medians cannot be declared.

        Returns
        -------
        int
            Number of models.

        Raises
        ------
        ValueError
            If the holdout was asked before, if there are no models or two equal ones, or if one of them
            cannot be asked.
        """
        return declare_models(self._session, models, self._session.metric(scoring))

    def unseal(
        self,
        answers: Iterable[Answer | int] | Answer | int | None = None,
        *,
        key: str | os.PathLike[str] | bytes | X25519PrivateKey | None = None,
    ) -> list[Answer]:
        """Release the values of sealed answers.

        Each interval is as narrow as if its value had been released when it was asked, whatever was asked
        since. Rows and models are not needed. Each release costs three to eight nats, which widens the
        intervals of later questions; a warning says so. Nothing is lost by that once the holdout is closed.
        A value that was published is returned as it was published, at no cost.

        Parameters
        ----------
        answers : iterable of Answer or int, Answer, int or None, default=None
            Sealed answers of this holdout, or the numbers of their records. None, all of them, is allowed
            only after `close` or `publish`.
        key : str, path-like, bytes, X25519PrivateKey or None, default=None
            The private key of ``seal_key``, if the ledger was begun with one: the path of a PEM file without
            a password, its content, or a key of the library `cryptography`. Not needed for values that were
            released before. It is not stored.

        Returns
        -------
        list of Answer

        Raises
        ------
        ValueError
            For answers of another ledger, for answers that are refused, failed or exact, and for a missing
            or wrong private key. Nothing was charged.
        """
        return unseal(self.ledger, self._session.asker, answers, key)

    def close(self) -> None:
        """Close the holdout: from now on new questions are refused.

        Recorded answers are still returned, and sealed values can be released by `unseal`. Call `publish`
        before this. There is no way back.
        """
        close(self.ledger, self._session.asker)

    def report(self) -> HoldoutReport:
        """Return what was asked, answered and spent so far.

        It is read back from the ledger and verified.
        """
        return with_rows(report_of(self._session.ledger), self._session)

    def remaining(
        self, scoring: Scoring | None = None, *, purpose: str | None = None, guess_rows: int | None = None
    ) -> int | None:
        """Return how many more questions are admitted if every guess holds.

        None if nothing limits them. The tolerance does, and the privacy budget where privacy alone certifies.
        `publish` is not counted, as a tolerance never refuses it. A ledger with coarse answers may admit a
        few more, as guesses that held make the next one cheaper.

        They are counted for the guess with the widest interval, of an accuracy one half: the tolerance goes
        by the widest answer there can be, so where scores are .9 an answer is narrower than what it admits.
        Of the metric that was last searched by, if
        it is answered with windows, they are counted for guesses that are like the last one.

        Parameters
        ----------
        scoring : str, callable, Metric or None, default=None
            None: the metric that was last searched by, if it is answered with windows, else "accuracy".
        purpose : {"check", "certify"} or None, default=None
            None: what the ledger is used for, as `report` counts it. That is "certify" (one for each search)
            if it answers coarsely, was only asked to certify so far, or admits no check; else "check".
        guess_rows : int or None, default=None
            How many rows the guesses come from, such as the size of a scorer's validation part. None: as many
            as the holdout has. Guesses from fewer rows have wider cells, so fewer questions are admitted.

        Returns
        -------
        int or None

        Raises
        ------
        ValueError
            If how wide the next answer is follows from its guess alone, as with R^2, and there was none yet.
        """
        metric = None if scoring is None else self._session.metric(scoring)
        return remaining_questions(self._session, metric, purpose, guess_rows)

    def export(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Write a certificate: one file that says what was asked, answered and revealed.

        It has every interval with its target and verdict, the theorems and assumptions behind them, and the
        head of the ledger (its last hash). It has no rows, no secret and no sealed value, and costs nothing.
        Whoever has the ledger can verify it, without rows and models: ``python -m sklearn_ada ledger verify
        FILE --certificate certificate.json``.

        Parameters
        ----------
        path : path-like or str
            A file ending in ".html", a page to read and print, or in ".json", which can be verified. An
            existing file is replaced, unless it is a ledger or belongs to one.

        Returns
        -------
        pathlib.Path
            Where it was written. Only the page has date and versions: the JSON must come out the same again.

        Raises
        ------
        ValueError
            For another ending, or where a ledger is, what belongs to one, or no file.
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

        Rows may be equal by chance, so a few dozen leaked rows can go unnoticed, or a few hundred that were
        oversampled. The outcome is recorded. "No overlap" costs about a millionth of a nat, "overlap" 13.8
        nats, each once for the same rows. Rows in the memory of the array that the holdout was made of are
        refused for nothing. A closed holdout compares no new rows (`BudgetExhaustedError`).

        Numbers may be rounded, and columns may stand in another order, be missing or be more.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (m, ...)
            The training rows.
        """
        check_not_held_out(self._session, X)

    def top_up(self, X: Any, y: ArrayLike, *, ids: ArrayLike | None = None) -> Holdout:
        """Return a larger holdout, with fresh rows added, on the same ledger.

        Ask the larger holdout from then on. The smaller one still returns what is recorded, and refuses new
        questions. Old answers stay as they are, and the same question of the larger holdout is a new one. All
        intervals of the ledger, old and new, hold together at the same ``confidence_level``: what was
        revealed about the old rows still counts (proof: `sklearn_ada.holdout.changes`). Adding the same rows
        again is free, so a script may run again from its start. With ids, opening a holdout with old and new
        rows together does the same.

        More rows do not always make a narrower interval. A question that is asked again is a new one. It
        gets a smaller part of the failure probability, and its interval allows for everything that earlier
        answers revealed. For example, a first certify at 3,000 rows had a half-width of .012, and the same
        after 1,000 more rows .026.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (m, ...)
            New draws from the same population, which nothing was trained on and nobody has looked at. When
            they are added, and how many, may depend on answers. Which rows they are may not.
        y : array-like of shape (m,)
            Their labels or numbers.
        ids : array-like of shape (m,) or None, default=None
            Their ids, if the rows of the holdout have ids.

        Returns
        -------
        Holdout
            It has all rows.

        Raises
        ------
        ValueError
            If the rows do not fit the holdout's. Nothing was recorded.
        HoldoutLeakError
            If they repeat its rows, far more than chance allows. That is recorded and paid for, as by
            `check_overlap`.
            Or if a search of this session has trained models on them, beside this holdout.
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
        session = self._session.with_data(more)
        if hashed is not None:
            check_not_of_others(session.ledger, hashed)
        if not were_added(self._session, session):
            check_new(self._session, X)
            what = "The rows to be added repeat rows of the holdout, more than by chance. Add new draws only."
            check_apart(self._session, [X], what)
        larger = object.__new__(type(self))
        vars(larger).update(vars(self))  # what a subclass holds
        larger._session = record_top_up(session)
        note_whereabouts(larger._session)
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
        """Class labels of y, or those that were named to occur; None where y holds numbers."""
        return self._session.data.known_classes

    @property
    def ledger(self) -> Ledger[State]:
        """The ledger that is charged."""
        return self._session.ledger

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        note_whereabouts(self._session)

    def __repr__(self) -> str:
        return f"Holdout({self.n_rows} rows, fingerprint {self.fingerprint[:12]}, {self.ledger!r})"

    def _repr_html_(self) -> str:
        return page_of_summary(self._session, repr(self))

    def _ask(self, asked: Ask) -> Answer:
        """Return the answer, with warnings if it is a median or vacuous; see `check` and `certify`."""
        session = self._session
        asked, number = with_recorded_guess(session, asked) if asked.publish else (asked, None)
        question = plan_question(session, asked)
        warn_of_units(session, question.metric)
        if asked.publish:
            answer = publish(session, asked, question, number)
        else:
            if asked.settings is None:
                warn_of_median(session, question, asked.subject.estimator)
            answer = put_question(session, asked, question)
        warn_if_vacuous(session, answer, question)
        return answer.negated() if asked.is_mirrored else answer

    def _subject(self, estimator: Any, method: str) -> Subject:
        """Return what a method is asked about, checked and digested."""
        return Subject.of(estimator, self._session.data, self._session.policy, f"Holdout.{method}")


def session_of(holdout: Holdout) -> Session:
    """Return the rows, policy and ledger of a holdout, which scorers and searches work with."""
    return holdout._session


def headline_of(holdout: Holdout | HoldoutReport) -> str:
    """Return in one sentence what is left, or why nobody can say.

    For a pickled search that is what was left when it was pickled.
    """
    if isinstance(holdout, HoldoutReport):
        return f"When it was pickled: {holdout.headline}"
    try:
        return with_rows(summary_of(holdout.ledger), holdout._session).headline
    except LedgerError as error:
        return f"What is left cannot be read: {error}"
