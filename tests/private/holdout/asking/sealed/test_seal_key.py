"""Sealed for the holder of a private key: the ledger and its secret do not open what is sealed."""

import base64
import os
import pickle
import traceback

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from sklearn_ada import Guess, ReusableHoldoutCV
from sklearn_ada.cli import main
from sklearn_ada.exceptions import LedgerDamagedError, LedgerMismatchError
from sklearn_ada.questions.seals import sealed_context, shown
from sklearn_ada.terms import seal_key as seal_keys
from sklearn_ada.terms.outputs import _LAYOUT, OutputSummary, _padded
from tests.support.holdout.asking.sealed.counts import RightOn, ask, holdout_of, rows
from tests.support.ledgers import bodies, kinds

x25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.x25519")
serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")


def pair(kind=x25519.X25519PrivateKey, password=None):
    """A private key and its public one, as PEM texts."""
    key, pem = kind.generate(), serialization.Encoding.PEM
    how = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, how)
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


PRIVATE, PUBLIC = pair()


@pytest.fixture
def holdout(tmp_path):
    return holdout_of(500, tmp_path / "ledger.db", seal_key=PUBLIC)


@pytest.fixture
def files(tmp_path):
    """The two keys as files."""
    paths = tmp_path / "private.pem", tmp_path / "public.pem"
    for path, text in zip(paths, (PRIVATE, PUBLIC), strict=True):
        path.write_text(text)
    return paths


# What the holder and the asker can do


def test_the_holder_unseals_what_was_asked(holdout, tmp_path):
    plain = holdout_of(500, tmp_path / "plain.db")
    for each in (holdout, plain):
        asked = [ask(each, count, 0.8512, name=str(count)) for count in (425, 300)]
        assert [answer.verdict for answer in asked] == ["agrees", "differs"]
        each.close()
    keyed, hidden = holdout.unseal(key=PRIVATE), plain.unseal()
    assert [answer.value for answer in keyed] == [0.85, 0.6]
    assert [(a.value, a.interval, a.cost) for a in keyed] == [(a.value, a.interval, a.cost) for a in hidden]
    assert holdout.ledger.verify()


def test_a_final_is_computed_from_the_rows(holdout, tmp_path):
    plain = holdout_of(500, tmp_path / "plain.db")
    finals = []
    for each in (holdout, plain):
        for count, name in ((425, "kept"), (300, "surprise")):
            ask(each, count, 0.8512, name=name)
        for count, name in ((425, "kept"), (430, "new")):
            final = ask(each, count, 0.8512, name=name, publish=True)
            finals.append((final.value, final.interval, final.cost))
    assert [value for value, *_ in finals] == [0.85, 0.86] * 2
    assert finals[:2] == finals[2:]


def test_what_was_answered_needs_no_key(holdout, nearly_free):
    first = ask(holdout, 425, 0.8512)
    with nearly_free(holdout):
        assert ask(holdout, 425, 0.8512) == first
    final = ask(holdout, 425, 0.8512, publish=True)
    (unsealed,) = holdout.unseal(first)
    assert unsealed.value == final.value == 0.85
    assert (holdout.unseal(first), holdout.unseal(first, key=PRIVATE)) == ([unsealed], [unsealed])
    other = ask(holdout, 430, 0.8512, name="other")
    with pytest.warns(UserWarning, match="Unsealing"):
        (exact,) = holdout.unseal(other, key=PRIVATE)
    assert ask(holdout, 430, 0.8512, name="other", publish=True).value == exact.value == 0.86


def test_every_form_of_a_key_is_the_same_key(files, tmp_path):
    private = serialization.load_pem_private_key(PRIVATE.encode(), None)
    publics = [PUBLIC, PUBLIC.encode(), files[1], str(files[1]), private.public_key()]
    for form in (*publics, None):  # None: as it was begun
        ask(holdout_of(500, tmp_path / "ledger.db", seal_key=form), 425, 0.8512)
    holdout = holdout_of(500, tmp_path / "ledger.db")
    assert holdout.ledger.genesis["seal_key"] == private.public_key().public_bytes_raw().hex()
    holdout.close()
    privates = [PRIVATE, PRIVATE.encode(), files[0], str(files[0]), private]
    number = kinds(holdout).index("sealed")
    assert {holdout.unseal(number, key=form)[0].value for form in privates} == {0.85}


