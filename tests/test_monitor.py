"""Monitors: alarms for what is no longer as certified, hardly ever otherwise, whatever interrupts them."""
# SPDX-License-Identifier: MIT

import json
import math
import multiprocessing
import os
import signal
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

from cli_tables import PLAIN, answer, people, refused, run, written
from fairpca import FairPCA, Monitor, Release, audit, load_certificate
from fairpca.auditing import certificate_of_release
from fairpca.comparison import NamedSides, People, Terms, compare

SIGMA = 1.5


def mean_kernel(delta=0.0, d=2):
    """Return E k(z, z') of N(0, I) and N(delta e_1, I)."""
    return (SIGMA**2 / (SIGMA**2 + 2)) ** (d / 2) * math.exp(-(delta**2) / (2 * (SIGMA**2 + 2)))


def shift_of(mmd2):
    """Return delta of N(0, I) against N(delta e_1, I) in two dimensions."""
    return math.sqrt(-2 * (SIGMA**2 + 2) * math.log(1 - mmd2 / (2 * mean_kernel())))


@pytest.fixture(scope="module")
def shown():
    """Return a certificate of two-dimensional rows, by name."""
    rng = np.random.default_rng(0)
    Z, group = rng.normal(size=(400, 2)), rng.choice(["a", "b"], 400)
    found = audit(None, Z, sensitive_features=group, adversaries=(), n_permutations=19, bandwidth=SIGMA, random_state=0)
    return found.certificate("normal people", trust_rows=True)


def claiming(certificate, bound, names=("a against b",), **terms):
    """Return a certificate that claims a bound of comparisons."""
    measures = [certificate.measures[0] | {"upper_bound": bound, "name": name} for name in names]
    changed = replace(certificate, measures=measures, terms=certificate.terms | terms)
    return changed.with_digest()


def stream(seed, n, mmd2=0.0, share=0.5, drift=0.0):
    rng = np.random.default_rng(seed)
    group = np.where(rng.random(n) < share, "a", "b").astype(object)
    Z = rng.normal(size=(n, 2))
    Z[:, 0] += shift_of(mmd2) * (group == "a") + drift * np.arange(n) / n
    return Z, group


def watched(certificate, Z, group):
    return Monitor(certificate, None).update(Z, sensitive_features=group)


# What it shows


@pytest.mark.parametrize(("mmd2", "share", "drift"), [(0.01, 0.5, 0.0), (0.01, 0.15, 0.0), (0.01, 0.5, 2.0)])
def test_streams_at_the_bound_hardly_ever_see_an_alarm(shown, mmd2, share, drift):
    found = [watched(claiming(shown, 0.01), *stream(seed, 3000, mmd2, share, drift)) for seed in range(30)]
    assert sum(monitor.alarm_ is not None for monitor in found) <= 4


def test_a_bound_of_nothing_holds_for_groups_that_are_equal_and_for_no_others(shown):
    certificate = claiming(shown, 0.0, [f"{group} against all others" for group in "abc"])
    alarms = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        Z, group = rng.normal(size=(2000, 2)), rng.choice([*"abc"], 2000)
        alarms += watched(certificate, Z, group).alarm_ is not None
    assert alarms <= 4
    found = watched(certificate, Z + (group == "b")[:, None], group).alarm_
    assert found.measure == "b against all others"


def test_a_doubled_discrepancy_is_seen_when_the_formula_says(shown):
    """Growth of the evidence by person: h (D cos t - c)^2 / (2 v), until it is ln(1 / alpha) + 1; see the page."""
    bound, delta = 0.01, shift_of(0.02)
    c, D = math.sqrt(bound), math.sqrt(2 * bound)
    Z = np.random.default_rng(0).normal(size=(50_000, 2))
    near = [np.exp(-((Z[:, 0] - m) ** 2 + Z[:, 1] ** 2) / (2 * (SIGMA**2 + 1))) for m in (delta, 0.0)]
    variance = np.var(SIGMA**2 / (SIGMA**2 + 1) * (near[0] - near[1]) / D)
    cosine = D / np.sqrt(D**2 + 4 * (1 - mean_kernel()) / np.arange(1, 20_000))
    # Blocks have six people: the mean of m n / (m + n) for each of them is 0.21.
    growth = np.cumsum(0.21 * np.maximum(0, D * cosine - c) ** 2 / (2 * variance))
    expected = int(np.searchsorted(growth, math.log(20) + 1))
    seen = [watched(claiming(shown, bound), *stream(seed, 3 * expected, 0.02)).alarm_ for seed in range(20)]
    assert np.mean([3 * expected if alarm is None else alarm.n_people for alarm in seen]) == pytest.approx(
        expected, rel=0.3
    )


