"""Cases of what the digest leaves out on purpose, where it counts after all."""

import functools
import importlib
import sys

from tests.holdout.models.false_matches.models import BOTH, case, model_of, saying


@case
def a_number_of_jobs_that_counts(tmp_path, monkeypatch):
    for sign in BOTH:
        body = "def __init__(self, n_jobs=1): self.n_jobs = n_jobs\ndef sign(self): return self.n_jobs"
        model = model_of(body)[0]
        model.n_jobs = sign
        yield model, sign


@case
def a_setting_called_verbose_that_counts(tmp_path, monkeypatch):
    for sign in BOTH:
        model = saying("self.kwargs['verbose']")[0]
        model.kwargs = {"verbose": sign, "other": 1}
        yield model, sign


@case
def a_cached_property_overwritten(tmp_path, monkeypatch):
    for sign in BOTH:
        body = "@functools.cached_property\ndef factor(self): return 1\ndef sign(self): return self.factor"
        model = model_of(body, functools=functools)[0]
        model.factor = sign
        yield model, sign


@case
def a_time_of_a_search_that_counts(tmp_path, monkeypatch):
    for sign in BOTH:
        model = saying("self.cv_results_['mean_fit_time']")[0]
        model.cv_results_ = {"mean_fit_time": sign}
        yield model, sign


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
