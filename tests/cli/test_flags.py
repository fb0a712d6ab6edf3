"""The token loop, row by row (spec 10 §2.2, §9)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_quality.cli import command as tables
from eval_quality.cli.command import Command, Flag, Invocation, Positional, UsageError
from eval_quality.cli.compile import COMMAND as COMPILE
from eval_quality.cli.flags import HelpRequested, parse
from eval_quality.cli.preflight import COMMAND as PREFLIGHT
from eval_quality.cli.score import COMMAND as SCORE
from eval_quality.cli.seal import COMMAND as SEAL

SCORED = ["--contract=c", "--probe=p", "--preflight-verdict=v", "--policy=y", "--corpus-digest=d"]


def nothing(_: Invocation) -> int:
    return 0


WORDS = Command(
    "words",
    "takes words",
    (Flag("--out", "", value="path", short="-o"), Flag("--verbose", "", repeatable=True, short="-v")),
    nothing,
    positionals=(Positional("first", "", choices=("a", "b")), Positional("rest", "", required=False, repeatable=True)),
)


def usage(command: Command, *tokens: str) -> str:
    with pytest.raises(UsageError) as caught:
        parse(command, list(tokens))
    return str(caught.value)


@pytest.mark.parametrize(
    ("tokens", "says"),
    [
        pytest.param(["--in"], ["--in requires a value"], id="s2_2_4-no-next-token"),
        pytest.param(["--in="], ["--in", "empty value"], id="s2_2_4-inline-empty"),
        pytest.param(["--in", ""], ["--in", "empty value"], id="s2_2_4-space-empty"),
        pytest.param(["--in", "--help"], ["--in requires a value", '"--help"', "--in=--help"], id="s9-help-as-value"),
        pytest.param(["--in", "-x"], ["--in requires a value", '"-x"', "--in=-x"], id="s2_2_4-dash-value"),
        pytest.param(
            ["--in", "a.json", "--in=b.json"],
            ["--in was given two different values", '"a.json"', '"b.json"'],
            id="s9-two-values",
        ),
        pytest.param(["--contract", "a.json"], ["unknown flag", "--contract", "compile"], id="s9-foreign-flag"),
        pytest.param(
            ["--strict-inputs=true"],
            ["unknown flag", "--strict-inputs", '"--strict-inputs=true"'],
            id="s9-switch-value",
        ),
        pytest.param(["--strict=1"], ["unknown flag", "--strict", '"--strict=1"'], id="s2_2_5-strict-value"),
        pytest.param(["a.json"], ["unknown flag", '"a.json"', "compile"], id="s9-stray-word"),
        pytest.param(["a=b"], ["unknown flag", '"a=b"', "compile"], id="s2_2_5-stray-assignment"),
        pytest.param(["-"], ["unknown flag", '"-"', "compile"], id="s2_2_7-lone-dash"),
        pytest.param([""], ["unknown flag", '""', "compile"], id="s2_2_7-empty-token"),
        pytest.param(["--", "a.json"], ["takes no positional argument", '"a.json"'], id="s9-after-the-end"),
        pytest.param(["--out", "x", "--", "--in"], ["takes no positional argument", '"--in"'], id="s2_2_1-flag-after"),
    ],
)
def test_s2_2_refuses(tokens: list[str], says: list[str]) -> None:
    message = usage(COMPILE, *tokens)
    assert [part for part in says if part not in message] == []


def test_s2_2_1_the_end_of_flags_alone_stops_the_loop() -> None:
    assert parse(COMPILE, ["--in", "c.json", "--"]).text("--in") == "c.json"


@pytest.mark.parametrize("tokens", [["--help"], ["-h"], ["--contract", "x", "-h"], ["-h", "--nonsense"]])
def test_s2_2_2_help_wins_whatever_is_missing(tokens: list[str]) -> None:
    with pytest.raises(HelpRequested):
        parse(SCORE, tokens)


def test_s2_2_2_an_error_before_help_ends_parsing() -> None:
    assert "unknown flag" in usage(COMPILE, "--nonsense", "--help")


@pytest.mark.parametrize(
    ("tokens", "value"),
    [
        (["--in", "-"], "-"),
        (["--in=-"], "-"),
        (["--in=-x"], "-x"),
        (["--in=a=b"], "a=b"),
        (["--in== "], "= "),
        (["--in=a.json", "--in", "a.json"], "a.json"),
    ],
)
def test_s2_2_4_values_are_carried_exactly(tokens: list[str], value: str) -> None:
    assert parse(COMPILE, tokens).text("--in") == value


def test_s2_2_4_a_repeatable_flag_appends() -> None:
    tokens = ["--record", "a", "--record=b", "--record", "a", *SCORED]
    assert parse(SCORE, tokens).texts("--record") == ["a", "b", "a"]


@pytest.mark.parametrize("second", ["O-001", "O-002"])
def test_s2_2_4_a_designated_oracle_is_named_once(second: str) -> None:
    tokens = ["--designated-oracle", "O-001", "--designated-oracle", second]
    assert usage(SCORE, *tokens) == "--designated-oracle was given twice"


@pytest.mark.parametrize("command", [COMPILE, SEAL])
def test_s2_2_6_the_last_strict_inputs_switch_wins(command: Command) -> None:
    strict = parse(command, ["--no-strict-inputs", "--strict-inputs"])
    lenient = parse(command, ["--strict-inputs", "--strict-inputs", "--no-strict-inputs"])
    assert (strict.has("--strict-inputs"), strict.has("--no-strict-inputs")) == (True, False)
    assert (lenient.has("--strict-inputs"), lenient.has("--no-strict-inputs")) == (False, True)


def test_s2_2_6_strict_may_be_repeated() -> None:
    assert parse(COMPILE, ["--strict", "--strict"]).has("--strict")


@pytest.mark.parametrize("command", [PREFLIGHT, SCORE])
def test_s2_1_strict_inputs_belongs_to_compile_and_seal(command: Command) -> None:
    assert "unknown flag" in usage(command, "--strict-inputs")


@pytest.mark.parametrize("blank", [" ", "\t\n", "\u00a0\ufeff", "\u2028\u3000", "\u1680\u200a"])
def test_after_1_a_blank_run_id_comes_before_missing_flags(blank: str) -> None:
    assert usage(PREFLIGHT, "--run-id", blank, "--contract", "c") == "--run-id must not be blank"


@pytest.mark.parametrize("kept", ["\u200b", "\u0085", "\x1c", "x "])
def test_after_1_only_what_ecmascript_trims_is_blank(kept: str) -> None:
    tokens = ["--contract=c", "--probes=p", "--observations=o"]
    assert parse(PREFLIGHT, [*tokens, f"--run-id={kept}"]).text("--run-id") == kept


@pytest.mark.parametrize(
    ("command", "tokens", "missing"),
    [
        (PREFLIGHT, ["--run-id", "r"], "--contract, --probes, --observations"),
        (PREFLIGHT, [], "--contract, --probes, --observations, --run-id"),
        (SCORE, [], "--record, --contract, --probe, --preflight-verdict, --policy, --corpus-digest"),
    ],
)
def test_after_2_all_missing_flags_are_named_in_order(command: Command, tokens: list[str], missing: str) -> None:
    assert usage(command, *tokens) == f"{command.name} requires {missing}"


@pytest.mark.parametrize(
    ("tokens", "phrase"),
    [
        (["--record", "-", "--record", "-"], '--record and --record are both "-"'),
        (["--contract", "-", "--record", "-"], '--record and --contract are both "-"'),
        (
            ["--policy", "-", "--record", "-", "--private-manifest", "-"],
            '--record, --policy and --private-manifest are all "-"',
        ),
    ],
)
def test_after_3_only_one_input_reads_standard_input(tokens: list[str], phrase: str) -> None:
    complete = [flag for flag in ["--record=r", *SCORED] if flag.split("=")[0] not in tokens]
    assert phrase in usage(SCORE, *tokens, *complete)


@pytest.mark.parametrize("value", ["O-01", "o-001", "O-001 ", "O-00١", "001"])
def test_after_4_a_malformed_designated_oracle_comes_last(value: str) -> None:
    message = usage(SCORE, "--record=r", *SCORED, f"--designated-oracle={value}")
    assert "--designated-oracle" in message
    assert f'"{value}"' in message
    assert "^O-[0-9]{3,}$" in message
    assert usage(SCORE, f"--designated-oracle={value}").startswith("score requires")


def test_a_near_miss_is_suggested() -> None:
    assert usage(COMPILE, "--strict-input").endswith("did you mean --strict-inputs?")
    assert usage(COMPILE, "--inn=x").endswith("did you mean --in?")


def test_words_of_a_command_that_takes_them() -> None:
    invocation = parse(WORDS, ["-v", "a", "--out", "x", "k=v", "-v", "--", "--out", "-"])
    assert invocation.positional("first") == "a"
    assert invocation.positionals("rest") == ["k=v", "--out", "-"]
    assert invocation.count("--verbose") == 2
    assert invocation.text("--out") == "x"
    assert parse(WORDS, ["-o", "x", "b"]).text("--out") == "x"


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([], "words requires <first>"),
        (["c"], '<first> "c" is none of a, b'),
        (["a", "--what"], 'unknown flag "--what" for words'),
        (["a", "--verbose=2"], 'unknown flag --verbose in "--verbose=2" for words; --verbose takes no value'),
    ],
)
def test_words_refused(tokens: list[str], message: str) -> None:
    assert usage(WORDS, *tokens) == message


def test_surplus_words_are_refused() -> None:
    command = WORDS._replace(positionals=(Positional("first", ""),))
    assert usage(command, "a", "b") == 'words takes no further argument, got "b"'


def test_choices_are_closed() -> None:
    command = COMPILE._replace(flags=(Flag("--kind", "", value="kind", choices=("x", "y")),))
    assert parse(command, ["--kind", "y"]).text("--kind") == "y"
    assert usage(command, "--kind", "z") == '--kind "z" is none of x, y'


def test_s4_5_inputs_come_single_valued_first_in_the_order_given() -> None:
    tokens = ["--policy=y", "--record", "r1", "--contract=c", "--record=r2", "--probe=p", "--preflight-verdict=v"]
    invocation = parse(SCORE, [*tokens, "--corpus-digest=d"])
    assert list(invocation.inputs()) == [
        ("--policy", "y"),
        ("--contract", "c"),
        ("--probe", "p"),
        ("--preflight-verdict", "v"),
        ("--record", "r1"),
        ("--record", "r2"),
    ]


def test_an_absent_flag_reads_as_nothing() -> None:
    invocation = parse(COMPILE, [])
    assert (invocation.text("--in"), invocation.texts("--in"), invocation.has("--in")) == (None, [], False)
    assert (invocation.positional("x"), invocation.positionals("x"), invocation.count("--strict")) == (None, [], 0)


def test_the_exit_table_is_that_of_s6() -> None:
    assert [code for code, _ in tables.PIPELINE_EXITS] == [0, 1, 2, 3, 4, 5, 64]


TOKENS = st.one_of(
    st.sampled_from(["--in", "--out", "--strict", "--help", "-h", "--", "-", "", "--record", "--run-id", "--in=", "="]),
    st.text(max_size=6),
)


@settings(max_examples=300, deadline=None)
@given(command=st.sampled_from([COMPILE, PREFLIGHT, SCORE, WORDS]), tokens=st.lists(TOKENS, max_size=8))
def test_any_tokens_parse_are_refused_or_ask_for_help(command: Command, tokens: list[str]) -> None:
    try:
        invocation = parse(command, tokens)
    except (UsageError, HelpRequested):
        return
    assert all(invocation.has(flag.name) for flag in command.flags if flag.required)