def test_a_change_after_a_long_time_is_seen_and_stays(shown):
    Z, group = stream(0, 20_000)
    monitor = watched(claiming(shown, 0.01), Z, group)
    assert monitor.alarm_ is None
    assert monitor.changed_ is None
    assert monitor.evidence_ < 20
    later = stream(1, 10_000, 0.04)
    monitor.update(later[0], sensitive_features=later[1])
    assert 20_000 < monitor.alarm_.n_people < 28_000
    assert "ALARM after" in str(monitor)
    seen = monitor.alarm_
    assert monitor.update(Z, sensitive_features=group).alarm_ is seen


def test_people_as_a_whole_may_change_without_an_alarm(shown):
    Z, group = stream(0, 8000)
    monitor = watched(claiming(shown, 0.01), Z, group)
    monitor.update(Z + 0.7, sensitive_features=group)
    assert monitor.alarm_ is None
    assert 8000 < monitor.changed_ <= 16_000
    assert "audit again" in str(monitor)
    alone = watched(claiming(shown, 0.01), Z, group)
    assert alone.update(Z + 0.7, sensitive_features=np.full(8000, None)).changed_ is not None


def test_an_alarm_says_which_components_and_columns_moved():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(9000, 4)) * [3, 2, 1, 1], columns=["age", "debt", "hours", "rent"])
    group = rng.choice(["a", "b"], 9000)
    model = PCA(2).fit(table[:1000])
    found = audit(model, table[1000:4000], sensitive_features=group[1000:4000], adversaries=(), random_state=0)
    monitor = Monitor(found.certificate(trust_rows=True), model)
    new = table[4000:].assign(debt=lambda rows: rows["debt"] + 1.5 * (group[4000:] == "a"))
    alarm = monitor.update(new, sensitive_features=group[4000:]).alarm_
    assert alarm.components[0][0] == "component 2"
    assert alarm.columns[0][0] == "debt"
    assert alarm.columns[0][1] > 0.6
    assert "columns that load on them: debt" in str(alarm)


@pytest.fixture(scope="module")
def released():
    rng = np.random.default_rng(0)
    X, group = rng.normal(size=(8000, 4)) * [2, 1, 1, 0.5], rng.choice(["a", "b"], 8000)
    model = FairPCA(2, random_state=0).fit(X[:2000], sensitive_features=group[:2000])
    release = Release(random_state=0, n_cells=12).fit(model.transform(X[:2000]), sensitive_features=group[:2000])
    release.certify(model.transform(X[2000:]), sensitive_features=group[2000:], target=0.1)
    pipeline = make_pipeline(model, release)
    return pipeline, certificate_of_release(pipeline, X[2000:], sensitive_features=group[2000:])


def test_promises_are_watched_too(released):
    pipeline, certificate = released
    rng = np.random.default_rng(1)
    X, group = rng.normal(size=(20_000, 4)) * [2, 1, 1, 0.5], rng.choice(["a", "b"], 20_000)
    monitor = Monitor(certificate, pipeline).update(X, sensitive_features=group)
    assert monitor.alarm_ is None
    assert monitor.changed_ is None
    X[:, 0] += 1.5 * (group == "a")
    alarm = monitor.update(X, sensitive_features=group).alarm_
    assert alarm.claim == "total variation at most 0.1"
    assert alarm.components[0][0] == "component 1"
    assert 20_000 < alarm.n_people < 28_000


# Who is on which side


