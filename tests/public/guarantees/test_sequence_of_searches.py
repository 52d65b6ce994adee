"""Nine searches in a row on one holdout, composed of the theorems: reference numbers of two whole sequences.

Of each search the winner's cell is released; the sealed count keeps the level of its asking, and one model is
kept and published in the end. In the first sequence all guesses hold, in the second five of nine surprise.
"""

import math

import pytest

from sklearn_ada.accounting import CountCode, PolyaUrn
from sklearn_ada.guarantees import (
    Purse,
    clopper_pearson,
    intersection,
    ln_delta,
    question_interval,
    transcript_interval,
)
from sklearn_ada.mechanisms import CountCells, guess_error
from tests.support.rows import reference

ROWS = reference("sequence")
N, GUESS_ROWS = 500, 1500
LN_SEALED, LN_TRANSCRIPT = math.log(0.05 * 0.8), math.log(0.05 * 0.2)


def play(rows):
    """Yield for every search what is computed, by the names of the reference file."""
    purse, urn, nats, asked = Purse(), PolyaUrn(), 0.0, {}
    for row in rows:
        count, guess = int(row["count"]), float(row["guess"])
        tau = guess_error(N, guess, GUESS_ROWS)
        cells, code = CountCells.around(N, guess=guess, guess_rows=GUESS_ROWS), CountCode(N * guess, tau)
        weight, purse = purse.question()
        z = cells.index(count)
        price = urn.price(z, code.ln_mass(*cells.ends(z)))
        urn.record(z)
        terms = {"ln_beta": LN_SEALED, "weight": weight, "nats": nats}
        asked[int(row["j"])] = count, terms
        cell = cells.counts(z)
        charged = {"ln_beta": LN_TRANSCRIPT, "nats": nats + price, "identical_rows": True}
        transcript, sealed = transcript_interval(*cell, N, **charged), question_interval(*cell, N, **terms)
        interim = intersection(sealed, [transcript])
        unsealed = question_interval(count, count, N, **terms)
        found = {"width_counts": cells.width, "z": z, "cell_low": cell[0], "cell_high": cell[1]}
        found |= {"price": price, "L_before": nats, "L_including": nats + price, "pi": weight}
        nats += price
        kept, terms = asked[int(row["kept_if_closed_now"])]
        whole, _ = purse.final(1.0)
        own = question_interval(kept, kept, N, **terms)
        final = question_interval(kept, kept, N, ln_beta=LN_SEALED, weight=whole, nats=nats)
        levels = ln_delta(**terms), ln_delta(LN_SEALED, whole, nats)
        found["ln_delta_final"] = max(levels)
        pairs = {"transcript": transcript, "section2": sealed, "interim": interim, "unsealed": unsealed}
        pairs["final"] = intersection(final, [own])
        for name, (low, high) in pairs.items():
            found |= {f"{name}_lower": low, f"{name}_upper": high}
        yield found


@pytest.mark.parametrize("sequence", ["held", "surprises"])
def test_sequences_of_searches_agree_with_the_reference(sequence):
    rows = [row for row in ROWS if row["sequence"] == sequence]
    assert len(rows) == 9
    for row, found in zip(rows, play(rows), strict=True):
        assert found.keys() == row.keys() - {"sequence", "j", "count", "guess", "kept_if_closed_now"}
        for name, value in found.items():
            assert value == pytest.approx(float(row[name]), rel=1e-9, abs=1e-11), (sequence, row["j"], name)


def test_the_kept_model_is_nearly_as_narrow_as_one_alone():
    """After nine searches whose guesses held, and the price of .95 of the purse: 1.1 times a single use."""
    rows = [row for row in ROWS if row["sequence"] == "held"]
    *_, last = play(rows)
    kept = 436
    alone = clopper_pearson(kept, kept, N, math.log(0.05))
    purse = Purse()
    for _ in rows:
        _, purse = purse.question()
    weight, _ = purse.final()
    final = question_interval(kept, kept, N, ln_beta=LN_SEALED, weight=weight, nats=last["L_including"])
    assert 1.05 < (final[1] - final[0]) / (alone[1] - alone[0]) < 1.15
    assert 2.4 < (last["interim_upper"] - last["interim_lower"]) / (alone[1] - alone[0]) < 3.0