def test_auto_asks_with_a_key_as_well(tmp_path):
    holdout = holdout_of(500, tmp_path / "ledger.db", answers="auto", seal_key=PUBLIC)
    assert ask(holdout, 425, 0.8512).verdict == "agrees"
    assert ask(holdout_of(500, tmp_path / "ledger.db", answers="auto"), 425, 0.8512).verdict == "agrees"
    temporary = holdout_of(501, None, answers="auto", seal_key=PUBLIC)
    assert [ask(temporary, n, 0.8512).verdict for n in (425, 430)] == ["exact", "agrees"]


def test_a_search_seals_with_the_key_and_publishes_without_the_private_one(tmp_path):
    X, y = load_iris(return_X_y=True)
    grid = GridSearchCV(LogisticRegression(max_iter=200), {"C": [0.1, 1.0]}, cv=3)
    how = {"ask": "winner", "answers": "coarse", "ledger": tmp_path / "ledger.db"}
    search = ReusableHoldoutCV(grid, seal_key=PUBLIC, **how)
    assert clone(search).seal_key == PUBLIC
    search.fit(X, y)
    assert len(bodies(search.holdout_)[-1]["sealed"]) == 112
    final = search.publish()
    assert pickle.loads(pickle.dumps(search)).publish(X, y) == final
    assert final.verdict == "exact"


def test_the_command_line_takes_the_key_as_a_file(holdout, files, tmp_path, capsys):
    ask(holdout, 425, 0.8512)
    path = str(holdout.ledger.path)
    (tmp_path / "wrong.pem").write_text(pair()[0])
    assert main(["ledger", "close", path, "--head", holdout.ledger.head()]) == 0
    count, head = holdout.ledger.verify(), ["--head", holdout.ledger.head()]
    for flags, message in (
        ([], "must be the private key"),
        (["--key", str(tmp_path / "wrong.pem")], "Got 'the key of another' instead"),
        (["--key", str(files[1])], "Got 'a public key' instead"),
        (["--key", str(tmp_path / "none.pem")], "a path that cannot be read"),
    ):
        assert main(["ledger", "unseal", path, *head, *flags]) == 1
        assert message in capsys.readouterr().err
    assert holdout.ledger.verify() == count
    assert main(["ledger", "unseal", path, *head, "--key", str(files[0])]) == 0
    printed = capsys.readouterr().out
    assert "holdout: .850 in [" in printed
    assert "1 value unsealed" in printed


# Bad input


def test_a_private_key_is_not_taken_for_the_public_one_nor_shown(files, tmp_path, sentence):
    private = serialization.load_pem_private_key(PRIVATE.encode(), None)
    for given in (PRIVATE, PRIVATE.encode(), private, files[0]):
        with pytest.raises(ValueError, match=sentence("seal_key", "Holdout")) as caught:
            holdout_of(500, tmp_path / "ledger.db", seal_key=given)
        assert "Got 'a private key' instead" in str(caught.value)
        assert PRIVATE.splitlines()[1] not in str(caught.value)
    assert not (tmp_path / "ledger.db").exists()


def test_what_is_no_public_key_is_refused_before_a_ledger_is_begun(tmp_path, sentence):
    _, other_kind = pair(ed25519.Ed25519PrivateKey)
    small = x25519.X25519PublicKey.from_public_bytes(bytes(32))
    garbage = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"
    for given in (1, "", b"", b"key", garbage, other_kind, "no/such/file.pem", tmp_path, small, [PUBLIC]):
        with pytest.raises(ValueError, match=sentence("seal_key", "Holdout")) as caught:
            holdout_of(500, tmp_path / "ledger.db", seal_key=given)
        assert "AAAA" not in str(caught.value)
    assert not (tmp_path / "ledger.db").exists()


def test_a_ledger_keeps_the_key_that_it_was_begun_with_or_none(holdout, tmp_path, sentence):
    plain = holdout_of(500, tmp_path / "plain.db")
    for path, other in ((holdout.ledger.path, pair()[1]), (plain.ledger.path, PUBLIC)):
        with pytest.raises(LedgerMismatchError):
            holdout_of(500, path, seal_key=other)
    with pytest.raises(ValueError, match=sentence("key", "Holdout.unseal")):
        plain.unseal(ask(plain, 425, 0.8512), key=PRIVATE)
    exact = holdout_of(500, tmp_path / "exact.db", answers="exact").ledger.path  # nothing is sealed there
    for path, policy in (
        ("1.db", {"answers": "exact"}),
        ("2.db", {"answers": "auto", "route": "both"}),
        (exact, {"answers": "auto"}),
    ):
        with pytest.raises(ValueError, match=sentence("seal_key", "Holdout")):
            holdout_of(500, tmp_path / path, seal_key=PUBLIC, **policy)


