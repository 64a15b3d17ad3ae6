def test_formulas_are_for_every_point_of_a_large_file(monkeypatch):
    monkeypatch.setattr(module, "MANY_NODES", 10)
    found = Serving(run(GPT2, Options(assume=True))).on(packaged("l4")).plans[0]
    assert len(found.points) == len(BATCHES) * 3
    assert {one.prefill_method for one in found.points} == {"formula"}