@pytest.mark.parametrize(
    ("terms", "with_labels"),
    [
        ({}, False),
        ({"sensitive": "intersections"}, False),
        ({"fairness": "equalized_odds"}, True),
        ({"fairness": "equal_opportunity", "favourable": "yes"}, True),
        ({"missing": "group"}, False),
        ({"small_groups": "merge", "min_group_size": 40}, False),
        ({"small_groups": "leave", "min_group_size": 40}, False),
    ],
)
def test_sides_by_name_are_those_of_the_comparison(terms, with_labels):
    rng = np.random.default_rng(0)
    n = 600
    race = rng.choice(["A", "B", "C", "D", "E"], n, p=[0.5, 0.35, 0.05, 0.05, 0.05]).astype(object)
    known = People(
        {"sex": rng.choice([0, 1], n), "race": np.where(rng.random(n) < 0.1, None, race)},
        np.where(rng.random(n) < 0.4, "yes", "no") if with_labels else None,
        {"town": rng.choice([True, False], n)},
    )
    asked = Terms.named(**({"missing": "leave", "small_groups": "leave"} | terms))
    compared = compare(known, n, asked, 1e-3)
    weights = compared.comparison.columns.of(compared.attached)
    expected = np.select([weights > 0, weights < 0], [0, 1], -1)
    named = NamedSides([measure.as_dict() for measure in compared.measures], asked)
    np.testing.assert_array_equal(named.of(known, n), expected)
    # As a file says it, in texts, and one by one.
    for part in (slice(None), slice(7, 8)):
        columns = known.sensitive_features.items()
        texts = {name: [None if value is None else str(value) for value in own[part]] for name, own in columns}
        labels = known.y[part] if with_labels else None
        some = People(texts, labels, {"town": known.control_features["town"][part]})
        np.testing.assert_array_equal(named.of(some, len(texts["sex"])), expected[part])


def test_people_without_a_group_are_counted_and_not_bet_on(shown):
    certificate = claiming(shown, 0.01)
    Z, group = stream(0, 3000, 0.02)
    rng = np.random.default_rng(1)
    holes = np.sort(rng.choice(np.arange(100, 3000), 1000))
    filled = watched(certificate, np.insert(Z, holes, 9.0, axis=0), np.insert(group, holes, None))
    assert (filled.n_people_, filled.n_compared_) == (4000, 3000)
    assert filled.evidence_ == pytest.approx(watched(certificate, Z, group).evidence_, rel=1e-6)


# Batches, states, interruptions


def test_one_by_one_is_as_all_at_once(shown):
    certificate = claiming(shown, 0.03)
    Z, group = stream(0, 700, 0.1)
    monitor = Monitor(certificate, None)
    for row in range(len(Z)):
        monitor.update(Z[row : row + 1], sensitive_features=group[row : row + 1])
    at_once = watched(certificate, Z, group)
    assert monitor.evidence_ == pytest.approx(at_once.evidence_, rel=1e-9)
    assert monitor.alarm_.n_people == at_once.alarm_.n_people


@pytest.mark.parametrize("rows", [60, 1000, 6000])
def test_a_loaded_monitor_goes_on_bit_by_bit(shown, rows, tmp_path):
    certificate = claiming(shown, 0.01)
    Z, group = stream(0, 12_000, 0.02)
    whole = watched(certificate, Z[:rows], group[:rows]).update(Z[rows:], sensitive_features=group[rows:])
    watched(certificate, Z[:rows], group[:rows]).save(tmp_path / "state")
    again = Monitor.load(tmp_path / "state", certificate, None).update(Z[rows:], sensitive_features=group[rows:])
    whole.save(tmp_path / "whole")
    again.save(tmp_path / "again")
    assert (tmp_path / "whole").read_text() == (tmp_path / "again").read_text()
    assert (tmp_path / "whole").stat().st_mode & 0o077 == 0


def test_a_loaded_monitor_of_a_promise_goes_on(released, tmp_path):
    pipeline, certificate = released
    X, group = np.random.default_rng(1).normal(size=(500, 4)), np.arange(500) % 2
    group = np.where(group, "a", "b")
    monitor = Monitor(certificate, pipeline).update(X, sensitive_features=group)
    monitor.save(tmp_path / "state")
    again = Monitor.load(tmp_path / "state", certificate, pipeline)
    for each in (monitor, again):
        each.update(X, sensitive_features=group)
    assert again.evidence_ == monitor.evidence_