def test_without_the_key_or_with_another_one_nothing_is_unsealed(holdout, sentence, uncharged):
    first = ask(holdout, 425, 0.8512)
    wrong, wrong_public = pair()
    locked, _ = pair(password=b"password")
    for given in (None, wrong, PUBLIC, wrong_public, locked, 1, b"", "no/such/file.pem", "-----BEGIN x"):
        refused = pytest.raises(ValueError, match=sentence("key", "Holdout.unseal"))
        with uncharged(holdout), refused as caught:
            holdout.unseal(first, key=given)
        assert wrong.splitlines()[1] not in str(caught.value)
        assert given is not None or "publish(model)" in str(caught.value)
    holdout.close()
    with uncharged(holdout), pytest.raises(ValueError, match=sentence("key", "Holdout.unseal")):
        holdout.unseal()


def test_what_was_sealed_for_one_record_opens_as_no_other():
    public = seal_keys.public_key_text(PUBLIC, "Holdout")
    private = seal_keys.check_private_key(PRIVATE, public, "Holdout.unseal")
    text = seal_keys.sealed_for(public, b"425", "sealed a b")
    assert seal_keys.opened_with(private, text, "sealed a b") == b"425"
    edited = text[:-1] + ("0" if text[-1] != "0" else "1")
    for wrong, context in ((text, "sealed a c"), (edited, "sealed a b"), ("", ""), ("zz", ""), (None, "")):
        with pytest.raises(LedgerDamagedError, match="was edited"):
            seal_keys.opened_with(private, wrong, context)


def test_without_the_library_the_extra_is_named_and_the_ledger_is_read(
    holdout, files, tmp_path, hidden, capsys
):
    first = ask(holdout, 425, 0.8512)
    hidden("cryptography")
    seal_keys._library.cache_clear()
    for act in (
        lambda: holdout_of(500, tmp_path / "other.db", seal_key=PUBLIC),
        lambda: holdout_of(500, holdout.ledger.path),  # it could not seal what is asked
        lambda: holdout.unseal(first, key=PRIVATE),
    ):
        with pytest.raises(ImportError, match="pip install cryptography"):
            act()
    flags = ["--key", str(files[0]), "--head", holdout.ledger.head()]
    assert main(["ledger", "unseal", str(holdout.ledger.path), "1", *flags]) == 1
    assert "pip install cryptography" in capsys.readouterr().err
    assert not (tmp_path / "other.db").exists()
    assert holdout.ledger.verify()
    assert (ask(holdout, 425, 0.8512), ask(holdout, 425, 0.8512, publish=True).value) == (first, 0.85)


# A stranger with the ledger file and its secret


@pytest.mark.parametrize("keyed", [False, True])
def test_a_stranger_with_ledger_and_secret_searches_all_counts(keyed, tmp_path):
    """By the pad, by the summary of what was said alone, and by it and the outputs: 10,001 counts each.

    The same search opens a ledger without a key, so it can find something. Beside the certify, the model is
    checked, and chosen among two, which keep summaries, too.
    """
    n, right = 10_000, 8_517
    holdout = holdout_of(n, tmp_path / "ledger.db", **({"seal_key": PUBLIC} if keyed else {}))
    model, guess = RightOn(right), Guess(0.85, 30_000)
    holdout.check(model, scoring="accuracy", guess=guess)
    answer = holdout.certify(model, scoring="accuracy", guess=guess)
    assert holdout.select([model, RightOn(3)], scoring="accuracy") == 0
    record, check, selection = (holdout.ledger.record(number) for number in (answer.index, 1, 3))
    session, secret = holdout._session, holdout.ledger.secret()

    by_pad = None
    if len(record.body["sealed"]) == 16:
        context = sealed_context(holdout.ledger.genesis["fingerprint"], record.key)
        by_pad = int.from_bytes(shown(record.body["sealed"], secret, context), "big")
    by_sums = set()
    for each in (record, check, selection):
        key = session.outputs_key(str(each.key), secret)
        _, *sums = _LAYOUT.unpack(_padded(base64.b64decode(each.body["said"]), key))
        by_sums |= set(np.round(n * np.sinh(np.abs(sums)), 3))
    outputs = {"outputs": model.predict(rows(n)[0]).astype(np.int64)}  # labels count by value
    key, agreeing = session.outputs_key(str(record.key), secret), []
    for count in range(n + 1):
        said = OutputSummary.of(outputs, count / n)
        if (said.without_values(0) if keyed else said).agrees_with(record.body["said"], key):
            agreeing.append(count)
    if keyed:
        low, high = session.ledger.record(answer.index).body["outcome"]["interval"]
        assert by_pad is None
        assert by_sums == {0.0}
        assert low < 0.84 < 0.86 < high
        assert len(agreeing) == n + 1  # it depends on the cell, which was told, and on no count
        said = OutputSummary.of(outputs).without_values(check.body["event"]["symbols"])
        assert said.agrees_with(check.body["said"], session.outputs_key(str(check.key), secret))
    else:
        assert by_pad == right
        assert right in by_sums
        assert agreeing == [right]


