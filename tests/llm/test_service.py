"""Users that a replica serves: formulas against a simulated server, goals, devices, and every output."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from llm.decoders import decoder, saved
from llm.published import CONFIGS

from py_autodoc.cli.app import app
from py_autodoc.errors import InputError
from py_autodoc.llm import PlanOptions, plan
from py_autodoc.llm.service import Goals, load_of, most_users
from py_autodoc.llm.serving import ServingGrid, packaged
from py_autodoc.render.llm_text import llm_lines, llm_markdown
from py_autodoc.report.pipeline.analysis import Options, run_analysis


@pytest.fixture(scope="module")
def llama(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("service") / "config.json"
    path.write_text(json.dumps({**CONFIGS["llama-3-8b"], "max_position_embeddings": 8192}))
    return str(path)


def simulated(users: int, answer: int, prompt_s: float, step_s, rounds: int = 60) -> tuple[float, float]:
    """Requests per second and seconds between a user's tokens: prompts first, else a step for all others."""
    now, finished, gaps = 0.0, 0, []
    waiting = list(range(users))
    left = {user: -(-answer * (user + 1) // users) for user in range(users)}  # they start at different places
    last: dict[int, float] = {}
    answering: set[int] = set()
    start = at = 0
    while finished < rounds * users:
        if waiting:
            user = waiting.pop(0)
            now += prompt_s
            answering.add(user)
            last[user] = now
            left[user] -= 1
        else:
            now += step_s(len(answering))
            for user in answering:
                gaps.append(now - last[user])
                last[user] = now
                left[user] -= 1
        for user in [user for user in answering if left[user] <= 0]:
            answering.remove(user)
            waiting.append(user)
            left[user] = answer
            finished += 1
        if not start and finished >= 10 * users:
            start, at, gaps = finished, now, []
    return (finished - start) / (now - at), sum(gaps) / len(gaps)


@pytest.mark.parametrize(("users", "answer"), [(1, 64), (4, 200), (16, 128), (50, 256), (50, 40)])
@pytest.mark.parametrize("prompt_s", [0.002, 0.05, 0.4])
def test_rates_are_those_of_a_simulated_server(users, answer, prompt_s):
    def step(count: int) -> float:
        return 0.02 + 0.0004 * count

    rate, gap = simulated(users, answer, prompt_s, step)
    load = load_of(users, prompt_s, step(users), 1, Goals(1, answer))
    assert load.requests_per_s == pytest.approx(rate, rel=0.08)
    assert 1 / load.tokens_per_s_per_user == pytest.approx(gap, rel=0.08)
    assert load.first_token_s <= load.first_token_worst_s


def test_the_numbers_of_a_point_are_those_of_its_columns(llama):
    """One user alone: the prompt, then a step for each further token."""
    options = PlanOptions(["h100-sxm"], [1, 16], [1024, 4096], output_tokens=200)
    for point in plan(llama, options).plans[0].points:
        middle = (
            plan(llama, replace(options, batch=[point.batch], context=[point.context + 100])).plans[0].points
        )
        seconds = point.prefill_ms + 199 * middle[0].decode_ms
        assert point.request_ms == pytest.approx(seconds)
        assert point.tokens_per_s_with_prompts == pytest.approx(point.batch * 200 / seconds * 1e3)
        assert point.tokens_per_s_with_prompts < point.tokens_per_s


def test_the_answer_is_the_last_that_meets_the_goals(llama):
    options = PlanOptions(["l40s"], [1], [1024], input_tokens=2048, output_tokens=256)
    free = plan(llama, options).plans[0].service
    assert free.limited_by == "memory"
    most = plan(llama, replace(options, context=[2304])).plans[0].largest_batch[0]
    assert free.users_per_replica == most.batch
    rated = plan(llama, replace(options, user_tokens_per_s=15)).plans[0].service
    assert (rated.limited_by, rated.load) == ("tokens_per_s", rated.users_per_replica)
    assert rated.users_per_replica < free.users_per_replica
    assert rated.users_per_replica_low < rated.users_per_replica < rated.users_per_replica_high
    assert 15 <= rated.tokens_per_s_per_user < 15 * 1.05
    more = plan(llama, replace(options, user_tokens_per_s=rated.tokens_per_s_per_user * 1.001))
    assert more.plans[0].service.users_per_replica == rated.users_per_replica - 1
    quick = plan(llama, replace(options, first_token_ms=250)).plans[0].service
    assert (quick.limited_by, quick.first_token_ms <= 250) == ("first_token", True)
    none = plan(llama, replace(options, first_token_ms=1)).plans[0].service
    assert (none.users_per_replica, none.limited_by, none.load, none.devices) == (
        0,
        "first_token",
        None,
        None,
    )
    assert "first token of a single user takes" in none.reason
    small = plan(llama, replace(options, hardware=["l4"], precision=["fp32"])).plans[0].service
    assert (small.users_per_replica, small.limited_by) == (0, "memory")


def test_rates_of_one_user_are_the_times_of_the_plan(llama):
    options = PlanOptions(["h100-sxm"], [1], [512], input_tokens=512, output_tokens=64, users=1)
    served, point = plan(llama, options).plans[0].service, plan(llama, options).plans[0].points[0]
    assert (served.load, served.devices) == (1, 1)
    assert served.request_ms == pytest.approx(point.request_ms)
    assert served.tokens_per_s == pytest.approx(point.tokens_per_s_with_prompts)


def test_devices_for_users(llama):
    options = PlanOptions(
        ["h100-sxm"], [1], [1024], (), [1, 2], [1, 2], price=2.0, users=1000, user_tokens_per_s=40
    )
    for one in plan(llama, options).plans:
        served = one.service
        assert served.replicas == -(-1000 // served.users_per_replica)
        assert served.devices == served.replicas * one.devices
        assert served.load == -(-1000 // served.replicas) <= served.users_per_replica
        assert served.users_per_device == served.users_per_replica / one.devices
        assert served.usd_per_hour == pytest.approx(2.0 * served.devices)
        a_token = served.usd_per_hour / 3600 / (served.tokens_per_s * served.replicas)
        assert served.usd_per_million_output_tokens == pytest.approx(a_token * 1e6)
        # Prompts take time, so a service needs more than its decode rate says.
        points = plan(
            llama,
            replace(options, batch=[served.load], context=[1152], tensor_parallel=[one.tensor_parallel],
                    pipeline_parallel=[one.pipeline_parallel]),
        )  # fmt: skip
        assert served.tokens_per_s < points.plans[0].points[0].tokens_per_s


def test_pipelines_work_on_several_prompts_at_once():
    goals = Goals(100, 50)
    one, four = load_of(64, 0.4, 0.05, 1, goals), load_of(64, 0.4, 0.05, 4, goals)
    assert four.prompt_s == pytest.approx(0.4 * 67 / 256)
    assert four.requests_per_s > 2 * one.requests_per_s
    assert load_of(1, 0.4, 0.05, 4, goals).prompt_s == pytest.approx(0.4)


def test_answers_of_one_token():
    load = load_of(3, 0.2, 0.05, 1, Goals(100, 1))
    assert load.requests_per_s == pytest.approx(5)
    assert load.tokens_per_s_per_user == pytest.approx(5 / 3)
    assert load.first_token_s == pytest.approx(0.2 + 0.025 + 0.4)
    assert most_users(lambda users: load_of(users, 0.2, 0.05, 1, Goals(1, 1, 0.5)), 99) == 2


def test_requests_fit_the_model(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**CONFIGS["gemma-2-2b"], "max_position_embeddings": 512}))
    found = plan(str(path), PlanOptions(["l4"]))
    assert (found.input_tokens, found.output_tokens) == (384, 128)
    assert not any("at most" in line for line in found.plans[0].warnings)
    found = plan(str(path), PlanOptions(["l4"], input_tokens=600))
    assert any("at most 512 tokens" in line for line in found.plans[0].warnings)


def test_every_output_has_it(tmp_path):
    path = saved(tmp_path)
    args = ["llm", path, "--hardware", "l4", "--precision", "fp16", "--batch", "2", "--context", "64"]
    args += ["--input-length", "1k", "--output-length", "32", "--first-token", "2s", "--users", "100000"]
    done = CliRunner().invoke(app, [*args, "--user-tokens-per-s", "5", "--out-json", "-"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    served = found["plans"][0]["service"]
    assert (found["input_tokens"], found["output_tokens"], served["users"]) == (1024, 32, 100_000)
    assert (served["first_token_goal_ms"], served["tokens_per_s_goal"]) == (2000, 5)
    plans = plan(path, PlanOptions(["l4"], [2], [64], ["fp16"], input_tokens=1024, output_tokens=32,
                                   first_token_ms=2000.0, user_tokens_per_s=5.0, users=100_000))  # fmt: skip
    assert plans.to_json() == done.stdout.strip()
    for text in ("\n".join(llm_lines(plans)), llm_markdown(plans)):
        assert f"{served['users_per_replica']:,}" in text
        assert f"{served['devices']:,} devices needed" in text
        assert "With prompts" in text
    for wrong in (["--users", "1,2"], ["--input-length", "x"], ["--first-token", "-1"], ["--users", "0"]):
        assert CliRunner().invoke(app, [*args, *wrong]).exit_code == 1
    with pytest.raises(InputError):
        plan(path, PlanOptions(["l4"], users=-1))


def test_the_grid_of_the_viewer_has_the_service_of_the_command():
    model = decoder().SerializeToString()
    found = ServingGrid(run_analysis(model, Options(assume=True))).on(packaged("h100-sxm", "fp16"))
    expected = plan(model, PlanOptions(["h100-sxm"], [1], [64], ["fp16"]))
    assert found.plans[0].service == expected.plans[0].service
    assert found.plans[0].service.users_per_replica > 1
