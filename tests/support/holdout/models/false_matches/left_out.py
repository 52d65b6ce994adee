"""Cases of what the digest leaves out on purpose, where it counts after all."""

import functools
import importlib
import sys

from tests.support.holdout.models.false_matches.models_of_false_matches import (
    BOTH,
    CASES,
    by,
    case,
    having,
    model_of,
)


def with_jobs(sign):
    body = "def __init__(self, n_jobs=1): self.n_jobs = n_jobs\ndef sign(self): return self.n_jobs"
    return model_of(body)[0].set_params(n_jobs=sign)


def with_factor(sign):
    body = "@functools.cached_property\ndef factor(self): return 1\ndef sign(self): return self.factor"
    model = model_of(body, functools=functools)[0]
    model.factor = sign
    return model


CASES |= {
    "a number of jobs that counts": by(with_jobs),
    "a setting called verbose that counts": having(
        "self.kwargs['verbose']", kwargs=lambda sign: {"verbose": sign, "other": 1}
    ),
    "a cached property overwritten": by(with_factor),
    "a time of a search that counts": having(
        "self.cv_results_['mean_fit_time']", cv_results_=lambda sign: {"mean_fit_time": sign}
    ),
}


@case
def a_file_of_a_module_imported_by_predict(tmp_path, monkeypatch):
    text = "def sign(self):\n    from bundle_of_a_user import inner\n    return inner.sign()"
    names = ["bundle_of_a_user", "bundle_of_a_user.inner", "bundle_of_a_user.sign"]
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    folder = tmp_path / "bundle_of_a_user"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "inner.py").write_text("from .sign import sign")
    try:
        for sign in BOTH:
            (folder / "sign.py").write_text(f"def sign(): return {sign:+}")
            for name in names:
                sys.modules.pop(name, None)
            importlib.invalidate_caches()
            yield model_of(text)[0], sign
    finally:
        for name in names:
            sys.modules.pop(name, None)