def test_what_a_record_holds_of_a_count_is_of_one_length_and_never_twice_the_same(tmp_path):
    kept = []
    for right in (0, 1, 425, 499, 500):
        for again in range(3):
            holdout = holdout_of(500, tmp_path / f"{right} {again}.db", seal_key=PUBLIC, random_state=0)
            ask(holdout, right, 0.8512)
            kept.append(bodies(holdout)[kinds(holdout).index("sealed")]["sealed"])
    assert {len(text) for text in kept} == {112}
    assert len(set(kept)) == len(kept)
    assert len({text[:64] for text in kept}) == len(kept)  # the same secret, and a fresh key pair each time


class Shifting(RightOn):
    """Right on as many rows wherever they begin, which a digest of the model cannot see."""

    def predict(self, X):
        at = (np.asarray(X)[:, 0] - float(os.environ.get("SHIFT", 0))) % 500
        return (at >= self.right).astype(np.int8)


def test_a_model_that_is_asked_again_is_found_by_what_it_says(holdout, nearly_free, monkeypatch):
    """Outputs are compared, and what was released, but no values: the same count of other rows differs."""
    models, guess = [Shifting(425), Shifting(100)], Guess(0.85, 1500)
    ways = {
        "select": lambda: holdout.select(models, scoring="accuracy"),
        "check": lambda: holdout.check(models[0], scoring="accuracy", guess=guess),
        "certify": lambda: holdout.certify(models[0], scoring="accuracy", guess=guess),
    }
    first = {name: way() for name, way in ways.items()}
    for name, way in ways.items():
        with nearly_free(holdout):
            assert way() == first[name]
    monkeypatch.setenv("SHIFT", "7")
    for way in ways.values():
        way()
        compared, new = bodies(holdout)[-2:]
        assert (compared["kind"], compared["price"] > 0.1) == ("confirmation", True)
        assert new["kind"] in ("selection", "sealed", "answer")


def test_a_summary_agrees_only_with_the_same_outputs_and_what_was_released():
    def agree(one, other, key=bytes(32)):
        return one.agrees_with(other.sealed(key), key)

    nothing = OutputSummary.of({}, 0.85)
    said, others = (OutputSummary.of({"outputs": np.arange(9) + shift}, 0.85) for shift in (0, 1))
    assert not agree(nothing.without_values(0), nothing.without_values(0))
    assert agree(said.without_values(0), said.without_values(0))
    assert not agree(said.without_values(0), said.without_values(1))
    assert not agree(OutputSummary.joined([said]), OutputSummary.joined([others]))
    assert agree(OutputSummary.joined([said, others]), OutputSummary.joined([said, others]))


@pytest.mark.parametrize("kind", [ed25519.Ed25519PrivateKey, x25519.X25519PrivateKey])
def test_no_local_variable_shows_the_private_key_of_a_file(holdout, tmp_path, kind):
    """As services that collect errors write them."""
    path, private = tmp_path / "key.pem", pair(kind)[0]
    path.write_text(private)
    secret = private.splitlines()[1]
    for use in (lambda: holdout.unseal(key=path), lambda: holdout_of(500, tmp_path / "n.db", seal_key=path)):
        with pytest.raises(ValueError, match="key' parameter") as caught:
            use()
        frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)][1:]
        assert secret not in "".join(repr(value) for frame in frames for value in shown_of(frame))


def shown_of(frame):
    return [value for name, value in frame.f_locals.items() if name != "self"]