def test_states_that_are_not_its_own_are_refused(shown, tmp_path):
    certificate, path = claiming(shown, 0.01), tmp_path / "state"
    watched(certificate, *stream(0, 200)).save(path)
    with pytest.raises(ValueError, match="is the state of another monitor"):
        Monitor.load(path, claiming(shown, 0.02), None)
    text = path.read_text()
    path.write_text(text[: len(text) // 2])
    with pytest.raises(ValueError, match="is no whole state of a monitor"):
        Monitor.load(path, certificate, None)
    path.write_text(text.replace('"n_people": 200', '"n_people": 201'))
    with pytest.raises(ValueError, match="was changed, or written by another version"):
        Monitor.load(path, certificate, None)
    certificate.save(path)
    with pytest.raises(ValueError, match="is no state of a monitor"):
        Monitor.load(path, certificate, None)


def test_what_cannot_be_watched_is_refused_and_nothing_is_taken(shown):
    certificate = claiming(shown, 0.01)
    Z, group = stream(0, 200)
    monitor = watched(certificate, Z, group)
    other, edited = np.where(np.arange(200) == 7, "c", group), replace(certificate, confidence=0.9)
    continuous = replace(certificate, measures=[certificate.measures[0] | {"kind": "continuous"}])
    continuous = continuous.with_digest()
    for rows, groups, words in (
        (Z, other, r"the group 'c', which the certificate does not know; it compares 'a', 'b'"),
        (np.ones((5, 3)), group[:5], "X has 3 reduced columns; those before had 2"),
        (Z, None, "sensitive_features=None"),
        (Z, group[:199], "199 entries but X has 200 rows"),
    ):
        with pytest.raises(ValueError, match=words):
            monitor.update(rows, sensitive_features=groups)
        assert monitor.n_people_ == 200
    for given, model, words in (
        (certificate, np.eye(2), "model is another than the certified one"),
        (edited, None, "the certificate was edited"),
        ("certificate.json", None, "certificate must be a Certificate"),
        (continuous, None, "only groups can be watched"),
        (claiming(shown, 0.01, fairness="equalized_odds"), None, "speaks of labels"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            Monitor(given, model).update(Z, sensitive_features=group)


def test_the_picture_has_the_evidence_the_threshold_and_the_alarm(shown):
    monitor = watched(claiming(shown, 0.01), *stream(0, 20_000, 0.04))
    display = monitor.plot()
    assert display.ax_.get_yscale() == "log"
    assert display.n_people[-1] == 20_000
    assert display.alarm == monitor.alarm_.n_people
    assert [line.get_label() for line in display.ax_.lines[:3]][2] == "alarm: 20"


# The command


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("monitor")
    fitted = run("fit", written(folder / "people.csv", people(800)), "-s", "sex", *PLAIN, "--no-path", "--out", folder)
    assert fitted.exit_code == 0, fitted.output
    later = people(6000, seed=5)
    written(folder / "later.csv", later)
    later["debt"] += 6 * (later["sex"] == "Male")
    written(folder / "moved.csv", later)
    return folder


def command(place, table, state, *more):
    return ("monitor", place / "certificate.json", place / "model.fairpca", table, "--state", state, *more)


def test_the_command_goes_on_where_it_ended(place, tmp_path):
    state = tmp_path / "state"
    first = answer(*command(place, place / "later.csv", state))
    assert (first["n_people"], first["alarm"]) == (6000, None)
    assert answer(*command(place, place / "later.csv", state)) == first
    picture = tmp_path / "evidence.png"
    found = answer(*command(place, place / "moved.csv", state, "--plot", picture), code=1)
    assert 6000 < found["alarm"]["n_people"] <= 12_000
    assert found["alarm"]["columns"][0][0] == "debt"
    assert picture.stat().st_size > 10_000
    shown = run(*command(place, place / "moved.csv", state))
    assert shown.exit_code == 1
    assert shown.stdout.startswith(f"ALARM after {found['alarm']['n_people']:,} people: Female against Male")


def test_a_file_that_grows_is_taken_once(place, tmp_path):
    later = people(3000, seed=5)
    table, state = written(tmp_path / "log.csv", later[:1000]), tmp_path / "state"
    assert answer(*command(place, table, state))["n_people"] == 1000
    written(table, later)
    assert answer(*command(place, table, state))["n_people"] == 3000
    written(table, later[:2000])
    assert "of which 3000 rows were taken" in refused(*command(place, table, state))
    written(table, later[1:])
    assert "Give new rows a file of their own" in refused(*command(place, table, state))
    assert json.loads(state.read_text())["n_people"] == 3000


def test_lines_are_acknowledged_and_go_on(place, tmp_path):
    lines = (place / "moved.csv").read_text().splitlines(keepends=True)
    state = tmp_path / "state"
    first = run(*command(place, "-", state), input="".join(lines[:301]))
    assert first.exit_code == 0
    assert first.stdout.splitlines()[0] == "taken 0"
    assert first.stdout.splitlines()[-2] == "taken 300"
    second = run(*command(place, "-", state, "--json"), input=lines[0] + "".join(lines[301:]))
    assert second.exit_code == 1
    taken = [json.loads(line) for line in second.stdout.splitlines()]
    assert (taken[0]["taken"], taken[-1]["taken"]) == (300, 6000)
    ours = answer(*command(place, place / "moved.csv", tmp_path / "other"), code=1)
    assert taken[-1]["alarm"]["n_people"] == ours["alarm"]["n_people"]


def test_streams_that_cannot_be_used_are_refused_and_nothing_is_lost(place, tmp_path):
    state = tmp_path / "state"
    answer(*command(place, place / "later.csv", state))
    before = state.read_bytes()
    renamed = written(tmp_path / "renamed.csv", people(50).rename(columns={"sex": "gender"}))
    assert "'sex' is no column of" in refused(*command(place, renamed, state)).replace("--sensitive sex", "'sex'")
    other = written(tmp_path / "other.csv", people(50).assign(sex="F"))
    assert "has the group 'F', which the certificate does not know" in refused(*command(place, other, state))
    ragged = run(*command(place, "-", state), input="age,income\n1,2\n")
    assert (ragged.exit_code, "is no column of standard input" in ragged.stderr) == (2, True)
    header = (place / "later.csv").read_text().splitlines()[0]
    ragged = run(*command(place, "-", state), input=f"{header}\n1,2\n")
    assert "standard input has 2 fields in row 1, and 11 columns" in ragged.stderr
    assert state.read_bytes() == before
    other = replace(load_certificate(place / "certificate.json"), seed=7)
    other.with_digest().save(tmp_path / "other.json")
    line = "monitor", tmp_path / "other.json", place / "model.fairpca", place / "later.csv", "--state", state
    assert "is the state of another monitor" in refused(*line)
    state.write_bytes(before[:1000])
    assert "is no whole state of a monitor" in refused(*command(place, place / "later.csv", state))


def test_people_without_an_attribute_may_come(place, tmp_path):
    table = people(500, seed=5)
    table.loc[::4, "sex"] = None
    found = answer(*command(place, written(tmp_path / "later.csv", table), tmp_path / "state"))
    assert (found["n_people"], found["n_compared"]) == (500, 375)


@pytest.mark.thorough
def test_fifty_kills_change_nothing(place, tmp_path, monkeypatch):
    """The command is killed at random moments by SIGKILL; what it has written is then as without, bit by bit."""
    monkeypatch.setattr("fairpca.tables._file.BATCH_ROWS", 100)
    moved, whole = command(place, place / "moved.csv", tmp_path / "whole"), tmp_path / "whole"
    run(*moved)
    rng, kills = np.random.default_rng(0), 0
    for turn in range(50):
        state, done = tmp_path / f"state {turn}", False
        while not done:
            child = multiprocessing.get_context("fork").Process(
                target=run, args=command(place, place / "moved.csv", state)
            )
            child.start()
            time.sleep(rng.uniform(0, 0.25))
            os.kill(child.pid, signal.SIGKILL)
            child.join()
            done = child.exitcode != -signal.SIGKILL
            kills += not done
        assert state.read_text() == whole.read_text()
        if kills >= 50:
            break
    assert kills >= 50
    assert load_certificate(place / "certificate.json").digest == json.loads(whole.read_text())["certificate"]
