from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import forklift
from forklift.bench.passes import count_passes
from forklift.cli.bench import app
from forklift.decoding.constraint import TokenizerView
from forklift.decoding.grammar import COMPACT, SPACED
from forklift.errors import DecodeError
from forklift.prompt import Prompter
from forklift.quantize.samples import Sample, gold_answers
from forklift.schema import Schema

NANO = Path(forklift.__file__).parent / "nano"
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def prompter() -> Prompter:
    return Prompter.from_folder(NANO)


@pytest.mark.parametrize("name", ["invoice", "invoice_two_pages"])
def test_examples_take_a_pass_for_four_tokens_at_most(prompter: Prompter, name: str) -> None:
    sample = Sample(EXAMPLES / f"{name}.pdf", Schema.load("invoice"), (EXAMPLES / f"{name}.json").read_text())
    view = TokenizerView.cached(prompter.tokenizer.to_str(), (2, 0))
    [answer] = gold_answers([sample], prompter, SPACED, 2)
    assert answer is not None
    without, drafted = (count_passes(sample, answer, view, SPACED, drafts=drafts) for drafts in (False, True))
    assert drafted.answer_tokens == without.answer_tokens == len(answer)
    assert drafted.per_token < 0.25 < 0.7 < without.per_token
    with pytest.raises(DecodeError, match="does not let"):
        count_passes(sample, answer, view, COMPACT)


def test_the_command_counts_both_ways(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["passes", str(NANO), "--samples", "2", "--json", str(tmp_path / "counts.json")])
    assert result.exit_code == 0, result.output
    counts = json.loads((tmp_path / "counts.json").read_text())
    without, drafted = counts["forced_tokens_only"], counts["with_drafts"]
    assert without["documents"] == drafted["documents"] == 2
    assert drafted["passes"] < 0.5 * without["passes"]
    assert f"{drafted['passes']:,}" in result.stdout
